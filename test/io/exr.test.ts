import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeExr, encodeExr, exrChannel } from "../../src/io/exr.ts";
import { assertClose } from "../helpers/close.ts";
import { assertSurvivesGarbage } from "./garbage.ts";

/** An uncompressed scan-line EXR written byte by byte from the specification, channel R as half floats. */
function halfExr({ width, bits }: { width: number; bits: readonly number[] }): Uint8Array {
  const out: number[] = [];
  const u32 = (...values: number[]): void => {
    values.forEach((v) => out.push(v & 255, (v >> 8) & 255, (v >> 16) & 255, (v >>> 24) & 255));
  };
  const text = (value: string): void => void out.push(...new TextEncoder().encode(value), 0);
  const attribute = (name: string, type: string, size: number, body: () => void): void => {
    text(name);
    text(type);
    u32(size);
    body();
  };
  const height = bits.length / width;
  const one = 0x3f800000;
  const box = (): void => {
    u32(0, 0, width - 1, height - 1);
  };
  u32(20000630, 2);
  attribute("channels", "chlist", 19, () => (text("R"), u32(1, 0, 1, 1), out.push(0)));
  attribute("compression", "compression", 1, () => out.push(0));
  attribute("dataWindow", "box2i", 16, box);
  attribute("displayWindow", "box2i", 16, box);
  attribute("lineOrder", "lineOrder", 1, () => out.push(0));
  attribute("pixelAspectRatio", "float", 4, () => {
    u32(one);
  });
  attribute("screenWindowCenter", "v2f", 8, () => {
    u32(0, 0);
  });
  attribute("screenWindowWidth", "float", 4, () => {
    u32(one);
  });
  out.push(0);
  const lines = out.length + 8 * height;
  for (let y = 0; y < height; y++) u32(lines + y * (8 + 2 * width), 0);
  for (let y = 0; y < height; y++) {
    u32(y, 2 * width);
    for (let x = 0; x < width; x++) out.push((bits[y * width + x] as number) & 255, (bits[y * width + x] as number) >> 8);
  }
  return Uint8Array.from(out);
}

test("half floats of a hand-written file come out as their values", async () => {
  const exr = await decodeExr(halfExr({ width: 2, bits: [0x3c00, 0x2e66, 0x0000, 0x4200] }));
  assert.deepEqual([exr.width, exr.height], [2, 2]);
  assertClose(exrChannel(exr, "R"), [1, 0.0999755859375, 0, 3], 1e-7);
});

test("channels keep their names and values through writing and reading", async () => {
  const values = (scale: number): Float32Array => Float32Array.from({ length: 15 }, (_, i) => i * scale);
  const channels = { R: values(0.25), G: values(-1), Z: values(1 / 3) };
  const exr = await decodeExr(await encodeExr({ width: 5, height: 3, channels }));
  for (const name of ["R", "G", "Z"] as const) assert.deepEqual(exrChannel(exr, name), channels[name]);
  const half = await decodeExr(await encodeExr({ width: 5, height: 3, channels }, { precision: "f16" }));
  assertClose(exrChannel(half, "Z"), channels.Z, 1e-3);
});

test("a missing channel is named together with those present", async () => {
  const exr = await decodeExr(await encodeExr({ width: 1, height: 1, channels: { Z: Float32Array.of(2) } }));
  assert.throws(() => exrChannel(exr, "R", "000001Dpt.exr"), /000001Dpt\.exr: there is no channel R; the file has Z/);
});

test("garbage is refused, never a crash", async () => {
  const good = await encodeExr({ width: 6, height: 4, channels: { R: new Float32Array(24).fill(0.5) } });
  await assertSurvivesGarbage(decodeExr, good);
  assert.deepEqual(exrChannel(await decodeExr(good), "R"), new Float32Array(24).fill(0.5));
});
