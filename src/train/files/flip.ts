import type { Image, Size } from "../../image/image.ts";
import type { DepthMap } from "../../image/depthMap.ts";
import type { Sample } from "../../data/dataset.ts";

type Values = Float32Array | Uint8Array;

/** Where the pixel (x, y) of the result comes from. */
type Source = (x: number, y: number) => number;

function rearrange<T extends Values>(values: T, into: T, { width, height, source }: Size & { source: Source }): T {
  const channels = into.length / (width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const from = source(x, y) * channels;
      const to = (y * width + x) * channels;
      for (let c = 0; c < channels; c++) into[to + c] = values[from + c] as number;
    }
  return into;
}

function rearrangeSample(sample: Sample, grid: Size & { source: Source }): Sample {
  const { width, height } = grid;
  const picture = (image: Image): Image => ({
    ...image,
    width,
    height,
    data: rearrange(image.data, new Float32Array(image.data.length), grid),
  });
  const { values, valid } = sample.trueDepth;
  const trueDepth: DepthMap = {
    ...sample.trueDepth,
    width,
    height,
    values: rearrange(values, new Float32Array(values.length), grid),
    valid: rearrange(valid, new Uint8Array(valid.length), grid),
  };
  return { ...sample, stack: { ...sample.stack, images: sample.stack.images.map(picture) }, trueDepth };
}

/** `columns` turns left and right round, `rows` top and bottom. */
export function flipSample(sample: Sample, axis: "columns" | "rows"): Sample {
  const { width, height } = sample.trueDepth;
  const source: Source = axis === "columns" ? (x, y) => y * width + width - 1 - x : (x, y) => (height - 1 - y) * width + x;
  return rearrangeSample(sample, { width, height, source });
}

/** Rows become columns. */
export function transposeSample(sample: Sample): Sample {
  const { width, height } = sample.trueDepth;
  return rearrangeSample(sample, { width: height, height: width, source: (x, y) => x * width + y });
}

/**
 * The nearest plane becomes the farthest: pictures in reverse, every distance d → first + last - d, so that the order stays near to far
 * and the blur still belongs to the distance from the focus.
 */
export function mirrorPlanes(sample: Sample): Sample {
  const { images, focusDistances, space } = sample.stack;
  const sum = (focusDistances[0] ?? 0) + (focusDistances.at(-1) ?? 0);
  const values = sample.trueDepth.values.map((value) => sum - value);
  const valid = sample.trueDepth.valid.map((known, i) => (known && (space !== "depth" || (values[i] as number) > 0) ? 1 : 0));
  const stack = { space, images: [...images].reverse(), focusDistances: focusDistances.map((distance) => sum - distance).reverse() };
  return { ...sample, stack, trueDepth: { ...sample.trueDepth, values, valid } };
}

/** Leaves valid only what lies between the first and the last focus distance. */
export function maskToFocusRange(sample: Sample): Sample {
  const { focusDistances } = sample.stack;
  const [low, high] = [Math.min(...focusDistances), Math.max(...focusDistances)];
  const { values } = sample.trueDepth;
  const valid = sample.trueDepth.valid.map((known, i) => (known && (values[i] as number) >= low && (values[i] as number) <= high ? 1 : 0));
  return { ...sample, trueDepth: { ...sample.trueDepth, valid } };
}
