import { freemem } from "node:os";
import { EngineError } from "../errors.ts";
import { scope } from "../scope.ts";
import type { TorchCalls } from "./call.ts";

/** Bytes. On the CPU: live tensors, resident memory of the process, the most it ever had, and what the machine has free. */
export interface DeviceMemory {
  readonly allocated: number;
  readonly reserved: number;
  readonly peak: number;
  readonly free: number;
}

/** Work on the device that was recorded once and can be replayed without launching each operation. */
export interface CapturedGraph<T> {
  /** The captured body's result; its tensors hold the values of the latest replay. */
  readonly result: T;
  replay(): void;
  dispose(): void;
}

/** The device and the process: randomness, threads, memory, timing, CUDA graphs. */
export interface TorchDevice {
  /** Seeds the random generator of every device. */
  seed(seed: number): void;
  liveTensors(): number;
  liveBytes(): number;
  memory(): DeviceMemory;
  /** Waits until the device has finished its work. */
  synchronize(): void;
  /** Milliseconds the device takes for `body`. */
  milliseconds(body: () => void): number;
  /** CUDA: TensorFloat-32 for f32 matrix products and convolutions; time cuDNN's algorithms and use the fastest. */
  fastMath(options: { readonly tf32: boolean; readonly cudnnBenchmark: boolean }): void;
  /**
   * Runs `body` `warmups` times, then records it as a CUDA graph. A replay reads and writes the same memory: inputs are
   * copied into tensors made before the capture, and outputs are read from `result`. The body must not move values between
   * host and device (no `constant`, `read`, `item`). Before capturing a training step, drop the gradients, so that the
   * graph owns the new ones.
   */
  captureGraph<T>(body: () => T, options?: { readonly warmups?: number }): CapturedGraph<T>;
}

function capture<T>({ native }: TorchCalls, body: () => T, warmups: number): CapturedGraph<T> {
  for (let run = 0; run < warmups; run++)
    scope(() => {
      body();
    });
  const graph = native("captureBegin");
  let result: T;
  try {
    result = scope(body);
  } catch (error) {
    abandon(() => {
      native("captureEnd", graph);
    });
    throw error;
  }
  native("captureEnd", graph);
  return {
    result,
    replay() {
      native("replay", graph);
    },
    dispose() {
      native("disposeGraph", graph);
    },
  };
}

/** Ends a failed capture; an error from ending it would hide the first one. */
function abandon(end: () => void): void {
  try {
    end();
  } catch {
    // the capture was already invalid
  }
}

export function torchDevice(calls: TorchCalls, { device }: { readonly device: string }): TorchDevice {
  const { native } = calls;
  const cuda = device !== "cpu";
  const milliseconds = (body: () => void): number => {
    if (cuda) {
      const start = native("recordEvent");
      body();
      return native("elapsed", start, native("recordEvent"));
    }
    const start = performance.now();
    body();
    return performance.now() - start;
  };
  return {
    seed(seed) {
      native("seed", seed);
    },
    liveTensors: () => native("liveTensors"),
    liveBytes: () => native("liveBytes"),
    memory() {
      if (cuda) return native("cudaMemory", device);
      const { rss } = process.memoryUsage();
      return { allocated: native("liveBytes"), reserved: rss, peak: process.resourceUsage().maxRSS * 1024, free: freemem() };
    },
    synchronize() {
      if (cuda) native("synchronize");
    },
    milliseconds,
    fastMath({ tf32, cudnnBenchmark }) {
      native("setFastMath", tf32, cudnnBenchmark);
    },
    captureGraph(body, { warmups = 2 } = {}) {
      if (!cuda) throw new EngineError("captureGraph: only a CUDA device records graphs; this engine runs on the CPU");
      return capture(calls, body, warmups);
    },
  };
}
