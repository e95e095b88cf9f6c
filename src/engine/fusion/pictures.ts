import { elementCount } from "../dims.ts";
import type { Tensor } from "../engine.ts";
import type { TorchEngine } from "../torch/torchEngine.ts";
import type { Deferred } from "./deferred.ts";
import { TorchTensor } from "../torch/tensor.ts";

/** Images in bytes and their normalisation: (byte · factor) · scale + shift, with one scale and shift per channel. */
export interface Pictures {
  /** Bytes, or f32. */
  readonly bytes: TorchTensor;
  /** [..., C, H, W], the shape the bytes are read in. */
  readonly shape: readonly number[];
  readonly factor: number;
  readonly scale: TorchTensor | undefined;
  readonly shift: TorchTensor | undefined;
}

/** Images whose normalisation is deferred: a convolution over them can normalise while it reads the bytes. */
export interface PictureReader {
  /** `bytes · factor`; undefined for other dtypes. */
  scaled(bytes: TorchTensor, factor: number): TorchTensor | undefined;
  /** `images · scale` for images [B, C, H, W] in f32 without a gradient; undefined for another kind of factor. */
  scaledPerChannel(images: TorchTensor, scale: Tensor | number): TorchTensor | undefined;
  /** The images behind a tensor if it is such a deferred normalisation. */
  behind(tensor: TorchTensor): Pictures | undefined;
}

export function createPictureReader(engine: TorchEngine): PictureReader {
  const known = new WeakMap<Deferred, Pictures>();
  const defer = (pictures: Pictures): TorchTensor => {
    const { shape, scale, shift } = pictures;
    const deferred: Deferred = {
      shape,
      dtype: "f32",
      run: () => computed(engine, pictures),
      reshaped: (to) => (!scale && !shift && sameCount(shape, to) ? defer({ ...pictures, shape: to }) : undefined),
      times: (other) => (!scale && !shift && isPerChannel(other, shape) ? defer({ ...pictures, scale: other }) : undefined),
      plus: (other) => (!shift && isPerChannel(other, shape) ? defer({ ...pictures, shift: other }) : undefined),
    };
    known.set(deferred, pictures);
    return engine.defer(deferred);
  };
  return {
    scaled: (bytes, factor) =>
      bytes.dtype === "u8" ? defer({ bytes, shape: bytes.shape, factor, scale: undefined, shift: undefined }) : undefined,
    scaledPerChannel: (images, scale) =>
      isPerChannel(scale, images.shape) ? defer({ bytes: images, shape: images.shape, factor: 1, scale, shift: undefined }) : undefined,
    behind: ({ deferred }) => deferred && known.get(deferred),
  };
}

/** One operation after the other. */
function computed(engine: TorchEngine, { bytes, shape, factor, scale, shift }: Pictures): TorchTensor {
  const values = engine.compute("aten::mul.Scalar", bytes.reshape(shape), factor);
  const scaled = scale ? engine.compute("aten::mul.Tensor", values, scale) : values;
  return shift ? engine.compute("aten::add.Tensor", scaled, shift) : scaled;
}

const sameCount = (a: readonly number[], b: readonly number[]): boolean =>
  b.every((size) => size >= 0) && elementCount(a) === elementCount(b);

/** One constant per channel. */
const isPerChannel = (other: Tensor | number, shape: readonly number[]): other is TorchTensor =>
  other instanceof TorchTensor &&
  other.dtype === "f32" &&
  shape.length > 3 &&
  other.shape.join() === [shape.at(-3), 1, 1].join() &&
  !other.engine.native("requiresGrad", other);
