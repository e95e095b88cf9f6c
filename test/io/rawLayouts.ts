import type { Size } from "../../src/image/image.ts";

// Raw files that are not laid out as TIFF, without the sensor's data: LibRaw refuses them, and the JPEG inside stands in for it.

/** Fujifilm's RAF: a head with offsets, the JPEG, then records of which three state the size of the sensor. */
export function rafFile({ width, height }: Size, jpeg: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(160);
  head.write("FUJIFILMCCD-RAW 0201FF389501X-T100");
  const tags = [0x100, 0x111, 0x121];
  const records = Buffer.alloc(4 + 8 * tags.length);
  records.writeUInt32BE(tags.length, 0);
  for (const [n, tag] of tags.entries())
    for (const [i, value] of [tag, 4, height, width].entries()) records.writeUInt16BE(value, 4 + 8 * n + 2 * i);
  const places = [head.length, jpeg.length, head.length + jpeg.length, records.length];
  for (const [n, place] of places.entries()) head.writeUInt32BE(place, 84 + 4 * n);
  return new Uint8Array(Buffer.concat([head, jpeg, records]));
}

const box = (type: string, ...content: readonly Uint8Array[]): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.reduce((sum, { length }) => sum + length, 0), 0);
  head.write(type, 4);
  return Buffer.concat([head, ...content]);
};

/** Canon's CR3: a movie whose track states the size of the sensor, in `compressed` too if it differs there; the JPEG is in the data. */
export function cr3File(
  { width, height }: Size,
  jpeg: Uint8Array,
  { compressed = { width, height }, brands = "crx isom" }: { compressed?: Size; brands?: string } = {},
): Uint8Array<ArrayBuffer> {
  const entry = Buffer.alloc(82);
  entry.writeUInt16BE(width, 24);
  entry.writeUInt16BE(height, 26);
  const coding = Buffer.alloc(52);
  for (const [at, value] of [[0, 0xff0030], [4, 0x1000000], [8, compressed.width], [12, compressed.height]] as const) coding.writeUInt32BE(value, at); // prettier-ignore
  const description = box("stsd", Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), box("CRAW", entry, box("CMP1", coding)));
  const track = box("trak", box("mdia", box("minf", box("stbl", description))));
  const kind = box("ftyp", Buffer.from(brands.slice(0, 4)), Buffer.from([0, 0, 0, 1]), Buffer.from(brands));
  return new Uint8Array(Buffer.concat([kind, box("moov", track), box("mdat", jpeg)]));
}
