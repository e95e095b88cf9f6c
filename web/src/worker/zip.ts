import { FormatError } from "../../../src/io/formatError.ts";
import type { UserFile } from "./protocol.ts";

export const isZip = ({ path }: Pick<UserFile, "path">): boolean => /\.zip$/i.test(path);

interface Entry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  /** Bytes in the archive, and of the file itself. */
  readonly packed: number;
  readonly size: number;
  /** Where its own header begins. */
  readonly at: number;
}

const SIGNATURE = { end: 0x06054b50, entry: 0x02014b50, local: 0x04034b50 } as const;
const METHOD = { stored: 0, deflated: 8 } as const;
const ENCRYPTED = 1;
/** The end of the archive may be followed by a comment of this length. */
const MOST_COMMENT = 0xffff;
const END_BYTES = 22;
/** Photos hardly shrink in an archive; what grows more than this is not photos. */
const MOST_GROWTH = 200;

/** The files of an archive. Each is unpacked when it is asked for, by the browser; only the list is read here. */
export async function unzip({ path, file }: UserFile, wanted: (path: string) => boolean): Promise<UserFile[]> {
  const found: UserFile[] = [];
  for (const entry of await entriesOf(path, file))
    if (wanted(entry.name)) found.push({ path: entry.name, file: await unpacked(path, file, entry) });
  return found;
}

const broken = (path: string): FormatError => new FormatError(`${path}: not a readable ZIP archive, or not all of it`);

async function viewOf(part: Blob): Promise<DataView> {
  return new DataView(await part.arrayBuffer());
}

async function entriesOf(path: string, file: File): Promise<Entry[]> {
  const tail = await viewOf(file.slice(Math.max(0, file.size - END_BYTES - MOST_COMMENT)));
  let end = tail.byteLength - END_BYTES;
  while (end >= 0 && tail.getUint32(end, true) !== SIGNATURE.end) end -= 1;
  if (end < 0) throw broken(path);
  const [count, length, start] = [tail.getUint16(end + 10, true), tail.getUint32(end + 12, true), tail.getUint32(end + 16, true)];
  if (start === 0xffffffff || count === 0xffff) throw new FormatError(`${path}: archives of more than 4 GB are not read; unpack it first`);
  return entriesIn(path, await viewOf(file.slice(start, start + length)), count);
}

function entriesIn(path: string, list: DataView, count: number): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; entries.length < count;) {
    if (at + 46 > list.byteLength || list.getUint32(at, true) !== SIGNATURE.entry) throw broken(path);
    const [name, extra, comment] = [28, 30, 32].map((offset) => list.getUint16(at + offset, true)) as [number, number, number];
    if (at + 46 + name > list.byteLength) throw broken(path);
    entries.push({
      name: new TextDecoder().decode(new Uint8Array(list.buffer, at + 46, name)),
      flags: list.getUint16(at + 8, true),
      method: list.getUint16(at + 10, true),
      packed: list.getUint32(at + 20, true),
      size: list.getUint32(at + 24, true),
      at: list.getUint32(at + 42, true),
    });
    at += 46 + name + extra + comment;
  }
  return entries;
}

async function unpacked(path: string, file: File, { name, flags, method, packed, size, at }: Entry): Promise<File> {
  if (flags & ENCRYPTED) throw new FormatError(`${path}: ${name} is encrypted; unpack it first`);
  if (size > MOST_GROWTH * Math.max(packed, 1024)) throw new FormatError(`${path}: ${name} would grow to ${size} bytes; it is not a photo`);
  const head = await viewOf(file.slice(at, at + 30));
  if (head.byteLength < 30 || head.getUint32(0, true) !== SIGNATURE.local) throw broken(path);
  const from = at + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const content = file.slice(from, from + packed);
  const base = name.slice(name.lastIndexOf("/") + 1);
  if (content.size < packed) throw broken(path);
  if (method === METHOD.stored) return new File([content], base);
  if (method !== METHOD.deflated) throw new FormatError(`${path}: ${name} is compressed in a way browsers do not read; unpack it first`);
  try {
    const whole = await new Response(content.stream().pipeThrough(new DecompressionStream("deflate-raw"))).blob();
    if (whole.size !== size) throw broken(path);
    return new File([whole], base);
  } catch (cause) {
    throw new FormatError(`${path}: ${name} in it is damaged`, { cause });
  }
}
