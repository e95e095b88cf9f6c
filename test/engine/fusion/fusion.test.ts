import assert from "node:assert/strict";
import { test } from "node:test";

import type { BatchNormOptions, Tensor } from "../../../src/engine/engine.ts";
import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../../../src/engine/torch/torchEngine.ts";
import type { Weights } from "../../../src/io/safetensors.ts";
import { dfv, fine, small, type NetworkConfig } from "../../../src/model/config.ts";
import { createNetwork } from "../../../src/model/network.ts";
import { createParameters } from "../../../src/nn/module.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";
import { randomImages, randomWeights } from "../../helpers/network.ts";

const plain = createTorchEngine({ threads: 2 });
const fused = createTorchEngine({ threads: 2, inference: { precision: "f32" } });

const random = createRandom(5);
const draw = (count: number): Float32Array => Float32Array.from({ length: count }, () => random.normal());
const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** The same computation on the same numbers by both engines. */
function onBoth(
  shapes: readonly (readonly number[])[],
  body: (...operands: Tensor[]) => Tensor,
): { got: Float32Array; want: Float32Array } {
  const values = shapes.map((shape) => draw(count(shape)));
  const run = (engine: TorchEngine): Float32Array =>
    engine.noGradient(() =>
      scope(() => engine.read(body(...values.map((data, i) => engine.constant(data, { shape: shapes[i] as number[] })))) as Float32Array),
    );
  return { got: run(fused), want: run(plain) };
}

const norm = (weight: Tensor, bias: Tensor) => ({
  weight,
  bias,
  runningMean: bias.mul(0.3),
  runningVariance: weight.square().add(0.5),
  training: false,
  momentum: 0.1,
  epsilon: 1e-5,
});

test("a convolution, its norm, a sum and an activation become one result, equal to theirs one by one", () => {
  const shapes = [[2, 3, 4, 6, 5], [7, 3, 3, 3, 3], [7], [7], [2, 7, 4, 6, 5]] as const;
  for (const finish of [(t: Tensor) => t, (t: Tensor) => t.relu(), (t: Tensor) => t.leakyRelu(0.1)]) {
    const { got, want } = onBoth(shapes, (x, w, gain, shift, skip) =>
      finish(x.conv3d(w, { padding: 1 }).batchNorm(norm(gain, shift)).add(skip)),
    );
    assertClose(got, want, 1e-5);
  }
});

test("two convolutions that are added share one bias", () => {
  const shapes = [[1, 4, 6, 6], [5, 4, 3, 3], [5], [5, 4, 1, 1], [5]] as const;
  const { got, want } = onBoth(shapes, (x, w, b, v, c) => {
    const skip = x.conv2d(v, { bias: c });
    return (x).conv2d(w, { bias: b, padding: 1 }).add(skip).relu(); // prettier-ignore
  });
  assertClose(got, want, 1e-5);
});

test("one weight with other settings the next time is prepared again", () => {
  const [H, W] = [8, 6];
  const shapes = [[2, 3, H, W], [2, 3, H - 1, W], [8, 3, 3, 3], [8], [8], [8, 3, 1, 1], [8, 3, 1, 1]] as const;
  const { got, want } = onBoth(shapes, (x, odd, w, gain, shift, first, second) => {
    const [bias, norms] = [gain, [norm(gain, shift), norm(shift, gain), { ...norm(gain, shift), epsilon: 0.5 }]];
    const samples = [
      x.conv2d(w, { padding: 1 }),
      x.conv2d(w, { padding: 1, bias }),
      ...norms.map((each) => x.conv2d(w, { padding: 1 }).batchNorm(each)),
      x.conv2d(w, { padding: 1, bias }).batchNorm(norms[0] as BatchNormOptions),
      x.conv2d(w, { padding: 1, stride: 2 }), // over blocks
      odd.conv2d(w, { padding: 1, stride: 2 }), // over pixels
      x.conv2d(w, { padding: 1, stride: 2 }),
      ...[first, second].map((skip) => x.conv2d(w, { padding: 1 }).add(x.conv2d(skip, { bias }))),
      ...[gain, shift].map((each) => x.conv2d(w, { padding: 1 }).add(x.conv2d(first, { bias: each }))),
    ];
    return samples.map((each) => each.reshape([-1])).reduce((all, each) => all.engine.concat([all, each], 0));
  });
  assertClose(got, want, 1e-5);
});

test("ReLU of −∞ is 0 after a convolution, in a sum and after a convolution over upsampled maps; NaN stays", () => {
  const finished = (engine: TorchEngine): number[][] =>
    engine.noGradient(() =>
      scope(() => {
        const [x, ones] = [engine.full([1, 4, 2, 2], 0.5), engine.full([4, 4, 3, 3], 1)];
        const bias = engine.constant([-Infinity, NaN, -1000, 1000], { shape: [4] });
        const residual = bias.reshape([1, 4, 1, 1]).expand([1, 4, 2, 2]);
        const convolution = (): Tensor => x.conv2d(ones.mul(1), { padding: 1 });
        const results = [
          x.conv2d(ones, { padding: 1, bias }).relu(),
          convolution().add(residual).relu(),
          convolution().relu().add(residual).relu(),
          x.resize2d([4, 4], "nearest").conv2d(ones.mul(1), { padding: 1, bias }).relu(),
        ];
        return results.map((result) => [...(engine.read(engine.compute("aten::mean.dim", result, [0, 2, 3])) as Float32Array)]);
      }),
    );
  const eager = createTorchEngine({ threads: 2, inference: { precision: "f32", worthwhile: { multiplications: 1, channels: 1 } } });
  const [want, got] = [finished(plain), finished(eager)];
  want.forEach((means, i) => {
    const [infinite, unknown, negative, positive] = got[i] as number[];
    assert.deepEqual([infinite, unknown, negative], [0, NaN, 0]);
    assertClose([positive as number], [means[3] as number]);
  });
});

test("two convolutions that are added are computed once each", () => {
  scope(() => {
    const [x, w, v] = [[1, 4, 6, 6], [5, 4, 3, 3], [5, 4, 1, 1]].map((shape) => fused.full(shape, 1)) as [TorchTensor, Tensor, Tensor]; // prettier-ignore
    const skip = x.conv2d(v);
    fused.read((x).conv2d(w, { padding: 1 }).add(skip).relu()); // prettier-ignore
    assert.ok(skip.deferred, "the second was not computed by itself as well");
  });
});

test("a result that is used twice, before and after its activation, is right both times", () => {
  const { got, want } = onBoth(
    [
      [1, 2, 4, 4],
      [3, 2, 3, 3],
    ],
    (x, w) => {
      const y = x.conv2d(w, { stride: 2, padding: 1 });
      return y.relu().add(y.mul(10)).sub(y.abs());
    },
  );
  assertClose(got, want, 1e-5);
});

test("resized volumes land in their channels of a concatenation", () => {
  const shapes = [
    [2, 3, 2, 4, 6],
    [2, 5, 2, 8, 12],
    [2, 2, 2, 3, 3],
  ] as const;
  const { got, want } = onBoth(shapes, (a, b, c) =>
    b.engine.concat([a.resize2d([8, 12], "bilinear"), b, c.resize2d([8, 12], "bilinear")], 1),
  );
  assertClose(got, want, 1e-5);
});

test("pictures by stride 2, largest values and one-channel volumes take their shortcuts and come out the same", () => {
  const stem = onBoth(
    [[2, 3, 10, 14], [8, 3, 7, 7], [8]],
    (x, w, b) => // prettier-ignore
    x.conv2d(w, { bias: b, stride: 2, padding: 3 }).relu().maxPool2d({ kernel: [3, 3], stride: [2, 2], padding: [1, 1] }), // prettier-ignore
  );
  assertClose(stem.got, stem.want, 1e-5);
  const narrow = onBoth([[1, 2, 6, 8], [4, 2, 3, 3]], (x, w) => x.conv2d(w, { stride: 2, padding: 1 })); // prettier-ignore
  assertClose(narrow.got, narrow.want, 1e-5);
  const logits = onBoth([[2, 5, 3, 4, 6], [1, 5, 3, 3, 3], [1]], (x, w, b) => x.conv3d(w, { bias: b, padding: 1 })); // prettier-ignore
  assertClose(logits.got, logits.want, 1e-5);
  const joined = onBoth([[2, 3, 4, 6], [2, 2, 8, 12]], (a, b) => a.engine.concat([a.resize2d([8, 12], "nearest"), b], 1)); // prettier-ignore
  assertClose(joined.got, joined.want, 1e-5);
});

test("channels taken from a convolution are computed when they are looked at", () => {
  const parts = [{ end: 2 }, { start: 1, end: -1 }, { start: -2 }, { start: 3, end: 9 }] as const;
  for (const part of parts) {
    const { got, want } = onBoth(
      [
        [2, 2, 3, 5],
        [4, 2, 3, 3],
      ],
      (x, w) => {
        // prettier-ignore
        const y = x.conv2d(w, { padding: 1 }) as TorchTensor;
        const taken = y.slice(1, part);
        const flat = taken.reshape([2, (taken.shape[1] as number) * 15]);
        assert.ok(!y.engine.fusion || y.deferred, "not before");
        return flat.add(taken.reshape([2, -1]));
      },
    );
    assertClose(got, want, 1e-5);
  }
});

test("a convolution's last pass writes it into its channels of a concatenation", () => {
  for (const finish of [(t: Tensor) => t, (t: Tensor) => t.leakyRelu(0.1), (t: Tensor) => t.relu()]) {
    const { got, want } = onBoth([[2, 8, 3, 5], [4, 8, 3, 3], [4]], (x, w, b) => {
      // prettier-ignore
      const y = finish(x.conv2d(w, { bias: b, padding: 1 }));
      return x.engine.concat([x, y, x, y], 1);
    });
    assertClose(got, want, 1e-5);
  }
  const volumes = onBoth([[1, 3, 2, 3, 5], [5, 3, 3, 3, 3]], (x, w) => x.engine.concat([x, (x).conv3d(w, { padding: 1 })], 1)); // prettier-ignore
  assertClose(volumes.got, volumes.want, 1e-5);
});

test("a sum that broadcasts is left alone", () => {
  const { got, want } = onBoth([[2, 2, 4, 4], [3, 2, 1, 1], [1, 3, 1, 1]], (x, w, b) => (x).conv2d(w).add(b)); // prettier-ignore
  assertClose(got, want, 1e-5);
});

function probability(engine: TorchEngine, config: NetworkConfig, weights: Weights): Float32Array {
  const [N, H, W] = [2, 64, 64];
  const tree = createParameters(engine, { weights });
  const network = createNetwork(tree.source, config);
  const result = engine.noGradient(() =>
    scope(() => {
      const images = engine.constant(randomImages({ B: 1, N, H, W }), { shape: [1, N, 3, H, W] });
      const focusDistances = engine.constant(Float32Array.from({ length: N }, (_, n) => n), { shape: [1, N] }); // prettier-ignore
      return engine.read(network.forward({ images, focusDistances }).focusProbability) as Float32Array;
    }),
  );
  for (const tensor of tree.state.values()) tensor.dispose();
  return result;
}

for (const [name, config] of Object.entries({ fine, small, dfv }))
  test(`${name} arranged for inference gives the p of ${name} as it is`, () => {
    const weights = randomWeights(plain, config);
    const [got, want] = [fused, plain].map((engine) => probability(engine, config, weights)) as [Float32Array, Float32Array];
    assert.ok(new Set(want.map((p) => Math.round(p * 1000))).size > 50, "p varies, so that agreement means something");
    assertClose(got, want, 1e-4); // the logits of random weights are large: p shows their rounding many times over
  });

test("nothing is left behind but the prepared weights", () => {
  const body = (): void => {
    onBoth([[1, 2, 4, 4], [3, 2, 3, 3]], (x, w) => (x).conv2d(w, { padding: 1 }).relu()); // prettier-ignore
  };
  body();
  const before = fused.liveTensors();
  body();
  assert.ok(fused.liveTensors() <= before + 2, `${fused.liveTensors() - before} more tensors than before`);
});

test("the kernels refuse operands they were not made for", () => {
  scope(() => {
    const rows = fused.full([1, 4, 3, 3], 1);
    const pictures = fused.channelsLast(rows);
    const volume = fused.channelsLast(fused.full([1, 4, 2, 3, 3], 1));
    const perChannel = fused.full([4], 0);
    assert.throws(() => {
      fused.native("finishConvolution", rows, perChannel, null, 0, null, 0);
    }, /values: expected the channels innermost/);
    assert.throws(() => {
      fused.native("finishConvolution", pictures, fused.full([3], 0), null, 0, null, 0);
    }, /bias: expected an f32 value for each channel/);
    assert.throws(() => {
      fused.native("finishConvolution", pictures, perChannel, volume, 0, null, 0);
    }, /residual: expected the shape of the values/);
    assert.throws(() => {
      fused.native("finishConvolution", pictures, perChannel, null, 0, pictures, 1);
    }, /firstChannel: the channels do not fit/);
    assert.throws(() => {
      fused.native("finishConvolution", pictures, perChannel, null, 0, fused.channelsLast(fused.full([1, 4, 2, 3], 1)), 0);
    }, /to: expected the sizes of the values/);
    assert.throws(() => {
      fused.native("resampleInto", pictures, 1, pictures, true);
    }, /firstChannel: the channels do not fit/);
    assert.throws(() => {
      fused.native("gatherBlocks", pictures, rows, 1, 1, null, null);
    }, /room for four times their channels/);
    assert.throws(() => {
      fused.native("maxPool", pictures, pictures, 0, 1, 0);
    }, /expected a window/);
    assert.throws(() => {
      fused.native("logitConvolution", rows, volume, perChannel, perChannel);
    }, /expected 27 for each channel/);
  });
});
