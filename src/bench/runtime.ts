import type { Session } from "../network/session.ts";
import type { NetworkConfig } from "../model/config.ts";

/** So many stacks at once, of this many planes and pixels. */
export interface StackSize {
  readonly batch: number;
  readonly planes: number;
  readonly height: number;
  readonly width: number;
}

/** Work of a known amount: floating-point operations, or bytes read and written. */
export interface Work {
  readonly amount: number;
  run(): Promise<void>;
  dispose(): Promise<void>;
}

/** Where networks are timed, and what shows how fast the machine can be through the same software. */
export interface BenchRuntime {
  readonly device: string;
  /** For people: the software and its settings. */
  readonly description: string;
  /** The most bytes the device has held for this process, where it has memory of its own. */
  readonly deviceMemory?: () => number;
  /** Whether its graph leaves out the products with planes before the first and behind the last. */
  readonly planeByPlane: boolean;
  network(config: NetworkConfig, size: StackSize): Promise<Session>;
  /** The densest arithmetic the software has, a large matrix product or a wide convolution; a multiply-accumulate counts as two operations. */
  products(): Promise<Work>;
  /** Sums that touch far more memory than caches hold. */
  copy(): Promise<Work>;
}
