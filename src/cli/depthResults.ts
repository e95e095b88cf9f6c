import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { hasFocusChange } from "../check/finding.ts";
import { placed, type DepthDocument } from "../depth/node/stackRun.ts";
import { isLength, PER_METRE, unitSymbol } from "../stack/quantity.ts";
import { naturalOrder, type Unit } from "../stack/stackFormat.ts";
import { errnoOf, reasonOf } from "../system/errno.ts";
import { UserError } from "../system/userError.ts";
import { SAVED_WORDS } from "./savedWords.ts";
import { asUserError } from "./words.ts";

/** Undefined metrics are NaN, and null once they have been in a file. */
const number = (value: number | null): string => (value === null || Number.isNaN(value) ? "undefined" : value.toPrecision(4));

/** Lengths are printed in the unit that was asked for, or else in which the distances were given; files are in metres. */
function printed({ unit, distances }: Pick<DepthDocument, "unit" | "distances">, asked?: Unit): { factor: number; name: string } {
  const wanted = [asked, distances[0]?.unit].filter((each) => each !== undefined).find(isLength);
  return unit === "m" && wanted ? { factor: PER_METRE[wanted], name: unitSymbol(wanted) } : { factor: 1, name: unitName(unit) };
}

const unitName = (unit: string): string => (unit === "index" ? "(plane index)" : unit);

const UNFOCUSED = "no focus change found";

/** To the place of the second significant digit of its error: 5.99 where that is 0.16. */
function rounded(value: number, error: number | null): string {
  if (!error) return number(value);
  const place = Number(error.toExponential(1).split("e")[1]) - 1;
  return (Math.round(value / 10 ** place) * 10 ** place).toFixed(Math.max(-place, 0));
}

/** The range of depth, in this unit, or that there is none. */
function describeRange({ findings, range, expectedError }: DepthDocument, { factor, name: unit }: ReturnType<typeof printed>): string {
  if (!hasFocusChange(findings) || !range) return UNFOCUSED;
  const [least, greatest] = range.map((depth) => rounded(factor * depth, expectedError && factor * expectedError));
  return `${least} to ${greatest} ${unit}`;
}

/** One stack's result, for people. */
export function describeResult(document: DepthDocument, output: string, asked?: Unit): string {
  const { planes, width, height, working, order, expectedError, filled = 0, errors, files, seconds } = document;
  const isFocused = hasFocusChange(document.findings);
  const lengths = printed(document, asked);
  const { factor, name: unit } = lengths;
  const error = expectedError && factor * expectedError;
  const about = error === null ? "" : `, ±${rounded(error, error)} ${document.unit === "index" ? "planes" : unit} on average`;
  const depth = isFocused ? `depth ${describeRange(document, lengths)}${about}` : UNFOCUSED;
  const lines = [
    `${planes} planes, ${width}×${height}; ${depth}`,
    `the network saw ${working.width}×${working.height} (--size)`,
    ...((order.certainty === "known" && !order.reversed) || !isFocused
      ? []
      : [`${order.sentence}${order.reversed ? "" : " (--reverse exchanges near and far)"}`]),
    ...(isFocused ? describeBeyond(document) : []),
    ...(filled < LEAST_SHARE || !isFocused
      ? []
      : [
          `too little to measure in ${percent(filled)} of the image: depth filled in from its surroundings (--save filled marks it, --fill off keeps what was measured)`,
        ]),
    ...(errors ? [describeErrors(errors)] : []),
    `${output}: written in ${number(seconds["total"] ?? NaN)} s`,
    ...describeFiles(files, output),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function describeFiles(files: DepthDocument["files"], output: string): string[] {
  const words: Readonly<Partial<Record<string, string>>> = SAVED_WORDS;
  const rows = [
    ...Object.entries(files).map(([name, file]) => [file, words[name] ?? ""] as const),
    [join(output, "result.json"), "the same for programs, with units and settings"] as const,
  ];
  const widest = Math.max(...rows.map(([file]) => file.length));
  return rows.map(([file, meaning]) => `  ${file.padEnd(widest)}  ${meaning}`.trimEnd());
}

/** A share of the image below this is not worth a line. */
const LEAST_SHARE = 0.01;

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

function describeBeyond({ beyond: { nearer, farther }, planes }: DepthDocument): string[] {
  const shares = [
    { share: nearer, where: "the first plane or nearer" },
    { share: farther, where: "the last plane or farther" },
  ].filter(({ share }) => share >= LEAST_SHARE);
  if (shares.length === 0) return [];
  const found = shares.map(({ share, where }) => `${where}: ${percent(share)} of the image`).join("; at ");
  const advice = planes === 2 ? "two planes hardly measure the depth between them; a third image, focused between them, would help" : "images focused beyond that plane would show how far it is"; // prettier-ignore
  return [`at ${found} (--save beyond marks it; ${advice})`];
}

const FITTED = { depth: "it", "1/depth": "1 over it" } as const;

function describeErrors({ absRel, rmse, delta1, fit }: NonNullable<DepthDocument["errors"]>): string {
  const fitted = fit ? `, after ${number(fit.scale)} · plane index + ${number(fit.offset)} was fitted to ${FITTED[fit.of]}` : "";
  return `against the truth${fitted}: absRel ${number(absRel)}, rmse ${number(rmse)}, delta1 ${number(delta1)}`;
}

/** One stack of a batch. */
export interface BatchEntry {
  readonly name: string;
  /** `skipped`: its results were there already. */
  readonly status: "done" | "skipped" | "failed";
  readonly output: string;
  readonly result?: DepthDocument;
  readonly error?: { readonly message: string; readonly remedy?: string };
}

/** The entry of a stack that failed for a reason that its owner can act on; anything else is thrown again. */
export function failed(
  { name, output }: Pick<BatchEntry, "name" | "output">,
  failure: unknown,
): BatchEntry & Required<Pick<BatchEntry, "error">> {
  const error = asUserError(failure);
  if (!error) throw failure;
  const { message, remedy } = error;
  return { name, status: "failed", output, error: { message, ...(remedy === undefined ? {} : { remedy }) } };
}

/** The sub-folders that hold stacks, in natural order. */
export async function stackFolders(folder: string): Promise<string[]> {
  const remedy = "name a folder that holds one sub-folder for each stack";
  const names = await readdir(folder).catch((cause: unknown) => {
    const reason = errnoOf(cause) === "ENOTDIR" ? "is a file, not a folder" : reasonOf(cause);
    throw new UserError(`${folder}: ${reason}`, { exitCode: 3, remedy, cause });
  });
  const folders: string[] = [];
  for (const name of names) {
    const isFolder = (await stat(join(folder, name)).catch(() => undefined))?.isDirectory(); // a link that leads nowhere is no stack
    if (isFolder && !name.startsWith(".")) folders.push(name);
  }
  if (folders.length === 0) throw new UserError(`${folder}: there are no folders in it`, { exitCode: 3, remedy });
  return naturalOrder(folders);
}

/**
 * The result of an earlier run. `fillFolder` puts a folder in its place only when all of it is written: what has a result.json is
 * finished. Paths of files start with the output folder, as those of a stack that is computed now.
 */
export async function finished(output: string): Promise<DepthDocument | undefined> {
  try {
    const document = JSON.parse(await readFile(join(output, "result.json"), "utf8")) as DepthDocument;
    return { ...document, files: placed(document.files, output) };
  } catch {
    return undefined;
  }
}

/** Prints the table, or all of it as JSON; stacks that failed are an error at the end. */
export function reportBatch(
  entries: readonly BatchEntry[],
  { json, unit }: { readonly json: boolean; readonly unit?: Unit | undefined },
): void {
  const count = (status: BatchEntry["status"]): number => entries.filter((entry) => entry.status === status).length;
  const counts = { done: count("done"), skipped: count("skipped"), failed: count("failed") };
  process.stdout.write(json ? `${JSON.stringify({ ...counts, stacks: entries })}\n` : batchTable(entries, unit));
  if (counts.failed > 0)
    throw new UserError(`${counts.failed} of ${entries.length} stacks failed`, {
      exitCode: 3,
      remedy: "fix them and run the same command again: finished stacks are kept",
    });
}

/** The table at the end of a batch. */
function batchTable(entries: readonly BatchEntry[], asked?: Unit): string {
  const hasErrors = entries.some(({ result }) => result?.errors);
  const head = ["stack", "status", "planes", "size", "depth", ...(hasErrors ? ["absRel"] : []), "seconds"];
  const rows = entries.map(({ name, status, result, error }) => {
    if (!result) return [name, status, error?.message ?? ""];
    const { planes, width, height, errors, seconds } = result;
    const depth = describeRange(result, printed(result, asked));
    const absRel = errors ? number(errors.absRel) : "";
    const total = (seconds["total"] ?? NaN).toFixed(1);
    return [name, status, String(planes), `${width}×${height}`, depth, ...(hasErrors ? [absRel] : []), total];
  });
  const whole = [head, ...rows.filter(({ length }) => length === head.length)];
  const widths = head.map((_, column) =>
    Math.max(...whole.map((row) => row[column]?.length ?? 0), ...(column < 2 ? rows.map((row) => row[column]?.length ?? 0) : [])),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column < row.length - 1 ? cell.padEnd(widths[column] ?? 0) : cell))
      .join("  ")
      .trimEnd();
  return [head, ...rows].map((row) => `${line(row)}\n`).join("");
}
