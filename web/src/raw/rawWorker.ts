// A worker of its own for LibRaw: its bindings compile functions from text, which only this script's content security policy allows, and its
// memory, a quarter of a gigabyte, goes with it.
import type createLibRaw from "libraw-wasm/dist/libraw.js";
import type { LibRawModule } from "libraw-wasm/dist/libraw.js";

import { developRaw } from "../../../src/io/libraw.ts";
import type { RawReply, RawRequest } from "./rawProtocol.ts";

interface WorkerScope {
  postMessage(reply: RawReply, transfer?: Transferable[]): void;
  addEventListener(kind: "message", listener: (event: { readonly data: RawRequest }) => void): void;
}
const scope = self as unknown as WorkerScope;

async function load(): Promise<LibRawModule> {
  const script = new URL("./libraw.js", import.meta.url).href;
  const { default: createModule } = (await import(script)) as { readonly default: typeof createLibRaw };
  return createModule({ print: () => undefined, printErr: () => undefined });
}

let module: Promise<LibRawModule> | undefined;

scope.addEventListener("message", ({ data: { bytes } }) => {
  module ??= load();
  module.then(
    (libraw) => {
      const pixels = developRaw(bytes, libraw);
      if (!pixels) module = undefined; // a damaged file may have left damage for the next one
      scope.postMessage({ pixels }, pixels ? [pixels.data.buffer as ArrayBuffer] : []);
    },
    (error: unknown) => {
      module = undefined;
      scope.postMessage({ failure: error instanceof Error ? error.message : String(error) });
    },
  );
});
