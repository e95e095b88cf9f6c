/** Kinds of arrays that results are made of. */
const ARRAYS = { Float32Array, Float64Array, Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array } as const;
type ArrayName = keyof typeof ARRAYS;

interface PackedArray {
  readonly array: ArrayName;
  readonly bytes: Blob;
}

/**
 * Plain data in which every array of numbers is a blob: the browser writes blobs to disk beside the page, without a copy on its main
 * thread.
 */
export function packed(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) {
    const array = value.constructor.name as ArrayName;
    return { array, bytes: new Blob([value as ArrayBufferView<ArrayBuffer>]) } satisfies PackedArray;
  }
  if (Array.isArray(value)) return value.map(packed);
  if (isPlain(value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, packed(each)]));
  return value;
}

/** The data that `packed` was given. */
export async function unpacked(value: unknown): Promise<unknown> {
  if (isPackedArray(value)) return new ARRAYS[value.array](await value.bytes.arrayBuffer());
  if (Array.isArray(value)) return Promise.all(value.map(unpacked));
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(async ([name, each]) => [name, await unpacked(each)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const isPackedArray = (value: unknown): value is PackedArray =>
  isPlain(value) && typeof value["array"] === "string" && value["array"] in ARRAYS && value["bytes"] instanceof Blob;
