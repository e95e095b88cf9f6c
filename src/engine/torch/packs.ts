import type { Tensor } from "../engine.ts";
import type { TorchEngine } from "./torchEngine.ts";

/** Channels that the kernels take at a time: 16 bytes. */
export const packs: Partial<Record<string, number>> = { f32: 4, f16: 8, bf16: 8 };
const MOST_PACKS = 256;

/** Whether the kernels can take the channels of a tensor 16 bytes at a time. */
export function isPacked({ shape, dtype }: Tensor): boolean {
  const width = packs[dtype];
  const channels = Number(shape[1] ?? 0);
  return width !== undefined && channels % width === 0 && channels / width <= MOST_PACKS;
}

/** In f64, on the CPU, gradients are checked. */
export const isChecked = ({ device }: TorchEngine, { dtype }: Tensor): boolean => dtype === "f64" && device === "cpu";
