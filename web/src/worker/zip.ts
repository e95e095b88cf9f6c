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

/** Bytes given to the decompressor at a time: it makes at most a thousand times as many of them before it can be stopped. */
const PIECE = 1 << 13;

export interface UnzipOptions {
  readonly wanted: (path: string) => boolean;
  readonly signal: AbortSignal;
}

/** The wanted files of an archive, one unpacked after the other by the browser. The others are not looked at. */
export async function unzip({ path, file }: UserFile, { wanted, signal }: UnzipOptions): Promise<UserFile[]> {
  const found: UserFile[] = [];
  for (const entry of await entriesOf(path, file)) {
    if (!wanted(entry.name)) continue;
    signal.throwIfAborted();
    found.push({ path: entry.name, file: await unpacked(path, { file, entry, signal }) });
  }
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

interface Packed {
  readonly file: File;
  readonly entry: Entry;
  readonly signal: AbortSignal;
}

async function unpacked(path: string, { file, entry, signal }: Packed): Promise<File> {
  const { name, flags, method, packed, size, at } = entry;
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
  const { parts, length } = await inflate(content, { most: size, signal }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new FormatError(`${path}: ${name} in it is damaged`, { cause });
  });
  if (length !== size) throw new FormatError(`${path}: ${name} in it is not of the size that the archive states, ${size} bytes`);
  return new File(parts, base);
}

interface Inflated {
  readonly parts: Uint8Array<ArrayBuffer>[];
  readonly length: number;
}

/** Stops as soon as there are more bytes than `most`: what an archive states about its files need not be true. */
async function inflate(content: Blob, { most, signal }: { readonly most: number; readonly signal: AbortSignal }): Promise<Inflated> {
  const stream = content.stream().pipeThrough(inPieces()).pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  try {
    for (let next = await reader.read(); !next.done && length <= most; next = await reader.read()) {
      signal.throwIfAborted();
      parts.push(next.value);
      length += next.value.length;
    }
  } finally {
    reader.cancel().catch(() => undefined); // a stream that has failed says so again
  }
  return { parts, length };
}

const inPieces = (): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> =>
  new TransformStream({
    transform: (chunk, controller) => {
      for (let at = 0; at < chunk.length; at += PIECE) controller.enqueue(chunk.subarray(at, at + PIECE));
    },
  });
