import type { OutputName } from "../../../src/output/outputs.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import type { ArchiveInput } from "./archive.ts";

/** What the page asks of the worker: one thing in a worker's life. */
export type EncodeRequest =
  | { readonly kind: "one"; readonly name: OutputName; readonly result: DepthResult }
  | { readonly kind: "all"; readonly input: ArchiveInput };

/** What the worker answers: pieces in order, then `done`; or `failed`. */
export type EncodeAnswer =
  | { readonly kind: "piece"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "progress"; readonly share: number }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly message: string };
