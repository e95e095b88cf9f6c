import { encodeGif, type GifOptions } from "../../../src/io/gif.ts";
import type { OutputName, OutputOptions } from "../../../src/output/outputs.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { encodeOne, writeArchive, type ArchiveInput } from "./archive.ts";

// Encoding a large result takes seconds; a worker keeps the page responsive.

/** The one request a worker gets. */
export type EncodeRequest =
  | { readonly kind: "one"; readonly name: OutputName; readonly result: DepthResult; readonly options: OutputOptions }
  | { readonly kind: "all"; readonly input: ArchiveInput }
  | { readonly kind: "gif"; readonly frames: readonly Uint8ClampedArray[]; readonly options: GifOptions };

/** The worker's answers: pieces in order, then `done`; or `failed`. */
export type EncodeAnswer =
  | { readonly kind: "piece"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "progress"; readonly share: number }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly message: string };

const answer = (message: EncodeAnswer): void => {
  postMessage(message, message.kind === "piece" ? { transfer: [message.bytes.buffer] } : {});
};
const piece = (bytes: Uint8Array<ArrayBuffer>): void => {
  answer({ kind: "piece", bytes });
};

async function encode(request: EncodeRequest): Promise<void> {
  if (request.kind === "one") piece(await encodeOne(request.result, request.name, request.options));
  else if (request.kind === "gif") piece(encodeGif(request.frames, request.options));
  else
    await writeArchive(request.input, {
      onChunk: (bytes) => {
        piece(bytes.slice()); // a part of a larger buffer cannot be transferred
      },
      onProgress: (share) => {
        answer({ kind: "progress", share });
      },
    });
}

addEventListener("message", ({ data }: MessageEvent<EncodeRequest>) => {
  encode(data).then(
    () => {
      answer({ kind: "done" });
    },
    (error: unknown) => {
      answer({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    },
  );
});
