import { AXIS } from "../../src/engine/dims.ts";
import { dims, over, times } from "../../src/engine/dims.ts";
import type { Engine, Tensor } from "../../src/engine/engine.ts";
import { createRandom } from "../../src/random.ts";

/** A parameter of the net; training makes them trainable, recording makes them constants. */
export type MakeParameter = (name: string, values: Float32Array, shape: readonly number[]) => Tensor;

const CHANNELS = 6;

/**
 * A network in miniature with everything the real one needs of an engine: 2-D convolutions with stride over planes folded into
 * the batch, 3-D convolutions over planes, batch norm behind a convolution and alone, group norm, resizing, a softmax over
 * planes and the expectation under it. Written once, against the interface alone; weights come from a fixed seed.
 *
 * `images` [B, N, 3, H, W], H and W multiples of 4; `focusDistances` [B, N]; returns the depth [B, 1, H, W] and p [B, N, H, W].
 */
export function wireNet(
  engine: Engine,
  make: MakeParameter = (name, data, shape) => engine.constant(data, { shape, name }),
  { training = false }: { readonly training?: boolean } = {},
) {
  const random = createRandom(3);
  const normal = (name: string, shape: readonly number[], scale: number, mean = 0): Tensor => {
    const own = random.split(name);
    const length = shape.reduce((product, size) => product * size, 1);
    return make(
      name,
      Float32Array.from({ length }, () => mean + scale * own.normal()),
      shape,
    );
  };
  const batchNorm = (name: string): ((x: Tensor) => Tensor) => {
    const parameters = {
      weight: normal(`${name}.weight`, [CHANNELS], 0.2, 1),
      bias: normal(`${name}.bias`, [CHANNELS], 0.2),
      runningMean: normal(`${name}.running_mean`, [CHANNELS], 0.3),
      runningVariance: normal(`${name}.running_var`, [CHANNELS], 0.1, 1),
    };
    return (x) => x.batchNorm({ ...parameters, training, momentum: 0.1, epsilon: 1e-5 });
  };
  const stem = normal("stem.weight", [CHANNELS, 3, 3, 3], 0.3);
  const stemNorm = batchNorm("stem.norm");
  const deep = normal("deep.weight", [CHANNELS, CHANNELS, 3, 3], 0.2);
  const deepBias = normal("deep.bias", [CHANNELS], 0.2);
  const deepNorm = batchNorm("deep.norm");
  const volume = normal("volume.weight", [CHANNELS, CHANNELS, 3, 3, 3], 0.1);
  const volumeNorm = batchNorm("volume.norm");
  const group = { weight: normal("group.weight", [CHANNELS], 0.2, 1), bias: normal("group.bias", [CHANNELS], 0.2) };
  const loneNorm = batchNorm("lone");
  const head = normal("head.weight", [1, CHANNELS, 3, 3, 3], 0.3);

  return ({ images, focusDistances }: { readonly images: Tensor; readonly focusDistances: Tensor }): { depth: Tensor; p: Tensor } => {
    const { B, N, H, W } = dims(images, "B N 3 H W", "wireNet");
    const [h, w] = [over(H, 2), over(W, 2)];
    const half = stemNorm(images.reshape([times(B, N), 3, H, W]).conv2d(stem, { stride: 2, padding: 1 })).relu();
    const quarter = deepNorm(half.conv2d(deep, { bias: deepBias, stride: 2, padding: 1 })).leakyRelu(0.1);
    const merged = quarter.resize2d([h, w], "bilinear").add(half);
    const planes = merged.reshape([B, N, CHANNELS, h, w]).permute([0, 2, 1, 3, 4]);
    const filtered = volumeNorm(planes.conv3d(volume, { padding: 1 })).relu();
    const grouped = filtered.groupNorm({ groups: 2, ...group, epsilon: 1e-5 }).add(planes);
    const logits = loneNorm(grouped).conv3d(head, { padding: 1 }).squeeze(AXIS.channel);
    const p = logits.resize2d([H, W], "bilinear").softmax(1);
    const depth = p.mul(focusDistances.reshape([B, N, 1, 1])).sum([1], { keepAxes: true });
    return { depth, p };
  };
}

/** Numbers for the net's inputs. */
export function wireInputs({ batch, planes, height, width }: { batch: number; planes: number; height: number; width: number }) {
  const random = createRandom(4);
  return {
    images: {
      data: Float32Array.from({ length: batch * planes * 3 * height * width }, () => random.uniform()),
      shape: [batch, planes, 3, height, width],
    },
    focusDistances: { data: Float32Array.from({ length: batch * planes }, (_, i) => 0.5 + (i % planes)), shape: [batch, planes] },
  };
}
