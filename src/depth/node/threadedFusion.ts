import { Worker } from "node:worker_threads";

import { collapsed, createLevels, tilesOf } from "../allInFocus/fusion.ts";
import { planePrior } from "../allInFocus/prior.ts";
import { createStackFusion, type CreateStackFusion, type Frame } from "../allInFocus/stackFusion.ts";
import type { FromThread, ThreadData, ToThread } from "./fusionThread.ts";

export interface ThreadOptions {
  readonly threads: number;
  /** Pixels of all planes together from which on threads are used. */
  readonly leastPixels?: number;
}

/** Each takes some 20 MB, and more would wait for the decoder. */
const MOST_THREADS = 6;

/** Fewer take about a second in one thread; to start another takes a tenth of that. */
const LEAST_PIXELS = 15e6;

/**
 * Computes the all-in-focus image in several threads; each takes the next tile of a frame whenever it is done with one. The result is the
 * same to the last bit, because tiles do not overlap. Its pixels are in shared memory.
 */
export const threadedFusion =
  ({ threads, leastPixels = LEAST_PIXELS }: ThreadOptions): CreateStackFusion =>
  (shape, probability, options) => {
    const count = Math.min(threads, MOST_THREADS, tilesOf(shape).length);
    if (count < 2 || probability.planes * shape.width * shape.height < leastPixels) return createStackFusion(shape, probability, options);
    const prior = planePrior(probability, options);
    const levels = createLevels(shape, { isShared: true });
    const next = new Int32Array(new SharedArrayBuffer(4));
    const team = Array.from({ length: count }, () => startThread({ levels, next })); // last: nobody would end them if the rest failed
    const rooms = { image: createRoom(), choice: createRoom(), share: createRoom() };
    return {
      add({ image, ...frame }, plane) {
        const { choice, share } = prior.maps(plane);
        const maps = {
          choice: { ...choice, values: rooms.choice(choice.values) },
          share: { ...share, values: rooms.share(share.values) },
        };
        const message: ToThread = { ...frame, image: { ...image, data: rooms.image(image.data) } as Frame["image"], maps };
        Atomics.store(next, 0, 0);
        return allDone(team, message); // the image that was copied can be freed meanwhile
      },
      finish: () => Promise.resolve(collapsed(levels)),
      async close() {
        await Promise.all(team.map((thread) => thread.end()));
      },
    };
  };

async function allDone(team: readonly Thread[], message: ToThread): Promise<void> {
  await Promise.all(team.map((thread) => thread.run(message)));
}

/** Copies arrays of one length to shared memory, each in place of the one before. */
function createRoom(): <T extends Float32Array | Uint8Array | Uint16Array>(values: T) => T {
  let room = new SharedArrayBuffer(0);
  return (values) => {
    if (room.byteLength !== values.byteLength) room = new SharedArrayBuffer(values.byteLength);
    const Kind = values instanceof Float32Array ? Float32Array : values instanceof Uint16Array ? Uint16Array : Uint8Array;
    const copy = new (Kind as unknown as new (buffer: SharedArrayBuffer) => typeof values)(room);
    copy.set(values);
    return copy;
  };
}

interface Thread {
  /** Resolves when it has nothing left to do. */
  run(message: ToThread): Promise<void>;
  end(): Promise<unknown>;
}

const isCompiled = import.meta.url.endsWith(".js");
const PROGRAM = new URL(isCompiled ? "./fusionThread.js" : "./fusionThread.ts", import.meta.url);
/** From the sources: tsx, which compiles them for other processes, does not for threads. */
const OPTIONS = isCompiled ? {} : { execArgv: ["--import", new URL("../../../scripts/typescript/register.js", import.meta.url).href] };

function startThread(data: ThreadData): Thread {
  const worker = new Worker(PROGRAM, { ...OPTIONS, workerData: data, resourceLimits: { maxYoungGenerationSizeMb: 4 } }); // it makes few objects
  const lost = new Promise<never>((_, reject) => {
    worker.once("error", reject);
    worker.once("exit", (code) => {
      reject(new Error(`a thread of the all-in-focus image ended with ${code}`));
    });
  });
  lost.catch(() => undefined); // reported by `run`
  return {
    async run(message) {
      const answered = new Promise<FromThread>((resolve) => worker.once("message", resolve));
      worker.postMessage(message);
      const { error } = await Promise.race([answered, lost]);
      if (error !== undefined) throw error; // eslint-disable-line @typescript-eslint/only-throw-error -- the thread's own
    },
    end: () => worker.terminate(),
  };
}
