import { setImmediate } from "node:timers/promises";
import type { Tensor } from "../../engine/engine.ts";
import { keep, scope } from "../../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../../engine/torch/torchEngine.ts";
import { ConfigError } from "../config.ts";

/** A focal stack, or one sharp picture that is blurred on the device, on its way there. */
export interface HostStack {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** One a plane, or the sharp picture alone: interleaved RGB, bytes or values in [0, 1]. */
  readonly pictures: readonly (Uint8Array | Float32Array)[];
  /** 0 where unknown. */
  readonly depth: Float32Array;
  /** 1 where the depth is known; left out where 0 says it. */
  readonly valid?: Uint8Array;
  /** Of each plane; of a sharp picture the nearest and the farthest. */
  readonly focus: readonly number[];
}

/** What the host keeps of a stack that is on the device. */
export type HeldStack = Omit<HostStack, "pictures" | "depth">;

/** Stacks on the device, decoded: pixel rows of all pictures one after another. */
export interface HeldStacks {
  /** How many are held; fewer than the set has where they roll. */
  readonly size: number;
  /** Of the device's memory, as the first stack has it. */
  readonly bytes: number;
  /** Whether only a part of the set is held at a time, in slots that are refilled as training goes on. */
  readonly rolling: boolean;
  /** Pictures of each stack. */
  readonly pictures: number;
  /** u8 or f32 [size · pictures · stride, 3]. */
  readonly pixels: Tensor;
  /** f32 [size · stride]. */
  readonly depth: Tensor;
  /** u8 [size · stride]. */
  readonly valid: Tensor;
  /** Pixels from one picture to the next. */
  readonly stride: number;
  at(slot: number): HeldStack;
  /** Brings the slots to how they stand before `step`. */
  advance(step: number, stop?: AbortSignal): Promise<void>;
  /** Frees the device's memory. */
  dispose(): void;
}

export interface HoldOptions {
  /** How many stacks the set has. */
  readonly count: number;
  /** Stack `index` of the set; called as seldom as memory allows. */
  readonly read: (index: number) => Promise<HostStack>;
  /** Which stack of the set comes at a place of the endless stream that refills the slots. */
  readonly order: (place: number) => number;
  /** Refused before anything is trained. */
  readonly check: (stack: HostStack) => void;
  /** Bytes of the device's memory for the set. */
  readonly budget: number;
  /** Fewest stacks that will do, and what to change where fewer fit. */
  readonly least: number;
  readonly remedy: string;
  readonly progress: (line: string) => void;
}

/** Steps after which a rolling set replaces one stack: decoding must not keep the device waiting. */
const REFILL_EVERY = 8;

/** Stacks that are read at a time. */
const READ_AHEAD = 4;

/**
 * Reads a set once and holds it on the device. What does not fit rolls through: slot i holds the stacks at places i, i + size, … of the
 * stream, so what is held follows from the step alone.
 */
export async function holdStacks(engine: TorchEngine, options: HoldOptions): Promise<HeldStacks> {
  const { count, read, order, check, budget, least, remedy, progress } = options;
  const first = await read(order(0));
  const size = Math.min(count, Math.floor(budget / bytesOf(first)));
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(bytes < 1e9 ? 3 : 1)} GB`;
  if (size < Math.min(count, least))
    throw new ConfigError(
      `only ${size} of ${count} stacks fit into ${gigabytes(budget)} of the device's memory, ${Math.min(count, least)} are needed ` +
        `(${first.name} takes ${gigabytes(bytesOf(first))}): ${remedy}`,
    );
  const rolling = size < count;
  if (rolling) progress(`${size} of ${count} stacks fit into ${gigabytes(budget)} of the device's memory: they roll through it`);
  const store = createStore(engine, { size, like: first });
  const held: HeldStack[] = [];
  const put = (slot: number, stack: HostStack): void => {
    check(stack);
    if (stack.pictures.length !== first.pictures.length)
      throw new ConfigError(`${stack.name} has ${stack.pictures.length} planes, ${first.name} has ${first.pictures.length}`);
    store.write(slot, stack);
    const { name, width, height, valid, focus } = stack;
    held[slot] = { name, width, height, focus, ...(valid && { valid }) };
  };
  const ahead = new Map<number, Promise<HostStack>>(); // decoders have threads of their own, so the next ones are read meanwhile
  const startReading = (place: number): Promise<HostStack> => {
    const stack = ahead.get(place) ?? read(rolling ? order(place) : place);
    stack.catch(() => undefined); // a failure ahead of time is reported when its place is asked for
    ahead.set(place, stack);
    return stack;
  };
  const take = (place: number): Promise<HostStack> => {
    const stack = startReading(place);
    ahead.delete(place);
    return stack;
  };
  let made = 0; // places 0 to made − 1 have been held, the last `size` of them still are
  return {
    size,
    bytes: size * bytesOf(first),
    rolling,
    pictures: first.pictures.length,
    get pixels() {
      return store.tensors().pixels;
    },
    get depth() {
      return store.tensors().depth;
    },
    get valid() {
      return store.tensors().valid;
    },
    get stride() {
      return store.tensors().stride;
    },
    at: (slot) => held[slot] as HeldStack,
    async advance(step, stop) {
      const wanted = rolling ? size + Math.floor(step / REFILL_EVERY) : size;
      for (let place = Math.max(made, wanted - size); place < wanted; place++) {
        stop?.throwIfAborted();
        for (let next = place; next < Math.min(place + READ_AHEAD, wanted); next++) void startReading(next);
        put(place % size, await take(place));
        if (made === 0 && size >= 100 && (place + 1) % Math.ceil(size / 5) === 0) progress(`read ${place + 1} of ${size} stacks`);
        await setImmediate(); // signals arrive only when the event loop turns
      }
      made = wanted;
      if (rolling) void startReading(made);
    },
    dispose: () => {
      store.dispose();
    },
  };
}

const bytesOf = ({ width, height, pictures }: HostStack): number =>
  width * height * (5 + 3 * pictures.reduce((sum, pixels) => sum + pixels.BYTES_PER_ELEMENT, 0));

/** Slots of equal size for stacks that need not be; they grow when a larger stack, or one of more than 8 bits, comes. */
function createStore(engine: TorchEngine, { size, like }: { size: number; like: HostStack }) {
  const pictures = like.pictures.length;
  const zeros = (shape: readonly number[], dtype: "u8" | "f32"): TorchTensor =>
    keep(engine.compute("aten::zeros", shape, dtype, null, engine.device));
  const make = (stride: number, dtype: "u8" | "f32") => ({
    stride,
    pixels: zeros([size * pictures * stride, 3], dtype),
    depth: zeros([size * stride], "f32"),
    valid: zeros([size * stride], "u8"),
  });
  let tensors = make(like.width * like.height, like.pictures[0] instanceof Uint8Array ? "u8" : "f32");

  const grow = (stride: number, dtype: "u8" | "f32"): void => {
    const before = tensors;
    tensors = make(stride, dtype);
    scope(() => {
      const rows = (tensor: Tensor, pixels: number): Tensor => tensor.reshape([-1, pixels, ...tensor.shape.slice(1)]);
      const move = (to: Tensor, from: Tensor): void => {
        engine.copy(rows(to, stride).slice(1, { end: before.stride }), rows(from, before.stride));
      };
      move(tensors.pixels, before.pixels.dtype === dtype ? before.pixels : before.pixels.cast("f32").mul(1 / 255));
      move(tensors.depth, before.depth);
      move(tensors.valid, before.valid);
    });
    release(before);
  };
  const release = ({ pixels, depth, valid }: typeof tensors): void => {
    for (const tensor of [pixels, depth, valid]) tensor.dispose();
  };
  const write = (slot: number, { width, height, pictures: all, depth, valid }: HostStack): void => {
    const pixels = width * height;
    const deep = all.some((values) => values instanceof Float32Array);
    const dtype = deep || tensors.pixels.dtype === "f32" ? "f32" : "u8";
    if (pixels > tensors.stride || dtype !== tensors.pixels.dtype) grow(Math.max(pixels, tensors.stride), dtype);
    const { stride } = tensors;
    scope(() => {
      const into = (tensor: Tensor, start: number, from: Tensor): void => {
        engine.copy(tensor.slice(0, { start, end: start + pixels }), from);
      };
      for (const [n, values] of all.entries()) {
        const own = engine.constant(values, { shape: [pixels, 3], dtype: values instanceof Uint8Array ? "u8" : "f32" });
        const same = own.dtype === dtype ? own : own.cast("f32").mul(1 / 255);
        into(tensors.pixels, (slot * pictures + n) * stride, same);
      }
      const known = valid ?? Uint8Array.from(depth, (value) => Number(value !== 0));
      into(tensors.depth, slot * stride, engine.constant(depth, { shape: [pixels] }));
      into(tensors.valid, slot * stride, engine.constant(known, { shape: [pixels], dtype: "u8" }));
    });
  };
  return {
    tensors: () => tensors,
    write,
    dispose: () => {
      release(tensors);
    },
  };
}
