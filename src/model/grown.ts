import type { WeightArray, Weights } from "../io/safetensors.ts";

/** Modules of ours that a decoder may have or not; one that is new starts so that the network gives nearly what it gave without it. */
const OPTIONAL = /^decoder\.(detail|upsampling|fuse\d+\.context)\./;

/**
 * Weights for a network that is larger than the one they were trained in: optional modules it lacked begin with the initial values of `start`,
 * and convolutions that read more channels, always after those they had, begin with zeros there. Whatever else differs stays as it is.
 */
export function grownWeights(start: Weights, given: Weights): Weights {
  const grown = new Map(given);
  for (const [name, initial] of start) {
    const known = given.get(name);
    if (!known && OPTIONAL.test(name)) grown.set(name, initial);
    else if (known && isWider(initial.shape, known.shape)) grown.set(name, widened(known, initial.shape));
  }
  return grown;
}

/** Whether a convolution's weight [out, in, k, …] differs in having more inputs only. */
const isWider = (shape: readonly number[], than: readonly number[]): boolean =>
  shape.length === than.length &&
  shape.length >= 4 &&
  shape.every((size, axis) => (axis === 1 ? size > (than[1] ?? 0) : size === than[axis]));

function widened({ shape: [outputs = 0], data }: WeightArray, shape: readonly number[]): WeightArray {
  const before = data.length / outputs;
  const after = shape.slice(1).reduce((product, size) => product * size, 1);
  const wide = new Float32Array(outputs * after);
  for (let output = 0; output < outputs; output++) wide.set(data.subarray(output * before, (output + 1) * before), output * after);
  return { shape, data: wide };
}
