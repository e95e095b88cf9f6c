import { MODULE } from "./bytes.ts";

type Kernel = (...values: number[]) => number;

/** The functions of native/simd/kernels.ts, which describes their arguments: addresses in the workspace, counts and factors. */
export type Kernels = Readonly<
  Record<
    | "resampleRow"
    | "mixRows"
    | "lookUpRow"
    | "reduceRow"
    | "mixFive"
    | "mixThree"
    | "addExpandedRow"
    | "energies"
    | "mixTwo"
    | "stretchRow"
    | "boxMean"
    | "addScaled"
    | "maxInto"
    | "filterRow"
    | "chooseRow"
    | "findStronger"
    | "scaleBytes"
    | "scaleShorts"
    | "samplePoints"
    | "comparePoints"
    | "accumulatePoints"
    | "bandEnergy"
    | "divideByRoot"
    | "halveRow"
    | "squaredDifferences"
    | "extendRange"
    | "squareError"
    | "rootOfShare"
    | "addCurve"
    | "planeMoments"
    | "depthOfPlanes"
    | "deviations"
    | "weighDistances"
    | "addLuma"
    | "splitPixels"
    | "blockEnergies"
    | "cellLight",
    Kernel
  >
>;

/** Numbers of the workspace begin at multiples of this many bytes; kernels may read as many beyond the last one. */
const STEP = 16;
const PAGE = 65536;
/** Bytes that are kept. WebAssembly's memory never shrinks: one that has grown beyond them is replaced once it has been idle. */
const SMALL = 16 * 2 ** 20;
/** Milliseconds: longer than a run waits for its next image. */
const IDLE = 10_000;

/**
 * The memory of the SIMD kernels: a stack. What is taken inside `scoped` is freed at its end; there are no promises in between. WebAssembly
 * can be compiled at once because the module is small; on a page's main thread old browsers allow that for 4 kB only, workers have no limit.
 */
function createWorkspace(): Workspace {
  const memory = new WebAssembly.Memory({ initial: 16 });
  const bytes = Uint8Array.from(atob(MODULE), (letter) => letter.charCodeAt(0));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  let [top, depth] = [STEP, 0];
  let [uses, isWatched] = [0, false];
  /** Forgets this workspace after some time without a use; the next use makes another one. */
  const releaseWhenIdle = (seen = uses): void => {
    isWatched = true;
    const timer: unknown = setTimeout(() => {
      isWatched = false;
      if (uses !== seen) releaseWhenIdle();
      else if (shared === own) shared = undefined;
    }, IDLE);
    if (timer instanceof Object) (timer as NodeJS.Timeout).unref(); // Node would wait for it
  };
  const grow = (pages: number): void => {
    try {
      memory.grow(pages);
    } catch (cause) {
      throw new RangeError("out of memory: no room for another image of this size", { cause }); // the engine's own words do not say so
    }
  };
  const takeBytes = (length: number): number => {
    if (depth === 0) throw new Error("workspace: take is called inside scoped");
    const address = top;
    top += Math.ceil(length / STEP) * STEP;
    const missing = top + STEP - memory.buffer.byteLength;
    if (missing > 0) grow(Math.ceil(missing / PAGE));
    return address;
  };
  const view = (address: number, length: number): Float32Array => new Float32Array(memory.buffer, address, length);
  let whole = new Float32Array(memory.buffer);
  const own: Workspace = {
    kernels: exports as unknown as Kernels,
    view,
    heap: () => (whole.buffer === memory.buffer ? whole : (whole = new Float32Array(memory.buffer))),
    bytes: (address, length) => new Uint8Array(memory.buffer, address, length),
    doubles: (address, length) => new Float64Array(memory.buffer, address, length),
    take: (length) => takeBytes(4 * length),
    put(values) {
      const address = takeBytes(values.byteLength);
      const Target = values instanceof Float32Array ? Float32Array : values instanceof Float64Array ? Float64Array : Uint32Array;
      new Target(memory.buffer, address, values.length).set(values);
      return address;
    },
    scoped(body) {
      const [before, other] = [top, shared];
      shared = own; // for all inside, also if it was forgotten since its user got it
      depth += 1;
      try {
        return body();
      } finally {
        depth -= 1;
        top = before;
        shared = other ?? own;
        uses += 1;
        if (depth === 0 && !isWatched && memory.buffer.byteLength > SMALL) releaseWhenIdle();
      }
    },
  };
  return own;
}

export interface Workspace {
  readonly kernels: Kernels;
  /** Room for this many 32-bit numbers, with undefined contents; its address. */
  readonly take: (length: number) => number;
  /** Room with these numbers in it. */
  readonly put: (values: Float32Array | Float64Array | Uint32Array) => number;
  /** The f32 at an address, valid until more room is taken: the memory may move then. */
  readonly view: (address: number, length: number) => Float32Array;
  /** All of the memory as f32, valid as long: the number at an address is at a quarter of it. */
  readonly heap: () => Float32Array;
  /** The bytes or f64 at an address, valid as long. */
  readonly bytes: (address: number, length: number) => Uint8Array;
  readonly doubles: (address: number, length: number) => Float64Array;
  /** Frees what `body` takes when it returns. */
  readonly scoped: <T>(body: () => T) => T;
}

let shared: Workspace | undefined;

/**
 * An address from `room` on that lies within a machine word as the values do: copying between shared and other memory takes bytes instead of
 * words otherwise. The room has to be `WORD` numbers larger than the values.
 */
export const alignedWith = ({ byteOffset }: Float32Array | Uint8Array | Uint16Array, room: number): number => room + (byteOffset % 8);
export const WORD = 2;

/** The one workspace, made on first use; a large one is replaced after a pause. */
export const workspace = (): Workspace => (shared ??= createWorkspace());

/**
 * Rows of `samples` numbers, each made when it is first asked for; the last `kept` of neighbouring ones are kept. Returns a row's address,
 * valid until the end of the scope.
 */
export function keptRows(
  { kept, samples }: { readonly kept: number; readonly samples: number },
  make: (row: number, address: number) => void,
): (row: number) => number {
  const slots = Array.from({ length: kept }, () => ({ row: -1, address: workspace().take(samples) }));
  return (row) => {
    const slot = slots[row % kept] as (typeof slots)[number];
    if (slot.row !== row) make(row, slot.address);
    slot.row = row;
    return slot.address;
  };
}
