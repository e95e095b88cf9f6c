import { createHash } from "node:crypto";
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ImageMetrics, METRIC_NAMES } from "./imageMetrics.ts";

/** One model's result on one image. */
export interface ImageResult {
  /** Where the image stands in the set. */
  readonly index: number;
  readonly name: string;
  readonly planes: number;
  readonly metrics: ImageMetrics;
  /** Of the prediction alone. */
  readonly seconds: number;
}

/** All that the results of a set depend on, but the images themselves; those of another run count only when it is the same. */
export interface RunIdentity {
  readonly dataset: string;
  readonly data: string;
  readonly split: string;
  readonly protocol: string;
  /** As asked for; left out: the protocol's, or all of each stack. */
  readonly planes?: number | undefined;
  readonly model: string;
  readonly fingerprint: string;
  /** Of this package. */
  readonly version: string;
}

/** Results as they are found, kept or not, by the mark of their image (`Dataset.mark`): the set may have changed since. */
export interface ResultStore {
  readonly done: ReadonlyMap<string, ImageResult>;
  add(mark: string, result: ImageResult): Promise<void>;
}

export function memoryStore(): ResultStore {
  const done = new Map<string, ImageResult>();
  return {
    done,
    add: (mark, result) => {
      done.set(mark, result);
      return Promise.resolve();
    },
  };
}

/**
 * Results as JSON lines in a file of `folder`, named after what they depend on: the run, then one image a line, each written as soon as
 * it is known. A line that a killed run left unfinished is passed over.
 */
export async function fileStore(folder: string, identity: RunIdentity): Promise<ResultStore> {
  await mkdir(folder, { recursive: true });
  const head = JSON.stringify({ ...identity, metrics: METRIC_NAMES });
  const mark = createHash("sha256").update(head).digest("hex").slice(0, 12);
  const file = join(folder, `${identity.dataset}-${basename(identity.model).replace(/[^\w.-]+/g, "_")}-${mark}.jsonl`);
  const text = await readText(file);
  if (text === "") await appendFile(file, `${head}\n`);
  else if (!text.endsWith("\n")) await appendFile(file, "\n");
  const done = new Map(text.split("\n").slice(1).flatMap(parseLine));
  return {
    done,
    async add(mark, result) {
      await appendFile(file, `${JSON.stringify({ mark, ...result })}\n`);
      done.set(mark, result);
    },
  };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** JSON has no NaN: what is null was not defined. */
function parseLine(line: string): [string, ImageResult][] {
  let written: Omit<ImageResult, "metrics"> & { readonly mark: string; readonly metrics: Readonly<Record<string, number | null>> };
  try {
    written = JSON.parse(line) as typeof written;
  } catch {
    return [];
  }
  const { mark, ...result } = written;
  const metrics = Object.fromEntries(METRIC_NAMES.map((name) => [name, result.metrics[name] ?? NaN])) as unknown as ImageMetrics;
  return [[mark, { ...result, metrics }]];
}
