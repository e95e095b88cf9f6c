import { z } from "zod";

import { describeIssues } from "../errors.ts";
import { FormatError } from "../io/formatError.ts";

/**
 * Unit in which eq. 6 averages metric focus distances: metres (the paper's arithmetic mean) or dioptres, whichever the network was trained with.
 * Disparities and plane indices are averaged as they are. PAPER.md, 34.
 */
export const AVERAGES = ["dioptres", "metres"] as const;
export type Average = (typeof AVERAGES)[number];

const increasing = (values: readonly number[]): boolean => values.every((value, i) => i === 0 || value > (values[i - 1] as number));

const errorTable = z
  .strictObject({ spread: z.array(z.number().positive()).min(1).readonly(), error: z.array(z.number().nonnegative()).min(1).readonly() })
  .readonly()
  .refine(({ spread, error }) => spread.length === error.length, "spread and error must be of the same length")
  .refine(({ spread }) => increasing(spread), "spread must increase");

/**
 * Expected error of the depth as a function of the spread of p: `error[i]` planes at a spread of `spread[i]` planes, linear between, and in
 * proportion beyond the last. Of the pixels given ±e, 68 % lie within e. docs/confidence.md says how it was measured and on what.
 */
export type ErrorTable = z.infer<typeof errorTable>;

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
  readonly errorTable?: ErrorTable;
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
  errorTable: json(errorTable).optional(),
  planes: json(planeCounts).optional(),
  licence: z.string().min(1).optional(),
  training: json(z.array(trainingRun).readonly()).optional(),
});

/** The facts in the metadata of a weights file, checked. `file` is named in errors. */
export function parseFacts(texts: Readonly<Record<string, string>>, file: string): NetworkFacts {
  const result = metadata.safeParse(texts);
  if (!result.success) throw new FormatError(`${file}: its metadata are wrong: ${describeIssues(z.prettifyError(result.error))}`);
  const notes = Object.fromEntries(Object.entries(texts).filter(([key]) => !(key in metadata.shape)));
  const known = Object.fromEntries(Object.entries(result.data).filter(([, value]) => value !== undefined));
  return { ...known, ...(Object.keys(notes).length > 0 ? { notes } : {}) };
}

/** As metadata of a weights file. */
export function formatFacts({ notes = {}, ...facts }: NetworkFacts): Record<string, string> {
  const texts = Object.entries(facts).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
  return { ...notes, ...(Object.fromEntries(texts) as Record<string, string>) };
}

/** Expected error in planes at a spread of `at` planes. */
export function expectedError({ spread, error }: ErrorTable, at: number): number {
  const last = spread.length - 1;
  if (at <= (spread[0] as number)) return error[0] as number;
  if (at >= (spread[last] as number)) return ((error[last] as number) * at) / (spread[last] as number);
  let next = 1;
  while ((spread[next] as number) <= at) next++;
  const [from, to] = [spread[next - 1] as number, spread[next] as number];
  const share = (at - from) / (to - from);
  return (error[next - 1] as number) * (1 - share) + (error[next] as number) * share;
}

/** Used for weights that have no calibration of their own: the table of the shipped `small`. */
export const UNCALIBRATED: ErrorTable = {
  spread: [0.5, 0.6, 0.7, 0.8, 1, 1.25, 1.75, 2.5],
  error: [0.18, 0.18, 0.18, 0.32, 0.5, 2.4, 3.4, 3.4],
};
