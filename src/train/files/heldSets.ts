import { DatasetError } from "../../data/dataset.ts";
import { isHeldOut } from "../../data/nyuHoldOut.ts";
import { openPairs, type PairSetName } from "../../data/pairs.ts";
import type { PairSet, StoredPair } from "../../data/pairSet.ts";
import { presetCamera } from "../../optics/synthesize/cameras.ts";
import type { Camera } from "../../stack/stackFormat.ts";
import { ConfigError, type BatchConfig, type TrainConfig } from "../config.ts";
import type { HostStack } from "./heldStacks.ts";
import { openStackSets } from "./stackSets.ts";

export type FileData = Exclude<TrainConfig["data"], { kind: "render" }>;
export type StackKind = Exclude<FileData["kind"], PairSetName>;

/** One part of a set, by index. */
export interface SetReader {
  readonly count: number;
  read(index: number): Promise<HostStack>;
}

/** What there is on disk to train and to validate on. */
export interface HeldSets {
  readonly train: SetReader;
  readonly validation: SetReader;
  /** The batch as far as the stacks allow it. */
  readonly batch: BatchConfig;
  /** The lens that blurs the pictures of an RGB-D set. */
  readonly camera?: Camera;
  /** Depth and focus distances of these stacks are still to be multiplied by this. */
  readonly unit: number;
  /** There is but one stack, so validation is on what is trained on. */
  readonly isShared: boolean;
  close(): void;
}

export interface SetRequest {
  readonly batch: BatchConfig;
  readonly data: FileData;
  readonly dir: string;
  readonly progress: (line: string) => void;
}

export async function openHeldSets(request: SetRequest): Promise<HeldSets> {
  const { data } = request;
  if (data.kind === "nyu" || data.kind === "arkit" || data.kind === "pairs") return openPairSets(data.kind, request);
  return openStackSets(data.kind, request);
}

/** The hold-out of NYU where its pictures are among those to train on, else the set's own validation pictures, else every tenth. */
async function openPairSets(kind: PairSetName, { batch, data, dir }: SetRequest): Promise<HeldSets> {
  const all = await openPairs(kind, dir, { split: "train" });
  const indices = all.names.map((_, i) => i);
  const held = indices.filter((i) => kind === "nyu" && isHeldOut(all.names[i] as string));
  const others = held.length > 0 || kind === "pairs" ? undefined : await openPairs(kind, dir, { split: kind === "nyu" ? "test" : "val" });
  const { train, validation } = held.length > 0 ? { train: indices.filter((i) => !held.includes(i)), validation: held } : holdOut(indices);
  if (train.length === 0) throw new DatasetError(`${dir}: every picture belongs to the hold-out, none is left to train on`);
  return {
    batch,
    train: pairReader(all, others ? indices : train),
    validation: others ? pairReader(others, [...others.names.keys()]) : pairReader(all, validation),
    camera: presetCamera(all.camera, { width: 0, height: 0 }), // neither lens depends on the picture's size
    unit: data.depthScale,
    isShared: others === undefined && indices.length < 2,
    close: () => {
      all.close();
      others?.close();
    },
  };
}

const pairReader = (set: PairSet, indices: readonly number[]): SetReader => ({
  count: indices.length,
  read: async (index) => fromPair(await set.stored(indices[index] as number)),
});

/** Refuses a pair that no focus distances follow from. */
function fromPair({ name, where, width, height, pixels, depth }: StoredPair): HostStack {
  let [near, far] = [Infinity, 0];
  for (const metres of depth)
    if (metres > 0) {
      near = Math.min(near, metres);
      far = Math.max(far, metres);
    }
  const remedy = "leave the pair out of the set";
  if (far === 0) throw new DatasetError(`${where}: no pixel of the depth is valid; ${remedy}`);
  if (far === near) throw new DatasetError(`${where}: the depth is ${near} m everywhere, so no focus distances follow from it; ${remedy}`);
  return { name, width, height, pictures: [pixels], depth, focus: [near, far] };
}

/** Every tenth stack, or the last of fewer than ten, is for validation alone; a single stack has to serve both. */
export function holdOut<T>(stacks: readonly T[]): { train: readonly T[]; validation: readonly T[] } {
  if (stacks.length < 2) return { train: stacks, validation: stacks };
  const isHeld = (i: number): boolean => i % 10 === 9 || (stacks.length < 10 && i === stacks.length - 1);
  return { train: stacks.filter((_, i) => !isHeld(i)), validation: stacks.filter((_, i) => isHeld(i)) };
}

/** Refuses a picture that the crop does not fit into. */
export function checkCrop(
  { name, width, height }: Pick<HostStack, "name" | "width" | "height">,
  { batch: { crop }, data: { kind } }: Pick<TrainConfig, "batch" | "data">,
): void {
  if (Math.min(width, height) < crop)
    throw new ConfigError(
      `batch.crop (${crop}) is larger than ${name} of the ${kind} data, ${width}×${height}: lower batch.crop, or leave the picture out`,
    );
}

/** What the user should know about the sets before the first step. */
export function describeSets({ train, validation, isShared, batch: { size } }: HeldSets): string[] {
  return [
    `stacks: ${train.count} to train on, ${validation.count} to validate on`,
    ...(isShared ? ["there is only one stack: validation is on the stack trained on"] : []),
    ...(train.count < size ? [`fewer stacks than a batch of ${size}: it holds some more than once`] : []),
  ];
}
