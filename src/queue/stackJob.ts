import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";

import type { DepthSettings } from "../depth/settings.ts";
import { DualFocusError } from "../errors.ts";
import { makeFolder } from "../system/outputFolder.ts";
import { givenFocus } from "../stack/focus.ts";
import type { Listing } from "../stack/listing.ts";
import { listStack } from "../stack/node/openStack.ts";
import { frameNameSchema, jobPrefix, type Job } from "./job.ts";
import type { JobResult } from "./results.ts";
import type { FileStore } from "./store.ts";

/** A job made of files on this machine. */
export interface StackJob {
  readonly job: Job;
  /** The file behind each of the job's frames. */
  readonly files: readonly string[];
}

/**
 * The job of a folder of images. Its id is a hash of the files and the settings: the same stack is the same job, whoever submits it and
 * however often.
 */
export async function stackJob(folder: string, settings: DepthSettings): Promise<StackJob> {
  const listing = await listStack([folder]);
  checkDistances(listing, settings);
  const { files: pictures, json, distanceFile } = listing;
  const files = [...pictures, ...(json ? [json.file] : []), ...(distanceFile === undefined ? [] : [distanceFile])];
  const hash = createHash("sha256").update(JSON.stringify(settings));
  for (const file of files) {
    checkPlace(file, folder);
    hash.update(`\n${basename(file)}\n`);
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  }
  const id = `stack-${hash.digest("hex").slice(0, 40)}`;
  const frames = files.map((file, n) => ({ key: frameKey(id, n, file), name: basename(file) }));
  return { job: { id, frames, settings }, files };
}

/**
 * Refuses distances that the job could only fail on, as far as the names of the images tell: a TIFF may hold many planes, and the positions
 * of a microscope, which may be negative.
 */
export function checkDistances({ name, files }: Listing, { distances, unit }: DepthSettings): void {
  if (distances === undefined || files.length < 2 || files.every((file) => /\.tiff?$/i.test(file))) return;
  givenFocus(distances, { name, frames: files.map((file) => ({ file, page: 0 })), unit });
}

const frameKey = (id: string, n: number, file: string): string => `${jobPrefix(id)}/frames/${n}${extname(file).toLowerCase()}`;

function checkPlace(file: string, folder: string): void {
  const isHere = dirname(resolve(file)) === resolve(folder);
  if (isHere && frameNameSchema.safeParse(basename(file)).success) return;
  const reason = isHere ? "has a name that cannot be sent" : `is not in ${folder} itself`;
  throw new DualFocusError("bad-frame-name", `${file}: ${reason}`, { facts: { file } });
}

/** Copies the files that are not in the store yet. */
export async function uploadStack(store: FileStore, { job, files }: StackJob): Promise<void> {
  const there = new Set((await store.list(`${jobPrefix(job.id)}/frames`)).map(({ key }) => key));
  for (const [n, { key }] of job.frames.entries()) if (!there.has(key)) await store.put(key, files[n] as string);
}

/** Copies a job's results into a folder. */
export async function downloadResults(store: FileStore, { files }: JobResult, folder: string): Promise<void> {
  await makeFolder(folder);
  for (const { key, file } of Object.values(files)) await store.fetch(key, join(folder, basename(file)));
}
