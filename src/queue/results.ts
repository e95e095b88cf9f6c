import { z } from "zod";

import type { DepthDocument } from "../depth/node/stackRun.ts";
import { jobPrefix } from "./job.ts";
import { readText, type FileStore } from "./store.ts";

const resultSchema = z.object({
  /** The command's result.json; the paths of `files` and `distances` are plain names. */
  document: z.custom<DepthDocument>((value) => typeof value === "object" && value !== null),
  /** By name: the outputs asked for, `alignment` where frames were aligned, and `result` for result.json itself. */
  files: z.record(z.string(), z.object({ key: z.string(), file: z.string(), size: z.number() })),
});

/** What a job that is done has left in the store. */
export type JobResult = z.infer<typeof resultSchema>;

const manifestKey = (id: string): string => `${jobPrefix(id)}/results.json`;

/** Undefined if the job has no results (yet). */
export async function readResults(store: FileStore, id: string): Promise<JobResult | undefined> {
  const text = await readText(store, manifestKey(id));
  return text === undefined ? undefined : resultSchema.parse(JSON.parse(text));
}

/** Makes this run's files the job's results, unless another run was first: then false, and nothing has changed. */
export const commitResults = (store: FileStore, id: string, result: JobResult): Promise<boolean> =>
  store.putOnce(manifestKey(id), JSON.stringify(result));
