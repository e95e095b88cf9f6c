import { fork } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { LibRawModule } from "libraw-wasm/dist/libraw.js";
import { childEnvironment } from "../../system/childEnvironment.ts";
import type { RawPixels } from "../../io/libraw.ts";
import { rawSeconds } from "../rawImage.ts";

/** LibRaw, in this process. It reserves a quarter of a gigabyte. */
export async function loadLibRaw(): Promise<LibRawModule> {
  const { default: createModule } = await import("libraw-wasm/dist/libraw.js");
  const wasmBinary = await readFile(createRequire(import.meta.url).resolve("libraw-wasm/dist/libraw.wasm"));
  return createModule({ wasmBinary, print: () => undefined, printErr: () => undefined });
}

export interface RawOptions {
  /** For one file. */
  readonly seconds?: number;
  /** The program of the process; for tests. */
  readonly program?: URL;
}

const PROGRAM = new URL(import.meta.url.endsWith(".ts") ? "./decodeRawMain.ts" : "./decodeRawMain.js", import.meta.url);

let last: Promise<unknown> = Promise.resolve();

/**
 * Develops a raw file; undefined if LibRaw cannot, or does not come to an end. Each file has a process of its own: after some damaged files
 * LibRaw refused the good ones that followed, or never finished them. One after the other, for the memory they take.
 */
export function decodeRaw(bytes: Uint8Array, options: RawOptions = {}): Promise<RawPixels | undefined> {
  const developed = last.then(() => develop(bytes, options));
  last = developed.catch(() => undefined);
  return developed;
}

/** The process answers with a head of this length (width, height, orientation), then the pixels; or with nothing. */
export const HEAD_BYTES = 16;

async function develop(
  bytes: Uint8Array,
  { seconds = rawSeconds(bytes.length), program = PROGRAM }: RawOptions,
): Promise<RawPixels | undefined> {
  const child = fork(fileURLToPath(program), { stdio: ["pipe", "pipe", "ignore", "ipc"], env: childEnvironment(["system"]) });
  const timer = setTimeout(() => child.kill("SIGKILL"), 1000 * seconds);
  try {
    const answer: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => answer.push(chunk));
    child.stdin?.on("error", () => undefined); // it has ended before it has read all
    child.stdin?.end(bytes);
    const code = await new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
    const whole = Buffer.concat(answer.splice(0)); // the largest are 600 MB
    return code === 0 ? pixelsOf(whole) : undefined;
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
}

function pixelsOf(answer: Buffer): RawPixels | undefined {
  if (answer.length < HEAD_BYTES) return undefined;
  const [width, height, orientation] = [answer.readUInt32LE(0), answer.readUInt32LE(4), answer.readUInt32LE(8)];
  const { buffer } = new Uint8Array(answer.subarray(HEAD_BYTES));
  if (buffer.byteLength !== 6 * width * height) return undefined;
  return { width, height, channels: 3, data: new Uint16Array(buffer), orientation };
}
