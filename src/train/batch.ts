import type { Tensor } from "../engine/engine.ts";

/** Stacks on the device, with their true depth. */
export interface TrainBatch {
  /** [B, N, 3, H, W], f32 in [0, 1] or u8. */
  readonly images: Tensor;
  /** f, [B, N], in the unit of the depth. */
  readonly focusDistances: Tensor;
  /** D*, [B, 1, H, W]. */
  readonly trueDepth: Tensor;
  /** 1 where D* counts, else 0; [B, 1, H, W]. */
  readonly valid: Tensor;
}

export const BATCH_KEYS = ["images", "focusDistances", "trueDepth", "valid"] as const satisfies (keyof TrainBatch)[];

export function disposeBatch(batch: TrainBatch): void {
  for (const name of BATCH_KEYS) batch[name].dispose();
}

/** Bytes as values in [0, 1]. */
export const pixelValues = (images: Tensor): Tensor => (images.dtype === "u8" ? images.cast("f32").mul(1 / 255) : images);
