import { AXIS } from "../engine/dims.ts";
import { dims, times, type Dim } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";

/** [B, C, N, h, w] → [B·N, C, h, w]: every plane as an image of its own. */
export function planesToBatch(volume: Tensor): Tensor {
  const { B, C, N, h, w } = dims(volume, "B C N h w", "planesToBatch");
  return volume.permute([AXIS.batch, AXIS.plane, AXIS.channel, AXIS.row, AXIS.column]).reshape([times(B, N), C, h, w]);
}

/** [B·N, C, h, w] → [B, C, N, h, w]. */
export function batchToPlanes(pictures: Tensor, { B, N }: { readonly B: Dim; readonly N: Dim }): Tensor {
  const [, C, h, w] = pictures.shape as readonly [Dim, Dim, Dim, Dim];
  return pictures.reshape([B, N, C, h, w]).permute([0, 2, 1, 3, 4]);
}

/** Height and width of a volume. */
export const planeSize = (volume: Tensor): readonly [Dim, Dim] => [volume.shape[AXIS.row] ?? 0, volume.shape[AXIS.column] ?? 0];
