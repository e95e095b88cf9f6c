import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Addon } from "../../native/addon.d.ts";
import { EngineError } from "../../src/engine/errors.ts";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createRandom, type Random } from "../../src/random.ts";

const root = join(import.meta.dirname, "../..");

export const hasAddon = existsSync(join(root, "build/dualfocus.node"));

/** Every operator that the sources call. */
const operators = [
  ...new Set(
    readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => readFileSync(join(root, "src", file), "utf8").match(/aten::\w+(\.\w+)?/g) ?? []),
  ),
].sort();

/** The addon's own functions; not those that wait for other processes, or run as often as they are told. */
const FUNCTIONS = [
  ...(["fromArray", "toArray", "writeFrom", "shape", "dtype", "item", "dispose", "setRequiresGrad", "requiresGrad", "backward"] as const),
  ...(["grad", "setGrad", "finishConvolution", "resampleInto", "gatherBlocks", "maxPool", "meanPool", "weightedSum"] as const),
  ...(["logitConvolution", "planeDifference", "readOut", "gatherBlur", "renderLens", "windowSum"] as const),
  ...(["batchNorm", "trainPool", "trainWindow", "trainSoftmax", "planeLosses"] as const),
  ...(["planePool", "planeSpread", "inFocus", "convexUpsample", "detailEnergies", "detailLogs"] as const),
] satisfies readonly (keyof Addon)[];

const SHAPES = [
  [],
  [0],
  [1],
  [5],
  [4, 5],
  [1, 3, 8, 8],
  [2, 4, 3, 8, 8],
  [1, 2, 32],
  [1, 16],
  [1, 3, 8],
  [1, 8, 8, 4],
  [4, 4, 3, 3],
  [27, 4],
  [2, 0, 4],
];
const DTYPES = ["f32", "f32", "f32", "f64", "u8", "i64", "bool", "bf16"] as const;
const SCALARS = [
  0,
  1,
  2,
  3,
  -1,
  -2,
  0.5,
  1e-5,
  NaN,
  Infinity,
  -(2 ** 31),
  2 ** 53,
  true,
  false,
  null,
  undefined,
  "f32",
  "cpu",
  "mean",
  {},
  Symbol("s"),
];

let engine: TorchEngine | undefined;

/** A dozen calls with arguments that the bytes choose: tensors of all shapes and types, disposed ones, numbers, lists, things that are none. */
export function callAddon(bytes: Uint8Array): void {
  engine ??= createTorchEngine({ threads: 1 });
  const torch = engine;
  const random = createRandom([0, 4, 8, 12].map((at) => wordAt(bytes, at)) as [number, number, number, number]);
  scope(() => {
    const tensors = Array.from({ length: 6 }, () => makeTensor(torch, random)).filter((tensor) => tensor !== undefined);
    const [gone] = tensors;
    if (random.uniform() < 0.3) gone?.dispose();
    for (let call = 0; call < 12; call++)
      refusing(() => {
        const args = Array.from({ length: random.integer(8) }, () => argument(tensors, random));
        const result =
          random.uniform() < 0.6 ? torch.call(pick(random, operators), ...args) : torch.native(pick(random, FUNCTIONS), ...args);
        if (typeof result === "object" && result !== null && "dispose" in result && result !== gone) tensors.push(result);
      });
  });
}

function wordAt(bytes: Uint8Array, at: number): number {
  let word = 0x9e3779b9 ^ at;
  for (let i = at; i < bytes.length; i += 16) word = Math.imul(word ^ (bytes[i] ?? 0) ^ ((bytes[i + 1] ?? 0) << 8), 0x01000193);
  return word >>> 0;
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random.integer(list.length)] as T;

function makeTensor(torch: TorchEngine, random: Random) {
  let made;
  refusing(() => {
    made = torch.full(pick(random, SHAPES), random.integer(3), { dtype: pick(random, DTYPES) as never });
    if (random.uniform() < 0.2) torch.requireGradient(made);
  });
  return made as ReturnType<TorchEngine["full"]> | undefined;
}

function argument(tensors: readonly unknown[], random: Random): unknown {
  const kind = random.uniform();
  if (kind < 0.6) return pick(random, tensors);
  if (kind < 0.75) return pick(random, SCALARS);
  if (kind < 0.85) return Array.from({ length: random.integer(5) }, () => random.integer(4) - 1);
  if (kind < 0.93) return Array.from({ length: random.integer(4) }, () => pick(random, tensors));
  return pick(random, [new Float32Array(20), new Uint8Array(3), new BigInt64Array(2), new ArrayBuffer(8), [SCALARS], [[1, 2], [3]]]);
}

/** A wrong call is refused by an EngineError, never by anything else. */
function refusing(body: () => void): void {
  try {
    body();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}
