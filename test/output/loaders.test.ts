import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { Mesh, MeshBasicMaterial, type BufferGeometry, type Object3D } from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { PLYLoader } from "three/examples/jsm/loaders/PLYLoader.js";
import { depthMap } from "../../src/image/depthMap.ts";
import { encodeOutputs, type OutputName } from "../../src/output/outputs.ts";
import type { DepthResult } from "../../src/output/result.ts";
import { createRandom } from "../../src/random.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { assertClose } from "../helpers/close.ts";

const [width, height] = [24, 16];
const pixels = width * height;
const random = createRandom(8);
const values = Float32Array.from({ length: pixels }, (_, i) => 1 + 0.004 * (i % width) + 0.0005 * random.uniform());
const valid = Uint8Array.from({ length: pixels }, (_, i) => (i === 40 || i === 200 ? 0 : 1));
const camera = { focalLength: 0.05, fNumber: 2, pixelPitch: 0.002 }; // 25 pixels
const bytes = Uint8Array.from({ length: 3 * pixels }, () => random.integer(256));
const result: DepthResult = {
  depth: depthMap({ width, height, values, valid, space: "depth" }),
  unit: "m",
  camera,
  allInFocus: { width, height, channels: 3, data: Float32Array.from(bytes, (byte) => byte / 255) },
  bits: 8,
  error: values.map((value) => value / 50),
};

async function encoded(name: OutputName): Promise<Uint8Array> {
  for await (const file of encodeOutputs(result, [name])) return file.bytes;
  throw new Error(`nothing was written as ${name}`);
}

/** Where the pinhole puts a pixel: x right, y up, z towards the viewer. */
function pointOf(pixel: number): [number, number, number] {
  const distance = values[pixel] as number;
  const [x, y] = [(pixel % width) + 0.5 - width / 2, Math.floor(pixel / width) + 0.5 - height / 2];
  return [(x * distance) / 25, (-y * distance) / 25, -distance];
}

const attribute = (geometry: BufferGeometry, name: string): number[] => Array.from(geometry.getAttribute(name).array);

test("three.js reads the point cloud: every known pixel, where the camera saw it, in the picture's colour", async () => {
  const geometry = new PLYLoader().parse((await encoded("ply")).slice().buffer);
  const known = Array.from(valid.keys()).filter((pixel) => valid[pixel]);
  assertClose(attribute(geometry, "position"), known.flatMap(pointOf), 1e-6);
  const linear = (byte: number): number => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
  const colours = known.flatMap((pixel) => [...bytes.subarray(3 * pixel, 3 * pixel + 3)]);
  assert.deepEqual(
    attribute(geometry, "color"),
    colours.map((byte) => Math.round(255 * linear(byte))),
  ); // it keeps colours in linear light
});

test("three.js reads the mesh: vertices, texture coordinates and picture belong together, two triangles a whole cell", async () => {
  const mesh = await loadMesh(await encoded("glb"));
  const { geometry } = mesh;
  const [position, uv] = [attribute(geometry, "position"), attribute(geometry, "uv")];
  assert.equal(position.length / 3, pixels - 2, "unknown pixels are no vertices");
  const expected = Array.from({ length: uv.length / 2 }, (_, vertex) => {
    const [column, row] = [(uv[2 * vertex] as number) * width - 0.5, (uv[2 * vertex + 1] as number) * height - 0.5];
    return pointOf(Math.round(row) * width + Math.round(column));
  });
  assertClose(position, expected.flat(), 1e-6);
  assert.equal((geometry.index?.count ?? 0) / 3, 2 * (width - 1) * (height - 1) - 12, "each unknown pixel inside takes six triangles away");
  assert.ok(mesh.material instanceof MeshBasicMaterial, "lit already: the picture is shown as it is");
  assert.ok(mesh.material.map, "the picture is its texture");
  assert.equal(mesh.material.map.flipY, false);
});

/** GLTFLoader asks a browser for pictures: here it gets their bytes, checked against the all-in-focus picture. */
async function loadMesh(glb: Uint8Array): Promise<Mesh> {
  const shown: Promise<Buffer>[] = [];
  const { self, createImageBitmap } = globalThis as Record<string, unknown>;
  Object.assign(globalThis, {
    self: globalThis,
    createImageBitmap: (blob: Blob) => {
      shown.push(blob.arrayBuffer().then((data) => sharp(Buffer.from(data)).raw().toBuffer()));
      return Promise.resolve({ width, height, close: () => undefined });
    },
  });
  try {
    const { scene } = await new GLTFLoader().parseAsync(glb.slice().buffer, "");
    const found: Object3D[] = [];
    scene.traverse((object) => found.push(object));
    assert.deepEqual((await Promise.all(shown)).map((data) => [...data]), [[...bytes]]); // prettier-ignore
    const mesh = found.find((object) => object instanceof Mesh);
    assert.ok(mesh, "there is a mesh");
    return mesh;
  } finally {
    Object.assign(globalThis, { self, createImageBitmap });
  }
}

test("libvips reads the float TIFFs and the 16-bit PNG to the last bit", async () => {
  const floats = async (name: "depth" | "error"): Promise<Float32Array> => {
    const { data, info } = await sharp(await encoded(name)).raw({ depth: "float" }).toBuffer({ resolveWithObject: true }); // prettier-ignore
    assert.deepEqual([info.width, info.height], [width, height]);
    return new Float32Array(data.buffer, data.byteOffset, pixels * info.channels).filter((_, i) => i % info.channels === 0);
  };
  const known = (map: Float32Array): Float32Array => map.map((value, i) => (valid[i] ? value : NaN));
  assert.deepEqual(await floats("depth"), known(values));
  assert.deepEqual(await floats("error"), known(result.error ?? new Float32Array()));
  const { data } = await sharp(await encoded("depth16")).toColourspace("grey16").raw({ depth: "ushort" }).toBuffer({ resolveWithObject: true }); // prettier-ignore
  const codes = new Uint16Array(data.buffer, data.byteOffset, pixels);
  assert.ok(codes.every((code, i) => (code === 0) === (valid[i] === 0)));
  const steps = codes.map((code, i) => (valid[i] ? Math.round(code - (values[i] as number) / 2e-5) : 0));
  assert.ok(
    steps.every((step) => step === 0),
    "the scale is 0.02 mm",
  );
});

/** What a program of the system says about a file; undefined where it is not installed. */
function told(program: string, args: readonly string[]): string | undefined {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: 20_000 });
  if (error) return undefined;
  assert.equal(status, 0, `${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}

const TOOLS = [
  { program: "tiffinfo", output: "depth", args: [], says: [/Image Width: 24 Image Length: 16/, /Bits\/Sample: 32/, /IEEE floating point/] },
  { program: "tiffinfo", output: "error", args: [], says: [/ImageDescription: dualfocus expected error of the depth; unit m/] },
  { program: "exrheader", output: "exr", args: [], says: [/Y, 32-bit floating-point/, /Z, 32-bit floating-point/, /\(0 0\) - \(23 15\)/] },
  {
    program: "identify",
    output: "depth16",
    args: ["-verbose"],
    says: [/Geometry: 24x16/, /Depth: 16-bit/, /scale: 0?\.?[\de.-]+/, /unit: m/],
  },
] as const;

for (const { program, output, args, says } of TOOLS)
  test(`${program} of the system reads what is saved as ${output}`, async (context) => {
    const file = join(temporaryFolder(), `${output}.${{ depth: "tif", error: "tif", exr: "exr", depth16: "png" }[output]}`);
    put(file, await encoded(output));
    const text = told(program, [...args, file]);
    if (text === undefined) context.skip(`${program} is not installed`);
    else for (const each of says) assert.match(text, each);
  });
