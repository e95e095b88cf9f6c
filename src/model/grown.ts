import type { WeightArray, Weights } from "../io/safetensors.ts";

/** Modules of ours that a decoder may have or not; one that is new starts so that the network gives nearly what it gave without it. */
const OPTIONAL = /^decoder\.(detail|upsampling|fuse\d+\.context)\./;
const DETAIL = "decoder.detail.filters.weight";

/**
 * Weights for a network that differs in its optional modules from the one they were trained in. Modules that it lacked begin with the initial values of `start`,
 * and convolutions that read more channels, always after those they had, begin with zeros there. Modules that it no longer has are dropped, and with detail
 * the channels that convolutions read from it, the last. Whatever else differs stays as it is.
 */
export function grownWeights(start: Weights, given: Weights): Weights {
  const isDropped = (name: string): boolean => OPTIONAL.test(name) && !start.has(name);
  const losesDetail = isDropped(DETAIL) && given.has(DETAIL);
  const grown = new Map([...given].filter(([name]) => !isDropped(name)));
  for (const [name, initial] of start) {
    const known = given.get(name);
    if (!known && OPTIONAL.test(name)) grown.set(name, initial);
    else if (known && (isWider(initial.shape, known.shape) || (losesDetail && isWider(known.shape, initial.shape))))
      grown.set(name, withInputs(known, initial.shape));
  }
  return grown;
}

/** Whether a convolution's weight [out, in, k, …] differs in having more inputs only. */
const isWider = (shape: readonly number[], than: readonly number[]): boolean =>
  shape.length === than.length &&
  shape.length >= 4 &&
  shape.every((size, axis) => (axis === 1 ? size > (than[1] ?? 0) : size === than[axis]));

/** The same convolution with more inputs, of weight 0, or without its last ones. */
function withInputs({ shape: [outputs = 0], data }: WeightArray, shape: readonly number[]): WeightArray {
  const before = data.length / outputs;
  const after = shape.slice(1).reduce((product, size) => product * size, 1);
  const changed = new Float32Array(outputs * after);
  for (let output = 0; output < outputs; output++)
    changed.set(data.subarray(output * before, output * before + Math.min(before, after)), output * after);
  return { shape, data: changed };
}
