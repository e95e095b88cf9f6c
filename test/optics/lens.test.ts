import assert from "node:assert/strict";
import { test } from "node:test";
import { lensTextures, renderLens, renderLensInto } from "../../src/optics/render/node/lens.ts";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { renderDepth, renderJob, renderPlane } from "../../src/optics/render/kernel.ts";
import { createRandom } from "../../src/random.ts";
import { packRandomScenes } from "../../src/optics/scene/random.ts";
import type { Theme } from "../../src/optics/scene/themes.ts";
import { THEMES } from "../../src/optics/scene/themes.ts";
import { generateTextures } from "../../src/optics/texture/texture.ts";

const engine = createTorchEngine({ threads: 2 }); // throws, and says how to build it, where the addon is missing
const set = generateTextures({ count: 24 });
const textures = lensTextures(engine, set);
const indices = Array.from({ length: set.count }, (_, i) => i);
const [width, height, planes, samples] = [52, 41, 2, 12];
const scenesOf = (theme: Theme | undefined, count: number, { lightField = 0 } = {}) =>
  packRandomScenes(createRandom(4), {
    count,
    planes,
    width,
    height,
    textures: indices,
    imperfect: 0.6,
    lightField,
    ...(theme && { theme }),
  });

test("the native kernel and the plain one give the same depth and, ray by ray, the same pictures", () => {
  const lightFields = scenesOf("clutter", 3, { lightField: 1 });
  assert.ok((lightFields.cameras[7] as number) <= -5, "a light field has views in place of blades");
  const kinds = (Object.keys(THEMES) as Theme[]).map((theme) => [theme, scenesOf(theme, 3)] as const);
  for (const [theme, packed] of [...kinds, ["light fields", lightFields] as const]) {
    const { images, allInFocus, depth } = renderLens(engine, packed, { textures, samples });
    const [pictures, sharp, depths] = [images, allInFocus, depth].map((tensor) => engine.read(tensor) as Float32Array) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    const size = 3 * width * height;
    for (let scene = 0; scene < packed.count; scene++) {
      const job = renderJob(packed, scene, { textures: set, samples });
      const expectedDepth = new Float32Array(width * height);
      renderDepth(job, expectedDepth);
      let far = 0;
      expectedDepth.forEach((value, i) => {
        if (Math.abs(value - (depths[scene * width * height + i] as number)) > 1e-4 * value) far++;
      });
      assert.ok(far <= 2, `${theme}: ${far} depths differ by more than 1e-4`); // a ray within rounding of an edge may fall either side
      for (let n = 0; n <= planes; n++) {
        const expected = new Float32Array(size);
        renderPlane(job, n, expected);
        const actual = n < planes ? pictures.subarray((scene * planes + n) * size) : sharp.subarray(scene * size);
        const mean = expected.reduce((sum, value, i) => sum + Math.abs(value - (actual[i] as number)), 0) / size;
        assert.ok(mean < 2e-4, `${theme}, scene ${scene}, plane ${n}: mean difference ${mean}`);
      }
    }
    for (const tensor of [images, allInFocus, depth]) tensor.dispose();
  }
});

test("bytes are the floats rounded, and a slice of a larger pool can be the target", () => {
  const packed = scenesOf(undefined, 2);
  scope(() => {
    const floats = renderLens(engine, packed, { textures, samples });
    const pool = engine.full([5, planes, 3, height, width], 7, { dtype: "u8" });
    const depths = engine.full([5, height, width], -1);
    const part = { start: 1, end: 3 };
    renderLensInto(engine, packed, { textures, samples, targets: { images: pool.slice(0, part), depth: depths.slice(0, part) } });
    const expected = (engine.read(floats.images) as Float32Array).map((value) => Math.floor(value * 255 + 0.5));
    const size = expected.length;
    const bytes = engine.read(pool) as Uint8Array;
    assert.ok(bytes.subarray(0, size / 2).every((value) => value === 7) && bytes.subarray(1.5 * size).every((value) => value === 7));
    bytes.subarray(size / 2, 1.5 * size).forEach((value, i) => {
      assert.ok(Math.abs(value - (expected[i] as number)) <= 1);
    });
    assert.deepEqual((engine.read(depths) as Float32Array).subarray(width * height, 3 * width * height), engine.read(floats.depth));
  });
});

test("wrong textures, targets and sample counts are refused by name", () => {
  const packed = scenesOf(undefined, 1);
  const targets = (): { images: ReturnType<typeof engine.full>; depth: ReturnType<typeof engine.full> } => ({
    images: engine.full([1, planes, 3, height, width], 0),
    depth: engine.full([1, height, width], 0),
  });
  scope(() => {
    const few = engine.full([1, 4, 4, 4], 0, { dtype: "u8" });
    assert.throws(() => renderLens(engine, packed, { textures: few, samples }), /uses texture \d+, but there are 1/);
    assert.throws(() => renderLens(engine, packed, { textures, samples: 0 }), /samples must be 1 to 65536/);
    const small = { ...targets(), images: engine.full([1, planes, 3, height, width - 1], 0) };
    assert.throws(() => {
      renderLensInto(engine, packed, { textures, samples, targets: small });
    }, /expected images \[1, 2, 3, 41, 52\], got \[1, 2, 3, 41, 51\]/);
    const wrong = { ...targets(), depth: engine.full([1, height, width], 0, { dtype: "f64" }) };
    assert.throws(() => {
      renderLensInto(engine, packed, { textures, samples, targets: wrong });
    }, /depth must be f32 \[B, H, W\]/);
  });
});
