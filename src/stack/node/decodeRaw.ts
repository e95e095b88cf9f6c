import { fork } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { LibRawModule } from "libraw-wasm/dist/libraw.js";
import { DualFocusError } from "../../errors.ts";
import { childEnvironment } from "../../system/childEnvironment.ts";
import { limitTime, programBeside } from "../../system/childProgram.ts";
import { memoryLeft } from "../../system/processWatch.ts";
import type { RawPixels } from "../../io/libraw.ts";
import { largestRawSize } from "../../io/raw.ts";
import { rawSeconds } from "../rawImage.ts";

/** LibRaw, in this process. It reserves a quarter of a gigabyte. */
export async function loadLibRaw(): Promise<LibRawModule> {
  const { default: createModule } = await import("libraw-wasm/dist/libraw.js");
  const wasmBinary = await readFile(createRequire(import.meta.url).resolve("libraw-wasm/dist/libraw.wasm"));
  return createModule({ wasmBinary, print: () => undefined, printErr: () => undefined });
}

export interface RawOptions {
  /** For messages. */
  readonly file?: string;
  /** For one file. */
  readonly seconds?: number;
  /** The program of the process; for tests. */
  readonly program?: URL;
}

const PROGRAM = programBeside(import.meta.url, "decodeRawMain");

/** Bytes: the address space of WebAssembly. The largest images that the service accepts, 100 megapixels, take 3 GB. */
const MOST_MEMORY = 4 * 2 ** 30;

/** Bytes that developing takes, in all and for each pixel of the sensor. */
const [PROCESS_BYTES, BYTES_PER_PIXEL] = [0.15 * 2 ** 30, 30];

let last: Promise<unknown> = Promise.resolve();

/**
 * Develops a raw file; undefined if LibRaw cannot, or does not come to an end. Each file has a process of its own: after some damaged files
 * LibRaw refused the good ones that followed, or never finished them. One after the other, for the memory they take. Where this process
 * has less left than a file may take, running out of it is an error: with more memory, LibRaw might develop the file.
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
  { file = "a raw file", seconds = rawSeconds(bytes.length), program = PROGRAM }: RawOptions,
): Promise<RawPixels | undefined> {
  const memory = Math.min(MOST_MEMORY, memoryLeft());
  if (memory < MOST_MEMORY) checkMemory(file, bytes, memory);
  const child = fork(program, [String(memory)], {
    stdio: ["pipe", "pipe", "ignore", "ipc"],
    env: childEnvironment(["system"]),
  });
  const time = limitTime(child, seconds);
  try {
    const answer: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => answer.push(chunk));
    child.stdin?.on("error", () => undefined); // it has ended before it has read all
    child.stdin?.end(bytes);
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once("error", reject).once("close", (code, signal) => {
        if (signal === "SIGKILL" && !time.isOver && memory < MOST_MEMORY) reject(outOfMemory(`${file}: developing it took more`, memory));
        else resolve(code);
      }),
    );
    const whole = Buffer.concat(answer.splice(0)); // the largest are 600 MB
    return code === 0 ? pixelsOf(whole) : undefined;
  } finally {
    time.clear();
    child.kill("SIGKILL");
  }
}

/** The sensor's size stands in most files; where it does not, running out of memory shows it. */
function checkMemory(file: string, bytes: Uint8Array, memory: number): void {
  const size = largestRawSize(bytes);
  const needed = size ? PROCESS_BYTES + BYTES_PER_PIXEL * size.width * size.height : 0;
  if (size && needed > memory)
    throw outOfMemory(`${file}: developing ${size.width}×${size.height} pixels takes about ${inGigabytes(needed)} GB, more`, memory);
}

const inGigabytes = (bytes: number): number => Number((bytes / 2 ** 30).toFixed(1));

const outOfMemory = (what: string, memory: number): DualFocusError =>
  new DualFocusError("memory-limit", `${what} than the ${inGigabytes(memory)} GB of memory left`, {
    facts: { gigabytes: inGigabytes(memory) },
  });

function pixelsOf(answer: Buffer): RawPixels | undefined {
  if (answer.length < HEAD_BYTES) return undefined;
  const [width, height, orientation] = [answer.readUInt32LE(0), answer.readUInt32LE(4), answer.readUInt32LE(8)];
  const { buffer } = new Uint8Array(answer.subarray(HEAD_BYTES));
  if (buffer.byteLength !== 6 * width * height) return undefined;
  return { width, height, channels: 3, data: new Uint16Array(buffer), orientation };
}
