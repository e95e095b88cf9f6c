import assert from "node:assert/strict";

/** A PLY read by its header alone: a hand-written second opinion on our writer. */
export function readPly(bytes: Uint8Array): { comments: string[]; vertices: Record<string, number>[] } {
  const end = Buffer.from(bytes).indexOf("end_header\n") + "end_header\n".length;
  const lines = Buffer.from(bytes.subarray(0, end)).toString("latin1").trimEnd().split("\n");
  assert.deepEqual(lines.slice(0, 2), ["ply", "format binary_little_endian 1.0"]);
  const count = Number(/^element vertex (\d+)$/.exec(lines.find((line) => line.startsWith("element")) ?? "")?.[1]);
  const properties = lines.filter((line) => line.startsWith("property")).map((line) => line.split(" ").slice(1) as [string, string]);
  const view = new DataView(bytes.buffer, bytes.byteOffset + end);
  let at = 0;
  const vertices = Array.from({ length: count }, () =>
    Object.fromEntries(
      properties.map(([type, name]) => {
        const value = type === "float" ? view.getFloat32(at, true) : view.getUint8(at);
        at += type === "float" ? 4 : 1;
        return [name, value];
      }),
    ),
  );
  assert.equal(at, view.byteLength, "nothing is left over");
  return { comments: lines.filter((line) => line.startsWith("comment")).map((line) => line.slice(8)), vertices };
}

interface Accessor {
  readonly bufferView: number;
  readonly componentType: number;
  readonly count: number;
  readonly type: string;
  readonly min?: number[];
  readonly max?: number[];
}

export interface Glb {
  readonly json: {
    readonly accessors: readonly Accessor[];
    readonly bufferViews: readonly { byteOffset: number; byteLength: number }[];
    readonly images: readonly { bufferView: number; mimeType: string }[];
    readonly buffers: readonly { byteLength: number }[];
    readonly scenes: readonly { extras: Record<string, unknown> }[];
    readonly materials: readonly { extensions: object; pbrMetallicRoughness: { baseColorTexture: { index: number } } }[];
  };
  readonly positions: Float32Array;
  readonly textureCoordinates: Float32Array;
  readonly indices: Uint32Array;
  readonly image: Uint8Array;
}

/** A GLB read by the glTF 2.0 specification, checking what it demands: magic, lengths, alignment, bounds, indices in range. */
export function readGlb(bytes: Uint8Array): Glb {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  assert.deepEqual([view.getUint32(0, true), view.getUint32(4, true), view.getUint32(8, true)], [0x46546c67, 2, bytes.length]);
  const jsonLength = view.getUint32(12, true);
  assert.deepEqual([view.getUint32(16, true), jsonLength % 4], [0x4e4f534a, 0]);
  const json = JSON.parse(Buffer.from(bytes.subarray(20, 20 + jsonLength)).toString("utf8")) as Glb["json"];
  const start = 20 + jsonLength + 8;
  assert.deepEqual([view.getUint32(start - 8, true), view.getUint32(start - 4, true)], [bytes.length - start, 0x004e4942]);
  assert.equal(json.buffers[0]?.byteLength, bytes.length - start);
  const bytesOf = (index: number): Uint8Array => {
    const { byteOffset, byteLength } = json.bufferViews[index] ?? { byteOffset: NaN, byteLength: NaN };
    assert.ok(byteOffset % 4 === 0 && byteOffset + byteLength <= bytes.length - start);
    return bytes.slice(start + byteOffset, start + byteOffset + byteLength);
  };
  const values = (index: number): ArrayBuffer => {
    const { bufferView, count, type } = json.accessors[index] as Accessor;
    const data = bytesOf(bufferView);
    assert.equal(data.length, count * 4 * ({ SCALAR: 1, VEC2: 2, VEC3: 3 }[type] ?? NaN));
    return data.buffer as ArrayBuffer;
  };
  const positions = new Float32Array(values(0));
  const indices = new Uint32Array(values(2));
  for (const axis of [0, 1, 2]) {
    const along = positions.filter((_, i) => i % 3 === axis);
    assert.deepEqual([json.accessors[0]?.min?.[axis], json.accessors[0]?.max?.[axis]], [Math.min(...along), Math.max(...along)]);
  }
  assert.ok(indices.every((index) => index < positions.length / 3));
  return { json, positions, indices, textureCoordinates: new Float32Array(values(1)), image: bytesOf(json.images[0]?.bufferView ?? -1) };
}
