import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

import { createStackFusion, type Frame, type StackFusion } from "../../src/depth/allInFocus/stackFusion.ts";
import { threadedFusion } from "../../src/depth/node/threadedFusion.ts";
import type { Image, StoredImage } from "../../src/image/image.ts";
import { runDepthWith } from "../../src/depth/run.ts";
import type { DepthNetwork } from "../../src/network/depthNetwork.ts";
import { DEFAULT_ERROR_MODEL } from "../../src/network/facts.ts";
import type { FocusProbability } from "../../src/network/focusProbability.ts";
import { createRandom } from "../../src/random.ts";
import { arraySource } from "../helpers/arraySource.ts";
import { slantedStack, texture } from "../helpers/texturedStack.ts";

const [width, height] = [1100, 700]; // six tiles
const shape = { width, height, channels: 3 } as const;

/** Three planes, each likeliest in a third of the image. */
function probability(): FocusProbability {
  const size = { width: 110, height: 70 };
  const values = Float32Array.from({ length: 3 * 7700 }, (_, i) => {
    const [plane, column] = [Math.floor(i / 7700), i % 110];
    return Math.floor(column / 37) === plane ? 0.8 : 0.1;
  });
  return { planes: 3, ...size, values };
}

const picture = (seed: number): Image => texture({ width, height, seed });
const bytesOf = (image: Image): StoredImage => ({ ...image, data: Uint8Array.from(image.data, (value) => Math.round(255 * value)) });
const shortsOf = (image: Image): StoredImage => ({ ...image, data: Uint16Array.from(image.data, (value) => Math.round(65535 * value)) });

/** Planes of different kinds: floats and aligned, bytes and turned, shorts and as they are. */
const FRAMES: readonly Frame[] = [
  { image: picture(1), isReference: true, alignment: { transform: { scale: 1, angle: 0, shift: [0, 0] }, gain: [1, 1, 1], ok: true } },
  {
    image: bytesOf(picture(2)),
    isReference: false,
    alignment: { transform: { scale: 1.01, angle: 0.01, shift: [12.3, -4.5] }, gain: [1.1, 1, 0.9], ok: true },
  },
  { image: shortsOf(picture(3)), isReference: false },
];

async function fused(fusion: StackFusion): Promise<Image> {
  try {
    for (const [plane, frame] of FRAMES.entries()) await fusion.add(frame, plane);
    return await fusion.finish();
  } finally {
    await fusion.close();
  }
}

test("several threads compute the same image as one, to the last bit", async () => {
  const alone = await fused(createStackFusion(shape, probability(), {}));
  for (const threads of [2, 3]) {
    const together = await fused(threadedFusion({ threads, leastPixels: 0 })(shape, probability(), {}));
    assert.deepEqual({ ...together, data: Float32Array.from(together.data) }, alone);
  }
  const random = createRandom(1);
  const sample = Array.from({ length: 100 }, () => alone.data[random.integer(alone.data.length)] as number);
  assert.ok(Math.max(...sample) - Math.min(...sample) > 0.2, "there is an image");
});

test("a failure in a thread is that of one thread, and ends the others", async () => {
  const upside: Frame = {
    ...(FRAMES[1] as Frame),
    alignment: { transform: { scale: 1, angle: 2, shift: [0, 0] }, gain: [1, 1, 1], ok: true },
  };
  const failure = async (fusion: StackFusion): Promise<unknown> => {
    try {
      return await fusion.add(upside, 0).then(() => undefined, (error: unknown) => error); // prettier-ignore
    } finally {
      await fusion.close();
    }
  };
  const alone = await failure(createStackFusion(shape, probability(), {}));
  const inThread = await failure(threadedFusion({ threads: 2, leastPixels: 0 })(shape, probability(), {}));
  assert.ok(alone instanceof RangeError && inThread instanceof RangeError, String(inThread));
  assert.match(alone.message, /a rotation by 115° is too large/);
  assert.equal(inThread.message, alone.message);
});

/** What a process of its own prints and its status; it would not end while a thread of its lives. */
function inProcess(script: string): { readonly stdout: string; readonly stderr: string; readonly status: number | null } {
  const module = pathToFileURL(join(import.meta.dirname, "..", "..", "src", "depth", "node", "threadedFusion.ts")).href;
  const start = `
    const { threadedFusion } = await import(${JSON.stringify(module)});
    const [width, height] = [2000, 1500];
    const create = (probability) => threadedFusion({ threads: 2, leastPixels: 0 })({ width, height, channels: 1 }, probability, {});
  `;
  const { stdout, stderr, status } = spawnSync(process.execPath, [...process.execArgv, "--input-type=module", "-e", start + script], { timeout: 60_000 }); // prettier-ignore
  return { stdout: String(stdout), stderr: String(stderr), status };
}

test("a process whose fusion is closed before its end comes to an end", () => {
  const { stdout, stderr, status } = inProcess(`
    const fusion = create({ planes: 1, width: 2, height: 2, values: new Float32Array(4).fill(1) });
    const adding = fusion.add({ image: { width, height, channels: 1, data: new Float32Array(width * height) }, isReference: true }, 0);
    adding.catch(() => undefined);
    await fusion.close();
    console.log(await adding.then(() => "added", (error) => error.message));
  `);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^(a thread of the all-in-focus image ended with \d|added)\n$/);
});

test("a process whose fusion cannot be set up comes to an end", () => {
  const { stdout, stderr, status } = inProcess(`
    try {
      create({ planes: 1, width: 2, height: 2, get values() { throw new Error("no room") } });
    } catch ({ message }) {
      console.log(message);
    }
  `);
  assert.deepEqual([status, stdout], [0, "no room\n"], stderr);
});

test("a run that is stopped while the image is computed ends its threads, and frees the network before", async () => {
  const { stack } = slantedStack({ width: 640, height: 112, planes: 5 }); // two tiles
  const [size] = stack.images as [Image];
  const stop = new AbortController();
  let [isDisposed, isClosed] = [false, false];
  const p = new Float32Array(5 * size.width * size.height).fill(0.2);
  const network: DepthNetwork = {
    ...{ facts: {}, average: "metres", errorModel: DEFAULT_ERROR_MODEL, notes: [], device: "cpu", reason: "test" },
    predict: () => Promise.resolve({ planes: 5, width: size.width, height: size.height, values: p }),
    dispose: () => {
      isDisposed = true;
      return Promise.resolve();
    },
  };
  const source = arraySource(stack);
  const createFusion: typeof createStackFusion = (...given) => {
    assert.ok(isDisposed);
    const fusion = threadedFusion({ threads: 2, leastPixels: 0 })(...given);
    const close = async (): Promise<void> => {
      await fusion.close();
      isClosed = true;
    };
    return { ...fusion, close };
  };
  const onStage = (stage: string, done: number): void => {
    if (stage === "enlarge" && done === 2) stop.abort(new Error("enough"));
  };
  const options = { network, disposeNetwork: true, prefer: "near", workingSide: 640, onStage, signal: stop.signal } as const;
  await assert.rejects(runDepthWith(createFusion, source, options), /^Error: enough$/);
  assert.ok(isClosed);
});
