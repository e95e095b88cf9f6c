import { z } from "zod";
import { DualFocusError } from "../errors.ts";
import { lossConfig } from "../losses/total.ts";
import { THEMES, type Theme } from "../optics/scene/themes.ts";
import { parseNetworkConfig, type NetworkConfig } from "../model/config.ts";
import { SHORTEST_WINDOW } from "../network/planeWindows.ts";
import { BLOCK_MULTIPLE } from "../optics/render/jpeg.ts";

/** Everything a training run depends on, as data: a preset is one, a checkpoint holds one, and `--set` changes one. */

const count = z.int().min(1);
const positive = z.number().positive();
const fraction = z.number().min(0).max(1);
const decay = z.number().min(0).lt(1); // at 1 a mean would never move, and Adam would divide by 0
const range = z.tuple([positive, positive]).refine(([low, high]) => low <= high, "the first must not exceed the second");

const counts = z.tuple([z.int().min(2), z.int().min(2)]).refine(([low, high]) => low <= high, "the first must not exceed the second");

const network = z.unknown().transform((value, context): NetworkConfig => {
  try {
    return parseNetworkConfig(JSON.stringify(value), "model");
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
});

/** Procedural scenes, rendered while training; depth is measured in planes. */
const renderData = z.strictObject({
  kind: z.literal("render"),
  /** Stacks held on the device at a time. */
  pool: count,
  /** Every `every` steps the `count` oldest stacks are replaced by new ones; 0: never. */
  refresh: z.strictObject({ every: count, count: z.int().min(0) }),
  /** Planes rendered per stack, of which each batch draws some, and the side of the image in pixels. */
  planes: z.int().min(2).max(32),
  size: z.int().min(32),
  /** Rays per pixel and plane. */
  samples: count,
  /** Blur between neighbouring planes, pixels of diameter. */
  blur: range,
  /** Share of scenes with the flaws of real stacks. */
  imperfect: fraction,
  /** Kinds of scenes, drawn as often as they are listed; `randomScene`'s own by default. */
  themes: z
    .array(z.enum(Object.keys(THEMES) as [Theme, ...Theme[]]))
    .min(1)
    .optional(),
  /** Share of the scenes through the lens that a phone takes and processes, their blur between neighbouring planes, and the share of them with shadows. */
  phone: z.strictObject({ share: fraction, blur: range, shadows: fraction }).optional(),
  /** Share of the other scenes through the lens that are light fields, refocused, and their blur between neighbouring planes; sweeps have their own. */
  lightField: z.strictObject({ share: fraction, blur: range }).optional(),
  /**
   * Share of the scenes through the lens from a sweep of more planes than are rendered, with this much blur between its neighbours: of a
   * sweep a network is shown planes spread over all of it, or neighbouring ones (network/planeWindows.ts).
   */
  sweep: z.strictObject({ share: fraction, planes: counts, blur: range }).optional(),
  /** Share of stacks blurred from one image and its depth instead of through the lens: the NYU protocol's Gaussian and FOSSA's family. */
  gather: z.strictObject({
    gaussian: fraction,
    powerExponential: fraction,
    /** Share of these that blur a photo of the textures by a rendered depth instead of the rendered image. */
    photos: fraction,
    /** Largest standard deviation of the sensor's noise in the sharp image, which is blurred with it. */
    grain: z.number().min(0),
    /** Largest radius, in pixels, of a Gaussian blur of the sharp image itself: what RGB-D cameras take is softer than photos; 0 by default. */
    softness: z.number().min(0).optional(),
  }),
  /** Stacks held out, and the rays and side of their images; the side of those of training by default. */
  validation: z.strictObject({ count, samples: count, size: z.int().min(32).optional() }),
});

/** A published set on disk; depth in its own unit. */
const fileData = z.strictObject({
  kind: z.enum(["nyu", "arkit", "pairs", "fod500", "ddff12", "hci", "folder"]),
  /** Factor on depth and focus distances. */
  depthScale: positive,
  /** Of RGB-D sets: share of stacks that blur one image by the depth of another, so that blur is the only cue to depth. */
  foreignDepth: fraction.optional(),
  /** Of RGB-D sets: the depth of each stack is multiplied by a factor from this range, so that an image does not indicate its depth. */
  depthFactor: range.optional(),
  /** GB of the device's memory for the decoded set; half of what is free by default. What does not fit rolls through. */
  memory: positive.optional(),
  validation: z.strictObject({ count }),
});

const augment = z.strictObject({
  /** Probability that a batch gets each plane moved a little, as left over by an alignment. */
  misalign: fraction,
  /** Standard deviations of the shift in pixels and of the scale. */
  shift: z.number().min(0),
  scale: z.number().min(0),
  gamma: range,
  /** Gain per colour channel and, apart from it, per plane. */
  colour: range,
  exposure: range,
  /** Largest standard deviation of added noise. */
  noise: z.number().min(0),
  /** Largest standard deviation of slow noise, which averaging does not remove; 0 by default. */
  blotches: z.number().min(0).optional(),
  /** Share of stacks with parts that lose their texture and look the same in every plane; 0 by default. */
  bare: fraction.optional(),
  /** Probability that the planes are put in reverse order, and depth with them. */
  reverse: fraction,
  /** Share of stacks whose plane coordinate runs in dioptres rather than in metres. */
  dioptres: fraction,
  /** Weight of pixels beyond the first or last plane, whose depth counts as that plane's; 0 by default. Of rendered stacks. */
  beyond: fraction.optional(),
  /** Weight of pixels away from depth edges, those near one counting fully; 1 by default. Of rendered stacks. */
  inner: fraction.optional(),
});

const budget = z.union([z.strictObject({ steps: count }), z.strictObject({ epochs: count }), z.strictObject({ minutes: positive })]);

export const trainConfig = z.strictObject({
  model: network,
  data: z.discriminatedUnion("kind", [renderData, fileData]),
  batch: z.strictObject({
    /** Stacks per step at the first of `planes`; with more planes fewer, so that a step stays the same work. */
    size: count,
    /** Plane counts, drawn evenly. */
    planes: z.array(z.int().min(2).max(32)).min(1),
    /** Side of the square crop in pixels. */
    crop: z.int().min(32).multipleOf(32),
    /**
     * Of rendered stacks, in place of that crop in training, drawn evenly: the side of a square of the image, and by how much it is reduced,
     * so that parts and wholes of large images are seen, these in their own size as well. Larger ones are taken of fewer stacks.
     */
    crops: z
      .array(
        z
          .strictObject({ side: z.int().min(32), reduced: count })
          .refine(({ side, reduced }) => side % (32 * reduced) === 0, "side / reduced must be a multiple of 32"),
      )
      .min(1)
      .optional(),
  }),
  augment,
  loss: lossConfig,
  adam: z.strictObject({ beta1: decay, beta2: decay, epsilon: positive }),
  learningRate: z.strictObject({
    from: positive,
    to: positive,
    /** Steps over which the rate rises linearly from 0. */
    warmUpSteps: z.int().min(0),
  }),
  /** Greatest norm of all gradients together. */
  clip: positive,
  ema: z.strictObject({
    /** How much of the average stays at each step. */
    decay: fraction,
    /** Steps between updates; each then counts for as many. */
    every: count,
  }),
  budget,
  /** `frozen`: batch norms keep their running statistics, for fine-tuning with few stacks at a time. */
  norms: z.enum(["batch", "frozen"]).optional(),
  /** bf16: convolutions and products through autocast. */
  precision: z.enum(["f32", "bf16"]),
  logEvery: count,
  evaluateEvery: count,
  saveEveryMinutes: positive,
  seed: z.int().min(0),
});

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
export type TrainConfig = DeepReadonly<z.infer<typeof trainConfig>>;
export type RenderData = Extract<TrainConfig["data"], { kind: "render" }>;
export type AugmentConfig = TrainConfig["augment"];
export type BatchConfig = TrainConfig["batch"];
export type Crop = NonNullable<BatchConfig["crops"]>[number];

/** A setting does not exist or has an invalid value; the message names it. */
export class ConfigError extends DualFocusError {
  override readonly name = "ConfigError";

  constructor(message: string, { cause }: { readonly cause?: unknown } = {}) {
    super("bad-setting", message, { cause });
  }
}

/** Checks a configuration from a file, a checkpoint or the command line; `where` is its name in errors. */
export function checkConfig(value: unknown, where = "training configuration"): TrainConfig {
  const result = trainConfig.safeParse(value);
  if (!result.success) {
    const issues = result.error.issues.slice(0, 5).map(({ path, message }) => `${path.join(".") || "it"}: ${message}`);
    throw new ConfigError(`${where}: ${issues.join("; ")}`);
  }
  const config: TrainConfig = result.data;
  if (config.data.kind === "render") checkRenderSizes(config.batch, config.data, where);
  else if (config.batch.crops) throw new ConfigError(`${where}: batch.crops is for rendered stacks; set batch.crop`);
  return config;
}

function checkRenderSizes({ crop, crops = [], planes }: BatchConfig, data: RenderData, where: string): void {
  const training = ["data.size", data.size] as const;
  const validation = data.validation.size === undefined ? training : (["data.validation.size", data.validation.size] as const);
  for (const [name, size] of crops.length > 0 ? [validation] : [training, validation])
    if (crop > size) throw new ConfigError(`${where}: batch.crop (${crop}) is larger than ${name} (${size})`);
  for (const [name, size] of [training, validation])
    if (data.phone && size % BLOCK_MULTIPLE !== 0)
      throw new ConfigError(`${where}: ${name} (${size}) must be a multiple of ${BLOCK_MULTIPLE} when data.phone is set`);
  for (const { side } of crops)
    if (side > data.size) throw new ConfigError(`${where}: batch.crops has ${side}, larger than data.size (${data.size})`);
  const most = Math.max(...planes);
  if (data.sweep && data.planes < SHORTEST_WINDOW)
    throw new ConfigError(`${where}: data.sweep takes ${SHORTEST_WINDOW} planes or more of each sweep, but data.planes = ${data.planes}`);
  if (data.sweep && data.sweep.planes[0] < data.planes)
    throw new ConfigError(
      `${where}: data.sweep.planes starts at ${data.sweep.planes[0]}, but data.planes = ${data.planes} are taken of each sweep`,
    );
  if (most > data.planes) throw new ConfigError(`${where}: batch.planes has ${most}, but only data.planes = ${data.planes} are rendered`);
}

/** Applies `a.b.c=value` settings; values are JSON, or text where they are not valid JSON. */
export function overrideConfig(config: TrainConfig, settings: readonly string[]): TrainConfig {
  const changed = JSON.parse(JSON.stringify(config)) as Record<string, unknown>;
  for (const setting of settings) {
    const [, path, text] = /^([\w.]+)=(.*)$/s.exec(setting) ?? [];
    if (path === undefined || text === undefined) throw new ConfigError(`${setting}: expected NAME=VALUE, for instance loss.beta=0.1`);
    assign(changed, path.split("."), parseValue(text), setting);
  }
  return checkConfig(changed, settings.join(" "));
}

/** The settings that have an option of their own, as `overrideConfig` takes them. */
export function shortSettings({
  minutes,
  steps,
  batchSize,
  seed,
}: Readonly<Partial<Record<"minutes" | "steps" | "batchSize" | "seed", number | undefined>>>): string[] {
  return [
    ...(minutes === undefined ? [] : [`budget=${JSON.stringify({ minutes })}`]),
    ...(steps === undefined ? [] : [`budget=${JSON.stringify({ steps })}`]),
    ...(batchSize === undefined ? [] : [`batch.size=${batchSize}`]),
    ...(seed === undefined ? [] : [`seed=${seed}`]),
  ];
}

function assign(target: Record<string, unknown>, path: readonly string[], value: unknown, setting: string): void {
  const [key = "", ...rest] = path;
  if (key in target && !Object.hasOwn(target, key)) throw new ConfigError(`${setting}: "${key}" is not a setting`); // __proto__
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const inner = target[key];
  if (typeof inner !== "object" || inner === null)
    throw new ConfigError(`${setting}: there is no group of settings "${key}" among ${Object.keys(target).join(", ")}`);
  assign(inner as Record<string, unknown>, rest, value, setting);
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Names of the settings in which two configurations, or parts of them, differ: `head.width`. */
export function changedSettings(before: unknown, after: unknown, name = ""): string[] {
  if (!isRecord(before) || !isRecord(after)) return JSON.stringify(before) === JSON.stringify(after) ? [] : [name];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => changedSettings(before[key], after[key], name === "" ? key : `${name}.${key}`));
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
