import { readFileSync } from "node:fs";
import { join } from "node:path";

const files = join(import.meta.dirname, "files");

/**
 * 66×50 pixels: red, green / blue, light grey; Display P3; EXIF with a subject distance of 0.65 m. Made of the JPEG that sharp wrote of it by
 * `heif-enc -q 95 -p chroma=444`.
 */
export const quadrants = (): Uint8Array => new Uint8Array(readFileSync(join(files, "quadrants.heic")));

/** 66×50 pixels, grey rising from 0 to 1 with x + y, in 10 bits: `heif-enc -q 95 -b 10` of a 16-bit PNG. */
export const ramp10 = (): Uint8Array => new Uint8Array(readFileSync(join(files, "ramp10.heic")));

/** The same file with one more property of its main image, after the others: `withProperty(heic, "irot", [1])`. */
export function withProperty(heic: Uint8Array, type: string, content: readonly number[]): Uint8Array {
  const view = new DataView(heic.buffer, heic.byteOffset, heic.length);
  const find = (name: string): number => Buffer.from(heic).indexOf(name, 0, "latin1") - 4;
  const sizeOf = (name: string): number => view.getUint32(find(name));
  const property = [0, 0, 0, 8 + content.length, ...Buffer.from(type, "latin1"), ...content];
  const ipco = [...heic.subarray(find("ipco") + 8, find("ipco") + sizeOf("ipco")), ...property];
  const index = countBoxes(Uint8Array.from(ipco));
  const ipma = [...heic.subarray(find("ipma") + 8, find("ipma") + 16)]; // version, flags, count
  for (let at = find("ipma") + 16; at < find("ipma") + sizeOf("ipma");) {
    const count = heic[at + 2] as number;
    const isMain = view.getUint16(at) === view.getUint16(find("pitm") + 12);
    ipma.push(...heic.subarray(at, at + 2), isMain ? count + 1 : count, ...heic.subarray(at + 3, at + 3 + count));
    if (isMain) ipma.push(0x80 | index);
    at += 3 + count;
  }
  const iprp = [...box("ipco", ipco), ...box("ipma", ipma)];
  const grown = 8 + iprp.length - sizeOf("iprp");
  const out = Uint8Array.from([...heic.subarray(0, find("iprp")), ...box("iprp", iprp), ...heic.subarray(find("iprp") + sizeOf("iprp"))]);
  const changed = new DataView(out.buffer);
  changed.setUint32(find("meta"), sizeOf("meta") + grown);
  moveItems(changed, { at: find("iloc"), by: grown });
  return out;
}

const box = (type: string, content: readonly number[]): number[] => {
  const size = 8 + content.length;
  return [size >> 24, (size >> 16) & 255, (size >> 8) & 255, size & 255, ...Buffer.from(type, "latin1"), ...content];
};

function countBoxes(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += new DataView(bytes.buffer).getUint32(at)) count++;
  return count;
}

/** Of an iloc as heif-enc writes it: version 1, base, offset and length of four bytes, one extent for each item. */
function moveItems(view: DataView, { at, by }: { at: number; by: number }): void {
  if (view.getUint8(at + 8) !== 1 || view.getUint16(at + 12) !== 0x4440) throw new Error("not an iloc of heif-enc");
  const count = view.getUint16(at + 14);
  for (let n = 0; n < count; n++) {
    const [method, base] = [at + 16 + 20 * n + 2, at + 16 + 20 * n + 6];
    if (view.getUint16(method) === 0) view.setUint32(base, view.getUint32(base) + by); // else it is inside the directory
  }
}
