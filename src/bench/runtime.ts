import type { Session } from "../network/session.ts";
import type { NetworkConfig } from "../model/config.ts";

/** Size of a batch of stacks. */
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

/** Where networks are timed, and what measures the machine's limits through the same software. */
export interface BenchRuntime {
  readonly device: string;
  /** For people: the software and its settings. */
  readonly description: string;
  /** Peak memory of this process on the device, in bytes, if the device has its own memory. */
  readonly deviceMemory?: () => number;
  /** Whether its graph leaves out the products with the zero planes before the first and after the last. */
  readonly planeByPlane: boolean;
  network(config: NetworkConfig, size: StackSize): Promise<Session>;
  /** The densest arithmetic the software has, a large matrix product or a wide convolution; a multiply-accumulate counts as two operations. */
  products(): Promise<Work>;
  /** Sums over far more memory than the caches hold. */
  copy(): Promise<Work>;
}
