import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tensor } from "../../../src/engine/engine.ts";
import { scope } from "../../../src/engine/scope.ts";
import type { TorchTensor } from "../../../src/engine/torch/torchEngine.ts";
import { createTorchEngine, type TorchEngine } from "../../../src/engine/torch/torchEngine.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";

const plain = createTorchEngine({ threads: 2 });
const fused = createTorchEngine({ threads: 2, inference: { precision: "f32" } });

const random = createRandom(8);
const drawBytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => Math.floor(256 * random.uniform()));
const WEIGHT = Float32Array.from({ length: 8 * 3 * 49 }, () => random.normal());

interface Operands {
  readonly bytes: Tensor;
  readonly scale: Tensor;
  readonly shift: Tensor;
  readonly weight: Tensor;
}

const operands = (engine: TorchEngine, data: Uint8Array, shape: readonly number[]): Operands => ({
  bytes: engine.constant(data, { shape, dtype: "u8" }),
  scale: engine.constant([4, 5, 6], { shape: [3, 1, 1] }),
  shift: engine.constant([-2, -1, 3], { shape: [3, 1, 1] }),
  weight: engine.constant(WEIGHT, { shape: [8, 3, 7, 7] }),
});

const normalise = ({ bytes, scale, shift }: Operands): Tensor => {
  const [B = 0, N = 0, ...picture] = bytes.shape as readonly number[];
  return bytes
    .mul(1 / 255)
    .reshape([B * N, ...picture])
    .mul(scale)
    .add(shift);
};

const stem = (pictures: Tensor, weight: Tensor): Tensor => pictures.conv2d(weight, { stride: 2, padding: 3 }).relu();

for (const [B, N, H, W] of [
  [1, 1, 2, 2],
  [2, 3, 10, 14],
  [1, 2, 9, 13],
] as const)
  test(`${B}×${N} pictures of ${H}×${W} bytes are normalised on their way into a convolution`, () => {
    const data = drawBytes(B * N * 3 * H * W);
    const results = [plain, fused].map((engine) =>
      engine.noGradient(() =>
        scope(() => {
          const given = operands(engine, data, [B, N, 3, H, W]);
          const pictures = normalise(given) as TorchTensor;
          const values = engine.read(stem(pictures, given.weight)) as Float32Array;
          return { values, shortcut: pictures.deferred !== undefined };
        }),
      ),
    ) as [Result, Result];
    assertClose(results[1].values, results[0].values, 1e-4);
    assert.equal(results[1].shortcut, H % 2 === 0, "only pictures of even sides have 2×2 blocks");
  });

interface Result {
  readonly values: Float32Array;
  readonly shortcut: boolean;
}

test("bytes that something else looks at are what one operation after the other gives", () => {
  const shape = [2, 1, 3, 4, 5];
  const data = drawBytes(2 * 3 * 4 * 5);
  const follow: ((given: Operands) => Tensor)[] = [
    ({ bytes }) => bytes.mul(2),
    ({ bytes, scale }) => bytes.mul(2).mul(scale).mul(scale),
    ({ bytes, scale, shift }) => bytes.mul(2).add(shift).mul(scale).reshape([6, 20]),
    ({ bytes, shift }) =>
      bytes
        .mul(0.5)
        .reshape([2, -1])
        .sub(1)
        .add(shift.reshape([3, 1]).sum()),
    ({ bytes, shift }) => bytes.mul(0.5).add(3).add(shift),
    (given) => normalise(given).add(normalise(given)),
  ];
  for (const body of follow) {
    const [want, got] = [plain, fused].map((engine) =>
      engine.noGradient(() => scope(() => engine.read(body(operands(engine, data, shape))))),
    ) as [Float32Array, Float32Array];
    assertClose(got, want, 1e-5);
  }
});

test("blocks in half precision are the rounded blocks of f32, zeros around them", () => {
  scope(() => {
    const bytes = fused.constant(drawBytes(2 * 3 * 6 * 4), { shape: [2, 3, 6, 4], dtype: "u8" });
    const { scale, shift } = operands(fused, new Uint8Array(3), [1, 1, 3, 1, 1]);
    const gather = (dtype: "f32" | "f16" | "bf16"): TorchTensor => {
      const target = fused.channelsLast(fused.full([2, 16, 6, 5], 7, { dtype }));
      fused.native("gatherBlocks", target, bytes, 2, 1 / 255, scale, shift);
      return target;
    };
    const exact = gather("f32");
    const border = [exact.slice(2, { end: 2 }), exact.slice(2, { start: 5 }), exact.slice(3, { start: 4 }), exact.slice(1, { start: 12 })];
    for (const part of border) assert.ok((fused.read(part) as Float32Array).every((value) => value === 0));
    const [first] = fused.read(bytes) as Uint8Array;
    assertClose(fused.read(exact).slice(2 * 5 + 2, 2 * 5 + 3) as Float32Array, [4 * ((first as number) / 255) - 2], 1e-6);
    for (const dtype of ["f16", "bf16"] as const)
      assert.deepEqual(fused.read(gather(dtype).cast("f32")), fused.read(exact.cast(dtype).cast("f32")));
  });
});

test("what cannot be bytes' scale or shift is refused", () => {
  scope(() => {
    const target = fused.channelsLast(fused.full([1, 16, 4, 4], 0));
    const bytes = fused.constant(new Uint8Array(12), { shape: [1, 3, 2, 2], dtype: "u8" });
    const gather = (from: Tensor, scale: Tensor | null): void => {
      fused.native("gatherBlocks", target, from, 1, 1, scale, null);
    };
    assert.throws(() => {
      gather(bytes, fused.full([2], 1));
    }, /scale: expected a value for each channel/);
    assert.throws(() => {
      gather(bytes.cast("i32"), null);
    }, /from: expected bytes or f32/);
  });
});
