/** A textured surface. glTF axes: x right, y up, z towards the viewer; texture coordinates from the top left. */
export interface TexturedMesh {
  readonly positions: Float32Array;
  /** Two values for each vertex. */
  readonly textureCoordinates: Float32Array;
  /** Three vertices for each triangle, anticlockwise seen from the front. */
  readonly indices: Uint32Array;
  readonly texture: { readonly bytes: Uint8Array; readonly mimeType: "image/png" | "image/jpeg" };
}

const FLOAT = 5126;
const UINT = 5125;
const VERTICES = 34962;
const INDICES = 34963;
const MAGIC = 0x46546c67; // "glTF"
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;

const align4 = (length: number): number => Math.ceil(length / 4) * 4;

/**
 * Writes glTF 2.0 as one binary file, texture included. The material is unlit: a photograph already contains its light.
 * `extras` is stored with the scene, for what glTF has no field for.
 */
export function encodeGlb(mesh: TexturedMesh, { extras = {} }: { extras?: Record<string, unknown> } = {}): Uint8Array {
  const { positions, textureCoordinates, indices, texture } = mesh;
  const vertices = positions.length / 3;
  if (indices.length === 0 || vertices === 0) throw new RangeError("encodeGlb: a mesh needs at least one triangle");
  if (textureCoordinates.length !== vertices * 2 || indices.length % 3 !== 0)
    throw new RangeError(
      `encodeGlb: ${positions.length} coordinates, ${textureCoordinates.length} texture coordinates, ${indices.length} indices`,
    );
  const parts = [positions, textureCoordinates, indices, texture.bytes].map(
    (part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength),
  );
  const offsets = parts.map((_, i) => parts.slice(0, i).reduce((sum, part) => sum + align4(part.length), 0));
  const total = (offsets.at(-1) ?? 0) + align4(texture.bytes.length);
  const targets = [VERTICES, VERTICES, INDICES, undefined];
  const document = {
    asset: { version: "2.0", generator: "dualfocus" },
    extensionsUsed: ["KHR_materials_unlit"],
    scene: 0,
    scenes: [{ nodes: [0], extras }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0, TEXCOORD_0: 1 }, indices: 2, material: 0, mode: 4 }] }],
    materials: [
      {
        doubleSided: true,
        pbrMetallicRoughness: { baseColorTexture: { index: 0 }, metallicFactor: 0, roughnessFactor: 1 },
        extensions: { KHR_materials_unlit: {} },
      },
    ],
    textures: [{ source: 0, sampler: 0 }],
    samplers: [{ magFilter: 9729, minFilter: 9987, wrapS: 33071, wrapT: 33071 }], // linear, mipmapped, clamped
    images: [{ bufferView: 3, mimeType: texture.mimeType }],
    accessors: [
      { bufferView: 0, componentType: FLOAT, count: vertices, type: "VEC3", ...bounds(positions) },
      { bufferView: 1, componentType: FLOAT, count: vertices, type: "VEC2" },
      { bufferView: 2, componentType: UINT, count: indices.length, type: "SCALAR" },
    ],
    bufferViews: parts.map((part, i) => ({
      buffer: 0,
      byteOffset: offsets[i],
      byteLength: part.length,
      ...(targets[i] === undefined ? {} : { target: targets[i] }),
    })),
    buffers: [{ byteLength: total }],
  };
  return assemble(document, { parts, offsets, total });
}

/** Header, JSON chunk padded with spaces, binary chunk padded with zeros. */
function assemble(
  document: object,
  { parts, offsets, total }: { parts: readonly Uint8Array[]; offsets: readonly number[]; total: number },
): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(document));
  const jsonLength = align4(json.length);
  const bytes = new Uint8Array(12 + 8 + jsonLength + 8 + total);
  const view = new DataView(bytes.buffer);
  for (const [i, word] of [MAGIC, 2, bytes.length, jsonLength, JSON_CHUNK].entries()) view.setUint32(4 * i, word, true);
  bytes.fill(0x20, 20, 20 + jsonLength);
  bytes.set(json, 20);
  const binary = 20 + jsonLength;
  view.setUint32(binary, total, true);
  view.setUint32(binary + 4, BINARY_CHUNK, true);
  for (const [i, part] of parts.entries()) bytes.set(part, binary + 8 + (offsets[i] as number));
  return bytes;
}

function bounds(positions: Float32Array): { min: number[]; max: number[] } {
  const [min, max] = [
    [Infinity, Infinity, Infinity],
    [-Infinity, -Infinity, -Infinity],
  ];
  for (let i = 0; i < positions.length; i++) {
    const value = positions[i] as number;
    min[i % 3] = Math.min(min[i % 3] as number, value);
    max[i % 3] = Math.max(max[i % 3] as number, value);
  }
  return { min, max };
}
