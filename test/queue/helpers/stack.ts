import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { encodePng } from "../../../src/io/png.ts";
import { depthSettings } from "../../../src/depth/settings.ts";
import { frameOf, type Job } from "../../../src/queue/job.ts";
import type { FileStore } from "../../../src/queue/store.ts";
import { slantedStack } from "../../helpers/texturedStack.ts";

export async function temporaryFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "dualfocus-queue-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder with a small stack: three planes at 1, 2 and 3 m, 64×64 pixels, another texture for each seed. */
export async function writeStack(folder: string, seed = 1): Promise<string> {
  await mkdir(folder, { recursive: true });
  const { stack } = slantedStack({ width: 64, height: 64, planes: 3, seed });
  for (const [n, image] of stack.images.entries()) await writeFile(join(folder, `plane_${n}.png`), encodePng(image));
  await writeFile(join(folder, "stack.json"), JSON.stringify({ unit: "m", focus: stack.focusDistances }));
  return folder;
}

/** What the tests ask for: quick, and one output to compare. */
export const TINY = depthSettings.parse({ distances: [1, 2, 3], align: "off", size: 64, save: ["npy"] });

/** Puts the stack's pictures into the store and returns the job. */
export async function storedJob(
  store: FileStore,
  folder: string,
  { id, settings = TINY }: { id: string; settings?: Job["settings"] },
): Promise<Job> {
  const frames = [0, 1, 2].map((n) => frameOf(id, n, "png"));
  for (const [n, { key }] of frames.entries()) await store.put(key, join(folder, `plane_${n}.png`));
  return { id, frames, settings };
}
