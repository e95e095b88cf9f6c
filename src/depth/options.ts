import type { Unit } from "../stack/stackFormat.ts";
import type { OutputName } from "../output/outputs.ts";
import type { DeviceName } from "../network/node/devices.ts";

export interface DepthOptions {
  readonly output?: string;
  /** A list as text or the name of a file; as numbers, one for each picture. */
  readonly distances?: string | readonly number[];
  readonly unit?: Unit;
  readonly model: string;
  readonly device: DeviceName;
  readonly align: string;
  /** Longer side of what the network sees; "auto": `WORKING_SIDE`, or more where planes differ by too little blur. */
  readonly size: number | "full" | "auto";
  readonly save: readonly OutputName[];
  readonly truth?: string;
  readonly threads: number;
  readonly batch: boolean;
  readonly force: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Longer side of what the network sees: about the size of its training pictures' scenes, and quick on two cores. */
export const WORKING_SIDE = 768;
