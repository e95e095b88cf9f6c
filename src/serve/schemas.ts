import { z } from "zod";

import type { ErrorReport } from "../errors.ts";
import { depthSettings } from "../depth/settings.ts";
import { OUTPUT_NAMES } from "../output/outputs.ts";
import type { FileStore } from "../queue/store.ts";
import { readResults } from "../queue/results.ts";
import { JOB_STATES, type JobStatus, type TenantUsage } from "../queue/queue.ts";
import { ERROR_CODES } from "./problem.ts";
import type { Tenant } from "./tenants.ts";
import { remedyOf } from "./words.ts";

/** What can be asked for by name: the outputs, the alignment that was used, and the document that describes them. */
export const RESULT_NAMES = [...OUTPUT_NAMES, "alignment", "result"] as const;
export type ResultName = (typeof RESULT_NAMES)[number];

/** By the ending of the result's file. */
export const CONTENT_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  tif: "image/tiff",
  exr: "image/x-exr",
  npy: "application/octet-stream",
  ply: "application/octet-stream",
  glb: "model/gltf-binary",
  json: "application/json",
};

export const contentType = (file: string): string => CONTENT_TYPES[file.split(".").at(-1) ?? ""] ?? "application/octet-stream";

const time = z.iso.datetime();

const resultSchema = z
  .object({
    name: z.enum(RESULT_NAMES),
    file: z.string().describe("a name to save it under"),
    type: z.string().describe("its media type"),
    bytes: z.int(),
    href: z.string().describe("where to get it"),
  })
  .meta({ id: "Result" });

export const jobView = z
  .object({
    id: z.string(),
    state: z.enum(JOB_STATES),
    progress: z
      .object({ stage: z.string().describe("what is being done"), done: z.int(), of: z.int() })
      .optional()
      .describe("how far the present stage is"),
    error: z
      .object({ code: z.enum(ERROR_CODES).describe("stable, for programs"), message: z.string(), remedy: z.string() })
      .optional()
      .describe("why it failed and what to do about it"),
    attempts: z.int().describe("how often it was started"),
    submittedAt: time,
    startedAt: time.optional(),
    endedAt: time.optional(),
    results: z.array(resultSchema).optional().describe("what can be fetched, once the job is done"),
    links: z.object({ self: z.string(), events: z.string() }),
  })
  .meta({ id: "Job", description: "A stack on its way to a depth map" });

export type JobView = z.infer<typeof jobView>;

/** The parts of a request for depth. */
export const depthForm = z.object({
  frames: z
    .array(z.any().meta({ type: "string", format: "binary" }))
    .min(1)
    .describe(
      "the images in their order: JPEG, HEIC, PNG, TIFF, WebP, AVIF, BMP or raw files (DNG, CR2, CR3, NEF, ARW, RAF, ORF …), or one multi-page TIFF. Their names are ignored.",
    ),
  options: depthSettings.meta({ id: "DepthOptions", description: "JSON; each of its fields may be left out" }).optional(),
});

export const healthView = z
  .object({
    live: z.literal(true),
    ready: z.boolean().describe("whether a job sent now would be computed"),
    version: z.string(),
    reason: z.string().optional().describe("why not"),
  })
  .meta({ id: "Health" });

export const quotaView = z
  .object({
    tenant: z.string().describe("the name of the token"),
    jobs: z.object({ used: z.int(), limit: z.int().optional() }).describe("that wait or run"),
    bytes: z.object({ used: z.int(), limit: z.int().optional() }).describe("of the images of all jobs that are kept"),
    requestsPerMinute: z.object({ limit: z.int().optional() }),
  })
  .meta({ id: "Quota", description: "Where there is no limit, none is named" });

/** What went wrong inside is for the log: it may reveal something of the machine. */
const describeError = (error: ErrorReport): NonNullable<JobView["error"]> => ({
  code: error.code,
  message: error.code === "internal" ? "the server failed to compute it" : error.message,
  remedy: remedyOf(error),
});

/** What a tenant sees of its quota. */
export function describeQuota({ name, quota }: Tenant, { jobs, bytes }: TenantUsage): z.infer<typeof quotaView> {
  const limit = (most: number): { limit?: number } => (most === Infinity ? {} : { limit: most });
  return {
    tenant: name,
    jobs: { used: jobs, ...limit(quota.jobs) },
    bytes: { used: bytes, ...limit(quota.bytes) },
    requestsPerMinute: limit(quota.requestsPerMinute),
  };
}

/** What a client sees of a job. */
export async function describeJob(status: JobStatus, store: FileStore): Promise<JobView> {
  const { id, state, progress, error, attempts, submittedAt, startedAt, endedAt } = status;
  const self = `/v1/jobs/${id}`;
  const found = state === "done" ? await readResults(store, id) : undefined;
  const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();
  return {
    id,
    state,
    ...(progress ? { progress } : {}),
    ...(error ? { error: describeError(error) } : {}),
    attempts,
    submittedAt: iso(submittedAt),
    ...(startedAt === undefined ? {} : { startedAt: iso(startedAt) }),
    ...(endedAt === undefined ? {} : { endedAt: iso(endedAt) }),
    ...(found ? { results: RESULT_NAMES.flatMap((name) => describeResult(name, { self, entry: found.files[name] })) } : {}),
    links: { self, events: `${self}/events` },
  };
}

type Entry = { readonly file: string; readonly size: number };

function describeResult(name: ResultName, { self, entry }: { self: string; entry: Entry | undefined }): NonNullable<JobView["results"]> {
  if (!entry) return [];
  return [{ name, file: entry.file, type: contentType(entry.file), bytes: entry.size, href: `${self}/results/${name}` }];
}
