import { createHash } from "node:crypto";
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ImageMetrics, METRIC_NAMES } from "./imageMetrics.ts";

/** One model's result on one image. */
export interface ImageResult {
  /** Index of the image in the set. */
  readonly index: number;
  readonly name: string;
  readonly planes: number;
  readonly metrics: ImageMetrics;
  /** Of the prediction alone. */
  readonly seconds: number;
}

/** What the results of a set depend on, besides the images. Results of an earlier run are used only if this is the same. */
export interface RunIdentity {
  readonly dataset: string;
  readonly data: string;
  readonly split: string;
  readonly protocol: string;
  /** As requested; left out: the protocol's number, or all planes of each stack. */
  readonly planes?: number | undefined;
  readonly model: string;
  readonly fingerprint: string;
  /** Of this package. */
  readonly version: string;
}

/** Results by the mark of their image (`Dataset.mark`), which changes with the image. */
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
 * Results as JSON lines in a file of `folder`, named after what they depend on: a header, then one line per image, each written as soon as
 * it is known. An incomplete line, left by a run that was killed, is ignored.
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

/** JSON has no NaN: null stands for an undefined metric. */
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
