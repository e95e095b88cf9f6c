import assert from "node:assert/strict";
import { test } from "node:test";

import { AXIS } from "../../../src/engine/dims.ts";
import type { Tensor } from "../../../src/engine/engine.ts";
import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../../../src/engine/torch/torchEngine.ts";
import { augmentFocusVolume, dfvDifferences } from "../../../src/model/focusVolume.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";

const plain = createTorchEngine({ threads: 2 });
const fused = createTorchEngine({ threads: 2, inference: { precision: "f32" } });

const random = createRandom(12);
const draw = (count: number): Float32Array => Float32Array.from({ length: count }, () => random.normal());
const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

function onBoth<T>(shape: readonly number[], body: (engine: TorchEngine, volume: TorchTensor) => T): [T, T] {
  const values = draw(count(shape));
  return [plain, fused].map((engine) => engine.noGradient(() => scope(() => body(engine, engine.constant(values, { shape }))))) as [T, T];
}

for (const shape of [
  [1, 8, 5, 4, 6],
  [2, 3, 2, 3, 5],
  [1, 1, 3, 1, 1],
])
  test(`the differences of [${shape.join(", ")}] land in a wider concatenation`, () => {
    for (const change of [augmentFocusVolume, dfvDifferences]) {
      const [want, got] = onBoth(shape, (engine, volume) => {
        const changed = change(volume) as TorchTensor;
        const coarser = volume.slice(AXIS.row, { end: 1 }).resize2d(shape.slice(3) as [number, number], "bilinear");
        const wide = engine.concat([coarser, changed, volume], AXIS.channel);
        return { values: engine.read(wide) as Float32Array, direct: changed.deferred !== undefined };
      });
      assertClose(got.values, want.values, 1e-6);
      assert.ok(got.direct && !want.direct, "written once, where it belongs");
    }
  });

test("differences that are looked at by themselves, or used otherwise, come out the same", () => {
  const upper = (v: Tensor): Tensor => v.slice(AXIS.plane, { start: 1 });
  const lower = (v: Tensor): Tensor => v.slice(AXIS.plane, { end: -1 });
  const follow: ((v: Tensor) => Tensor)[] = [
    augmentFocusVolume,
    dfvDifferences,
    (v) => augmentFocusVolume(augmentFocusVolume(v)),
    (v) => upper(v).sub(lower(v)),
    (v) => upper(v).sub(lower(v.mul(2))),
    (v) =>
      upper(v)
        .sub(upper(v))
        .add(v.slice(AXIS.plane, { start: 1, end: 4 }).sub(lower(v))),
    (v) => upper(v).sub(lower(v)).slice(AXIS.plane, { start: -1 }),
    (v) => upper(v).sub(lower(v)).slice(AXIS.plane, { start: -2 }),
    (v) => v.engine.concat([upper(v).sub(lower(v)), upper(v).sub(lower(v)).slice(AXIS.plane, { start: -1 })], AXIS.plane),
    (v) => v.engine.concat([upper(v).sub(lower(v)), upper(v)], AXIS.plane),
    (v) => v.engine.concat([upper(v).sub(lower(v)), v.mul(2).slice(AXIS.plane, { start: -1 })], AXIS.plane),
  ];
  for (const body of follow) {
    const [want, got] = onBoth([2, 3, 4, 3, 2], (engine, volume) => {
      const result = body(volume);
      return { values: engine.read(result) as Float32Array, shape: result.shape };
    });
    assert.deepEqual(got.shape, want.shape);
    assertClose(got.values, want.values, 1e-6);
  }
});

test("a concatenation that is part of another and looked at besides is right in both", () => {
  const [want, got] = onBoth([1, 2, 3, 4, 4], (engine, volume) => {
    const inner = engine.concat([volume, volume.mul(2)], AXIS.channel);
    return engine.read(
      engine
        .concat([volume, inner], AXIS.channel)
        .mul(3)
        .add(engine.concat([inner, volume], AXIS.channel)),
    );
  }) as [Float32Array, Float32Array];
  assertClose(got, want, 1e-6);
});

test("tensors that do not fit are not made to fit", () => {
  scope(() => {
    const [a, b] = [fused.full([1, 2, 2, 4, 4], 1), fused.full([1, 2, 2, 2, 2], 1)];
    assert.throws(() => fused.concat([a, b], AXIS.channel), /cat/);
  });
});

test("differences of half precision are those of f32, rounded once", () => {
  scope(() => {
    const volume = fused.constant(draw(2 * 8 * 3 * 6), { shape: [2, 8, 3, 2, 3] }).cast("f16");
    const [halves, exact] = (["f16", "f32"] as const).map((dtype) => {
      const target = fused.channelsLast(fused.full([2, 10, 3, 2, 3], 7, { dtype }));
      fused.native("planeDifference", target, 1, fused.channelsLast(volume.cast(dtype)), true, false);
      return target;
    }) as [TorchTensor, TorchTensor];
    assert.deepEqual(fused.read(halves.cast("f32")), fused.read(exact.cast("f16").cast("f32")));
    for (const channel of [0, 9])
      assert.ok((fused.read(exact.slice(1, { start: channel, end: channel + 1 })) as Float32Array).every((value) => value === 7));
  });
});

test("planeDifference refuses volumes it was not made for", () => {
  scope(() => {
    const make = (planes: number, channels: number): TorchTensor => fused.channelsLast(fused.full([1, channels, planes, 2, 2], 1));
    const difference = (to: TorchTensor, first: number, from: TorchTensor): void => {
      fused.native("planeDifference", to, first, from, false, false);
    };
    assert.throws(() => {
      difference(make(1, 2), 0, make(1, 2));
    }, /two planes or more/);
    assert.throws(() => {
      difference(make(3, 2), 0, make(2, 2));
    }, /expected the sizes of to/);
    assert.throws(() => {
      difference(make(2, 3), 2, make(2, 2));
    }, /the channels do not fit/);
  });
});
