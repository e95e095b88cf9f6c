import { z } from "zod";

import { describeIssues } from "../errors.ts";
import { curveSums, type Curve } from "../image/curve.ts";
import { quantile } from "../image/quantile.ts";
import { FormatError } from "../io/formatError.ts";

/**
 * Unit in which eq. 6 averages metric focus distances: metres (the paper's arithmetic mean) or dioptres, whichever the network was trained with.
 * Positions (of a microscope), disparities and plane indices are averaged as they are. PAPER.md, 34.
 */
export const AVERAGES = ["dioptres", "metres"] as const;
export type Average = (typeof AVERAGES)[number];

/**
 * What the error of a pixel is read from (docs/confidence.md): the spread of p and its tail, the unrest of the map around it and next to it (ripple), evidence in
 * the images there, around it (surroundings), farther around it (region) and on its barest side (enclosure), and disagreement with them.
 */
export const CUES = ["spread", "tail", "unrest", "ripple", "evidence", "surroundings", "region", "enclosure", "disagreement"] as const;
export type Cue = (typeof CUES)[number];

export const byCue = <T>(of: (cue: Cue) => T): Record<Cue, T> => Object.fromEntries(CUES.map((cue) => [cue, of(cue)])) as Record<Cue, T>;

const increasing = (values: readonly number[]): boolean => values.every((value, i) => i === 0 || value > (values[i - 1] as number));

const factors = z
  .strictObject({ at: z.array(z.number().nonnegative()).min(1).readonly(), factor: z.array(z.number().positive()).min(1).readonly() })
  .readonly()
  .refine(({ at, factor }) => at.length === factor.length, "at and factor must be of the same length")
  .refine(({ at }) => increasing(at), "at must increase");

/** Of what files calibrated before it existed do not have: it changes nothing. */
export const NO_FACTOR = { at: [0], factor: [1] } as const;
const newer = factors.default(NO_FACTOR);

const errorModel = z
  .strictObject({
    planes: z.number().positive(),
    ...byCue(() => factors),
    ...{ tail: newer, ripple: newer, surroundings: newer, region: newer, enclosure: newer },
    ...{ stack: newer, mismatch: newer },
  })
  .readonly();

/**
 * Expected error of the depth, in planes: `planes` times one factor for each cue, which is interpolated between its knots, times two for the whole stack: one
 * (`stack`) by the median of that over its pixels, and one by the `mismatch` of its planes. Of the pixels given ±e, 68 % lie within e. docs/confidence.md says how it was measured and on what.
 */
export type ErrorModel = z.infer<typeof errorModel>;

export const trainingRun = z
  .strictObject({
    /** `render`, or the published set. */
    data: z.string(),
    steps: z.int().nonnegative(),
    minutes: z.number().nonnegative(),
    seed: z.int(),
  })
  .readonly();

export type TrainingRun = z.infer<typeof trainingRun>;

const planeCounts = z
  .tuple([z.int().min(2), z.int().min(2)])
  .readonly()
  .refine(([least, most]) => least <= most, "the first must not exceed the second");

/** What a weights file says about its network. A missing fact is unknown. */
export interface NetworkFacts {
  readonly average?: Average;
  readonly errorModel?: ErrorModel;
  /** Smallest and largest number of planes it was trained on. */
  readonly planes?: readonly [least: number, most: number];
  /** Of the weights: an SPDX identifier, or the terms of the data they were trained on. */
  readonly licence?: string;
  /** The training runs behind the weights, each continuing from the previous one; empty for untrained weights. */
  readonly training?: readonly TrainingRun[];
  /** All other metadata. */
  readonly notes?: Readonly<Record<string, string>>;
}

/** Metadata values of a .safetensors file are strings; lists and records are JSON. */
const json = <T>(schema: z.ZodType<T>): z.ZodType<T, string> =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: "custom", message: "is not JSON" });
        return z.NEVER;
      }
    })
    .pipe(schema);

const metadata = z.object({
  average: z
    .string()
    .transform((text) => (text === "as printed" ? "metres" : text)) // as versions before 0.2 wrote it
    .pipe(z.enum(AVERAGES))
    .optional(),
  errorModel: json(errorModel).optional(),
  planes: json(planeCounts).optional(),
  licence: z.string().min(1).optional(),
  training: json(z.array(trainingRun).readonly()).optional(),
});

/** Calibration by the spread of p alone, in files of versions before 0.3. */
const OUTDATED = "errorTable";

/** The facts in the metadata of a weights file, checked. `file` is named in errors. */
export function parseFacts(texts: Readonly<Record<string, string>>, file: string): NetworkFacts {
  const result = metadata.safeParse(texts);
  if (!result.success) throw new FormatError(`${file}: its metadata are wrong: ${describeIssues(z.prettifyError(result.error))}`);
  const notes = Object.fromEntries(Object.entries(texts).filter(([key]) => !(key in metadata.shape) && key !== OUTDATED));
  const known = Object.fromEntries(Object.entries(result.data).filter(([, value]) => value !== undefined));
  return { ...known, ...(Object.keys(notes).length > 0 ? { notes } : {}) };
}

/** As metadata of a weights file. */
export function formatFacts({ notes = {}, ...facts }: NetworkFacts): Record<string, string> {
  const texts = Object.entries(facts).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
  return { ...notes, ...(Object.fromEntries(texts) as Record<string, string>) };
}

/**
 * The expected errors in planes of pixels with these cues, but for the factor of their stack. Factors are interpolated geometrically between knots and constant
 * outside them, but for a spread beyond the last knot, with which the error grows in proportion.
 */
export function expectedErrors({ planes, ...model }: ErrorModel, cues: Readonly<Record<Cue, Float32Array>>): Float32Array {
  const widest = model.spread.at.at(-1) as number;
  const errors = curveSums(CUES.map((cue) => ({ values: cues[cue], curve: logarithmOf(model[cue]) }))); // their logarithms so far
  for (let i = 0; i < errors.length; i++)
    errors[i] = planes * Math.exp(errors[i] as number) * Math.max((cues.spread[i] as number) / widest, 1);
  return errors;
}

/** What the factor of a whole stack is read from: how doubtful it is, and how unlike the detail of neighbouring planes is. */
export interface StackCues<T> {
  readonly doubt: T;
  readonly mismatch: T;
}

/** The factor of a whole stack: where most pixels look doubtful, or planes show detail of their own (noise), each pixel is worse than its own cues say. */
export const stackFactor = (model: ErrorModel, { doubt, mismatch }: StackCues<number>): number =>
  stackFactors(model, { doubt: Float32Array.of(doubt), mismatch: Float32Array.of(mismatch) })[0] as number;

/** The same of several stacks. */
export const stackFactors = (model: ErrorModel, { doubt, mismatch }: StackCues<Float32Array>): Float32Array =>
  curveSums([
    { values: doubt, curve: logarithmOf(model.stack) },
    { values: mismatch, curve: logarithmOf(model.mismatch) },
  ]).map(Math.exp);

/** How doubtful a stack is: the median of its pixels' errors. The same scene errs by more planes where there are more of them: counted as for five. */
export const stackDoubt = (errors: Float32Array, planes: number): number => quantile(errors, 0.5) / Math.sqrt(planes / 5);

/** The logarithm of the factor, linear between the knots. */
const logarithmOf = ({ at, factor }: ErrorModel["stack"]): Curve => ({ at, levels: factor.map((each) => Math.log(each)) });

/** Used for weights that have no calibration of their own: measured with the shipped `small`. */
export const DEFAULT_ERROR_MODEL: ErrorModel = {
  planes: 0.837,
  spread: { at: [0.3, 0.5, 0.6, 0.7, 0.8, 1, 1.3, 2], factor: [1.46, 0.888, 0.592, 0.728, 0.847, 1.1, 1.09, 1.76] },
  tail: NO_FACTOR,
  unrest: { at: [0, 0.03, 0.1, 0.2, 0.4, 0.8, 1.5], factor: [0.836, 0.891, 0.899, 0.991, 1.12, 1.22, 1.1] },
  ripple: { at: [0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8], factor: [0.549, 0.579, 0.616, 0.863, 1.41, 1.91, 2.19] },
  evidence: { at: [0, 0.05, 0.2, 0.5, 0.8, 1], factor: [1.58, 1.22, 1.04, 0.846, 0.741, 0.796] },
  surroundings: { at: [0, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9], factor: [2.41, 0.996, 0.852, 0.816, 0.881, 0.801, 0.848] },
  region: NO_FACTOR,
  enclosure: NO_FACTOR,
  disagreement: { at: [0, 0.25, 0.5, 1, 1.5, 2.5, 4], factor: [0.379, 0.486, 0.731, 1.01, 1.37, 2.23, 2.39] },
  stack: { at: [0.1, 0.2, 0.4, 0.7], factor: [0.77, 1.1, 1.3, 3.21] },
  mismatch: NO_FACTOR,
};
