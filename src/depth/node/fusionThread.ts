// A thread that adds frames to the pyramid of an all-in-focus image: started by `threadedFusion`, directed by messages.
import { parentPort, workerData } from "node:worker_threads";

import type { Level } from "../allInFocus/fusion.ts";
import type { PlaneMaps } from "../allInFocus/prior.ts";
import { addFrame, type Frame } from "../allInFocus/stackFusion.ts";

/** In memory that the threads share. */
export interface ThreadData {
  readonly levels: readonly Level[];
  /** One number: the next tile that no thread has taken. */
  readonly next: Int32Array;
}

/** A frame, its pixels in shared memory. */
export interface ToThread extends Frame {
  readonly maps: PlaneMaps;
}

/** Sent when no tile is left. */
export interface FromThread {
  readonly error?: unknown;
}

const { levels, next } = workerData as ThreadData;

parentPort?.on("message", ({ maps, ...frame }: ToThread) => {
  let answer: FromThread = {};
  try {
    addFrame(levels, frame, { maps, nextTile: () => Atomics.add(next, 0, 1) });
  } catch (error) {
    answer = { error };
  }
  parentPort?.postMessage(answer);
});
