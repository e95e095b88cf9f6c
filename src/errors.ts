/** What kind of trouble an error is. It decides the command's exit code, the server's status, and whether a job is worth another attempt. */
export type ErrorKind =
  /** The request itself cannot be met: an option, an output folder, an address. */
  | "usage"
  /** The files or numbers given cannot be used. */
  | "input"
  /** Too few frames could be aligned. */
  | "alignment"
  /** Something the files should state is missing. */
  | "metadata"
  /** A limit of the machine or of a worker: time, memory, a device. */
  | "resource";

export interface ErrorInfo {
  readonly kind: ErrorKind;
  /** What to do about it, where that is the same everywhere; else the command, the page and the server each have their own words. */
  readonly remedy?: string;
}

/**
 * Every code an error can carry. Codes are stable: programs may rely on them. A remedy here names no option, button or field; where one
 * has to be named there is none here, and `remedies` asks each face for its own.
 */
export const ERRORS = {
  // Files
  "file-not-found": { kind: "input", remedy: "check the name" },
  "file-unreadable": { kind: "input", remedy: "check that it is a file and its permissions" },
  "bad-file": { kind: "input", remedy: "copy or export the file again, or correct what the message names" },

  // Stacks
  "no-stack": { kind: "input" },
  "several-stacks": { kind: "input", remedy: "open one focal stack at a time" },
  "no-images": { kind: "input", remedy: "put JPEG, HEIC, PNG, TIFF, WebP, AVIF, BMP or raw files directly into the folder" },
  "no-sweep": { kind: "input", remedy: "film one still scene while the focus moves slowly from the nearest thing to the farthest" },
  "video-among-files": { kind: "input", remedy: "give the video alone, or images only" },
  "ffmpeg-missing": {
    kind: "input",
    remedy: "install it: sudo apt install ffmpeg (Debian, Ubuntu), brew install ffmpeg (macOS), winget install ffmpeg (Windows)",
  },
  "single-image": {
    kind: "input",
    remedy: "at least two images of the same scene are needed, better five or more, with the focus moved between them",
  },
  "image-too-small": { kind: "input", remedy: "use larger images" },
  "sizes-differ": { kind: "input", remedy: "remove the image that does not belong, or export all in one size" },
  "folder-among-files": { kind: "input", remedy: "give one folder, or images only" },
  "image-given-twice": { kind: "input", remedy: "name each image once" },
  "listed-image-missing": { kind: "input", remedy: "correct “files” in it" },
  "several-distance-lists": { kind: "input", remedy: "keep one of them" },
  "distance-count": { kind: "input", remedy: "give one focus distance for each image, in the order of their names" },
  "distances-invalid": { kind: "input" },
  "reverse-known-order": { kind: "usage", remedy: "correct the focus distances if they are wrong" },
  "units-mixed": { kind: "input", remedy: "use lengths and dioptres, or one of disparity and index throughout" },
  "distances-missing": { kind: "metadata" },
  "some-distances-missing": { kind: "metadata" },
  "image-not-listed": { kind: "metadata", remedy: "add one, or remove the image" },

  // Alignment
  "too-few-aligned": { kind: "alignment" },
  "bad-alignment-file": { kind: "input" },
  "alignment-mismatch": { kind: "input" },

  // Depth
  "image-too-large": { kind: "input", remedy: "export the images in a smaller size, or crop them" },
  "truth-unusable": { kind: "input" },
  "truth-size-differs": { kind: "input", remedy: "use a truth in the size of the images" },

  // Networks
  "unknown-model": { kind: "input" },
  "no-weights": { kind: "input" },
  "network-unsupported": { kind: "input" },
  "device-unavailable": { kind: "usage" },

  // Datasets, scenes, training
  "no-dataset-folder": { kind: "usage", remedy: "give the folder of the dataset" },
  "bad-dataset": { kind: "input", remedy: "docs/datasets.md shows the layout of each dataset" },
  "bad-scene": { kind: "input", remedy: "the scene.json of any rendered scene shows what a scene looks like" },
  "bad-setting": { kind: "usage", remedy: "correct the setting" },
  diverged: { kind: "input" },

  // What was asked for
  "bad-option": { kind: "usage", remedy: "correct what the message names" },

  // Where results go
  "page-not-built": { kind: "resource", remedy: "install the package again, or run npm run build in its folder" },
  "output-not-empty": { kind: "usage" },
  "output-unusable": { kind: "usage", remedy: "choose another folder" },
  "output-in-use": { kind: "usage" },
  "write-failed": { kind: "usage" },

  // Jobs
  "bad-frame-name": { kind: "input", remedy: "put the images of a stack into one folder, under plain names" },
  "job-files-missing": { kind: "input", remedy: "the job's files were removed while it waited: submit it again" },
  "job-outdated": { kind: "input", remedy: "submit it again" },
  "time-limit": { kind: "resource" },
  "memory-limit": { kind: "resource" },
  "worker-lost": { kind: "resource", remedy: "the workers' logs say why: they were killed, or are short of memory" },
  internal: { kind: "resource" },

  // Queue, store and server
  "bad-redis-address": { kind: "usage", remedy: "it reads redis://host:6379 or rediss://:password@host:6380" },
  "redis-unreachable": { kind: "usage" },
  "bad-tokens": {
    kind: "usage",
    remedy: "a line is a random token, or a name, a token and limits: alice TOKEN jobs=4 megabytes=2000 rate=120",
  },
  "store-insecure": { kind: "usage", remedy: "use an https address, or set DUALFOCUS_S3_ALLOW_HTTP=1 on a network that you trust" },
  "bad-store": { kind: "usage", remedy: "a store is a directory, or s3://bucket/prefix" },
  "store-keys-missing": { kind: "usage", remedy: "set them to the keys of the bucket" },
  "store-in-use": { kind: "usage" },
  "address-unavailable": { kind: "usage" },
} as const satisfies Readonly<Record<string, ErrorInfo>>;

export type ErrorCode = keyof typeof ERRORS;

/** What an error's message is made of, for programs; plain data, so that it survives a queue or a worker's channel. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | readonly (string | number)[]>>;

/** What of an error crosses the border of a process. */
export interface ErrorReport {
  readonly code: ErrorCode;
  /** What is wrong with which file, in words that name no option, button or field. */
  readonly message: string;
  readonly facts: ErrorFacts;
}

/** A failure that the person who asked can do something about. */
export class DualFocusError extends Error implements ErrorReport {
  override readonly name: string = "DualFocusError";
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, { facts = {}, cause }: { readonly facts?: ErrorFacts; readonly cause?: unknown } = {}) {
    super(legible(message), cause === undefined ? undefined : { cause });
    this.code = code;
    this.facts = facts;
  }

  get kind(): ErrorKind {
    return ERRORS[this.code].kind;
  }
}

const LONGEST_MESSAGE = 2000;

/** A file's own words end up in messages: without what steers a terminal, and not without end. */
export function legible(message: string): string {
  const cut = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)} …` : message;
  return cut.replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, (letter) => (letter === "\n" ? letter : "\ufffd"));
}

const MOST_ISSUES = 5;

/** What Zod's `prettifyError` says about a document, on one line, in words for people; not every entry of a list that is wrong throughout. */
export function describeIssues(pretty: string): string {
  const issues = pretty
    .replaceAll(", received undefined", ", but it is missing")
    .split(/^✖ /m)
    .filter((issue) => issue !== "");
  const shown = issues.slice(0, MOST_ISSUES).map((issue) => `✖ ${issue.trim()}`);
  return [...shown, ...(issues.length > MOST_ISSUES ? [`and ${issues.length - MOST_ISSUES} more`] : [])].join(" ").replaceAll("\n", " ");
}

/** What of any error crosses the border of a process; one that nobody foresaw is `internal`. */
export function reportOf(error: unknown): ErrorReport {
  if (error instanceof DualFocusError) return { code: error.code, message: error.message, facts: error.facts };
  return { code: "internal", message: error instanceof Error ? error.message : String(error), facts: {} };
}

/** What to do, as a sentence without a capital or a full stop. */
export type Remedy = string | ((facts: ErrorFacts) => string);

type Shared = { [Code in ErrorCode]: (typeof ERRORS)[Code] extends { remedy: string } ? Code : never }[ErrorCode];

/** What an error says first: drivers go on for lines, which are for those who write kernels. */
export const firstLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split("\n", 1).join("");

/** One face's own words: for every code that has no remedy in `ERRORS`, and for others where it can say more. */
export type OwnRemedies = Readonly<Record<Exclude<ErrorCode, Shared>, Remedy> & Partial<Record<Shared, Remedy>>>;

/** What one face says about an error. */
export function remedies(own: OwnRemedies): (error: Pick<ErrorReport, "code" | "facts">) => string {
  return ({ code, facts }) => {
    const entry: ErrorInfo = ERRORS[code];
    const remedy = (own as Partial<Record<ErrorCode, Remedy>>)[code] ?? entry.remedy ?? "";
    return typeof remedy === "string" ? remedy : remedy(facts);
  };
}
