import { encodeOne, writeArchive } from "./archive.ts";
import type { EncodeAnswer, EncodeRequest } from "./protocol.ts";

// Encoding a large picture takes seconds, in which the page must stay alive.

const answer = (message: EncodeAnswer): void => {
  postMessage(message, message.kind === "piece" ? { transfer: [message.bytes.buffer] } : {});
};
const piece = (bytes: Uint8Array<ArrayBuffer>): void => {
  answer({ kind: "piece", bytes });
};

async function encode(request: EncodeRequest): Promise<void> {
  if (request.kind === "one") piece(await encodeOne(request.result, request.name));
  else
    await writeArchive(request.input, {
      onChunk: (bytes) => {
        piece(bytes.slice()); // parts of a larger buffer cannot be handed over
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
