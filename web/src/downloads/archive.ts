import { Zip, ZipDeflate, ZipPassThrough } from "fflate";

import { availableOutputs, encodeOutputs, OUTPUT_FILES } from "../../../src/output/outputs.ts";
import type { OutputName, OutputOptions } from "../../../src/output/outputs.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { encodeResultJson } from "../../../src/output/resultJson.ts";
import type { ViewResult } from "../contract.ts";

/** The content of a zip. */
export interface ArchiveInput extends Pick<ViewResult, "result" | "summary" | "alignmentJson"> {
  /** result.html; absent if the result has no image to show. */
  readonly page?: Uint8Array;
  readonly options?: OutputOptions;
}

export interface ArchiveListener {
  /** The next bytes of the zip. */
  readonly onChunk: (bytes: Uint8Array<ArrayBuffer>) => void;
  /** From 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/** Writes every output that the result has data for, result.html, alignment.json and result.json; only one is in memory at a time. */
export async function writeArchive(
  { result, summary, alignmentJson, page, options = {} }: ArchiveInput,
  { onChunk, onProgress }: ArchiveListener,
): Promise<void> {
  const failures: Error[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) failures.push(error);
    else onChunk(chunk);
  });
  const add = (file: string, bytes: Uint8Array): void => {
    const entry = /\.(png|jpg|glb|exr)$/.test(file) ? new ZipPassThrough(file) : new ZipDeflate(file, { level: 6 }); // these formats are already compressed
    zip.add(entry);
    entry.push(bytes, true);
  };
  const names = availableOutputs(result);
  const files: Record<string, string> = {};
  const encoding: Record<string, object> = {};
  if (page) {
    add("result.html", page);
    files["html"] = "result.html";
  }
  for (const [done, name] of names.entries()) {
    for await (const output of encodeOutputs(result, [name], options)) {
      add(output.file, output.bytes);
      files[name] = output.file;
      encoding[name] = output.encoding;
    }
    onProgress((done + 1) / names.length);
  }
  if (alignmentJson !== undefined) {
    add("alignment.json", new TextEncoder().encode(alignmentJson));
    files["alignment"] = "alignment.json";
  }
  add("result.json", encodeResultJson({ ...summary, files, encoding }));
  zip.end();
  if (failures[0]) throw failures[0];
}

/** One output as the bytes of its file. */
export async function encodeOne(result: DepthResult, name: OutputName, options: OutputOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
  for await (const { bytes } of encodeOutputs(result, [name], options)) return bytes as Uint8Array<ArrayBuffer>;
  throw new Error(
    `${OUTPUT_FILES[name]}: no three neighbouring pixels have a depth that is certain enough, so there is no surface to save`,
  );
}
