import { keep } from "../scope.ts";
import type { TorchCalls } from "./call.ts";
import type { TorchGradients } from "./gradient.ts";
import type { TorchTensor } from "./tensor.ts";
import type { DType } from "../engine.ts";

export interface TorchResize {
  /** Bilinear resampling of the last two axes of [B, C, h, w] or [B, C, N, h, w], `align_corners=False`. */
  resizeBilinear(tensor: TorchTensor, size: readonly [number, number]): TorchTensor;
  /** Nearest resampling of the last two axes of [B, C, h, w], in the tensor's own dtype (autocast would make it f32). */
  resizeNearest(tensor: TorchTensor, size: readonly [number, number]): TorchTensor;
}

/**
 * libtorch's kernel, with planes and channels as one axis. For bf16 (under autocast on CUDA) two matrix products instead, over rows
 * and then columns, with the channels innermost as convolutions have them: libtorch's kernel would copy the tensor to the planar
 * layout and back and add bf16 gradients one by one.
 */
export function torchResize({ compute }: TorchCalls, gradients: TorchGradients, constant: Constant): TorchResize {
  const matrices = new Map<string, TorchTensor>();
  const matrix = (from: number, to: number, dtype: DType): TorchTensor => {
    const key = `${from} ${to} ${dtype}`;
    const known = matrices.get(key);
    if (known) return known;
    const made = keep(constant(interpolation(from, to), { shape: [1, to, from], dtype }));
    matrices.set(key, made);
    return made;
  };
  /** [A, from, C] → [A, to, C]. */
  const resample = (rows: TorchTensor, to: number): TorchTensor => {
    const [count, from] = rows.shape as [number, number];
    if (from === to) return rows;
    return compute("aten::bmm", compute("aten::expand", matrix(from, to, rows.dtype), [count, to, from]), rows);
  };
  return {
    resizeNearest: (tensor, size) => gradients.fullPrecision(() => compute("aten::upsample_nearest2d", tensor, size)),
    resizeBilinear(tensor, [H, W]) {
      const five = tensor.shape.length === 5;
      const [B, C, N, h, w] = (five ? tensor.shape : [...tensor.shape.slice(0, 2), 1, ...tensor.shape.slice(2)]) as [
        number,
        number,
        number,
        number,
        number,
      ];
      const shape = five ? [B, C, N, H, W] : [B, C, H, W];
      if (tensor.dtype !== "bf16")
        return compute("aten::upsample_bilinear2d", tensor.reshape([B, C * N, h, w]), [H, W], false).reshape(shape);
      const rows = resample(
        tensor
          .reshape([B, C, N, h, w])
          .permute([0, 2, 3, 4, 1])
          .reshape([B * N, h, w * C]),
        H,
      );
      const columns = resample(rows.reshape([B * N * H, w, C]), W);
      return columns.reshape([B, N, H, W, C]).permute([0, 4, 1, 2, 3]).reshape(shape);
    },
  };
}

type Constant = (values: Float64Array, options: { readonly shape: readonly number[]; readonly dtype: DType }) => TorchTensor;

/** Row i holds the weights of `from` samples in output i of `to`; pixel centres at half integers, ends repeated. Row-major [to, from]. */
export function interpolation(from: number, to: number): Float64Array {
  const weights = new Float64Array(to * from);
  for (let i = 0; i < to; i++) {
    const at = Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1);
    const lower = Math.min(Math.floor(at), from - 1);
    const upper = Math.min(lower + 1, from - 1);
    weights[i * from + lower] = (weights[i * from + lower] as number) + 1 - (at - lower);
    weights[i * from + upper] = (weights[i * from + upper] as number) + (at - lower);
  }
  return weights;
}
