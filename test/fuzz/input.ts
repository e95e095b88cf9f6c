import { createRandom } from "../../src/random.ts";
import { complaint } from "./judge.ts";
import { mutate } from "./mutate.ts";
import type { Reader } from "./readers.ts";

/** What inputs are called. */
export const FILE = "bytes";
/** Processor time for one input [s]: small files that take longer are an attack. */
const SLOW = 3;

interface Place {
  readonly name: string;
  readonly seeds: readonly Uint8Array[];
  readonly seed: number;
  readonly index: number;
}

/** The input with this index: the same for the same random seed, whatever came before it. */
export function inputOf(reader: Reader, { name, seeds, seed, index }: Place): Uint8Array<ArrayBuffer> {
  const random = createRandom(seed).split(name).split(index);
  const bytes = mutate(seeds, random);
  if (random.uniform() < 0.7) reader.repair?.(bytes);
  return bytes;
}

/** Undefined if the reader took the bytes or refused them as it should; else what is wrong. */
export async function runInput(reader: Reader, bytes: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const before = process.cpuUsage();
  let trouble: string | undefined;
  try {
    await reader.read(bytes, FILE);
  } catch (error) {
    trouble = complaint(error, FILE);
  }
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  return trouble ?? (seconds > SLOW ? `took ${seconds.toFixed(1)} s` : undefined);
}
