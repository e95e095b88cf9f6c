import { Command, InvalidArgumentError } from "commander";
import type { PlaneReport } from "../check/checkStack.ts";
import type { Finding, Severity } from "../check/finding.ts";
import type { PlaneOrder } from "../check/planeOrder.ts";
import { hasKnownOrder, inspectFrames, knownOrder, planeNames } from "../depth/frames.ts";
import type { Image } from "../image/image.ts";
import { DualFocusError } from "../errors.ts";
import { distanceTexts, unitSymbol } from "../stack/quantity.ts";
import type { FocusSource, Unit } from "../stack/stackFormat.ts";
import { inFocusOrder } from "../stack/stackSource.ts";
import { withStack, type StackSource } from "../stack/node/openStack.ts";
import { UserError } from "../system/userError.ts";
import { DISTANCES_HELP, reverseOption, unitOption } from "./depthOptions.ts";
import { stoppable } from "./stop.ts";
import { findingRemedy, remedyOf } from "./words.ts";

interface CheckCommandOptions {
  readonly distances?: string;
  readonly unit?: Unit;
  readonly reverse: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Images are checked at this size; a hundred of them fit in memory. */
const CHECKED_PIXELS = 1 << 20;

export function checkCommand(): Command {
  return new Command("check")
    .argument("<stack...>", "a folder, images, a stack.json, a multi-page TIFF or a video of a focus sweep", given)
    .option("--distances <LIST>", DISTANCES_HELP)
    .addOption(unitOption())
    .addOption(reverseOption())
    .option("--json", "print planes, order and findings as JSON", false)
    .option("--quiet", "no progress", false)
    .action(runCheck);
}

/** Findings go to stdout whether or not there are errors among them; these also end the command with exit code 3. */
async function runCheck(inputs: string[], options: CheckCommandOptions): Promise<void> {
  const { name, planes, order, findings: found } = await examine(inputs, options);
  const findings = found.map((finding): Finding => ({ ...finding, remedy: findingRemedy(finding) }));
  const count = (severity: Severity): number => findings.filter((finding) => finding.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const document = { stack: name, planes: planes.length, ok: errors === 0, ...(order ? { order } : {}), table: planes, findings };
  process.stdout.write(options.json ? `${JSON.stringify(document)}\n` : readable(document, { errors, warnings }));
  if (errors > 0)
    throw new UserError(`${name}: ${errors === 1 ? "one error" : `${errors} errors`} must be fixed first`, {
      exitCode: 3,
      remedy: (findings[0] as Finding).remedy,
    });
}

/** One line of the table. */
interface PlaneLine extends PlaneReport {
  readonly plane: number;
  readonly file: string;
  /** The focus distance as it was given. */
  readonly distance: number;
  readonly unit: Unit;
  readonly source: FocusSource;
}

interface Examined {
  readonly name: string;
  readonly planes: readonly PlaneLine[];
  readonly order?: PlaneOrder;
  readonly findings: readonly Finding[];
}

/** A stack that cannot even be opened is a finding too. Of a video the frames are checked that `depth` would use. */
async function examine(inputs: readonly string[], options: CheckCommandOptions): Promise<Examined> {
  const { distances, unit, reverse, quiet } = options;
  const report = (line: string): void => {
    if (!quiet) process.stderr.write(`check: ${line}\n`);
  };
  const given = { ...(distances === undefined ? {} : { distances }), ...(unit === undefined ? {} : { unit }) };
  const onProgress = (done: number, of: number): void => {
    if (done === of) report(`looked at ${of} frames`);
  };
  try {
    return await stoppable((signal) =>
      withStack(inputs, { ...given, signal, onProgress }, (source) => examineStack(source, { reverse, report, signal })),
    );
  } catch (error) {
    if (!(error instanceof DualFocusError) || error.kind === "usage") throw error;
    const finding: Finding = { code: "unreadable", severity: "error", message: error.message, remedy: remedyOf(error) };
    return { name: inputs.join(" "), planes: [], findings: [finding] };
  }
}

interface Examining {
  readonly reverse: boolean;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

async function examineStack(source: StackSource, { reverse, report, signal }: Examining): Promise<Examined> {
  if (reverse && hasKnownOrder(source)) throw knownOrder(source);
  const images = await readPlanes(source, { report, signal });
  report("comparing the planes");
  const notes = source.notes.map((message): Finding => ({
    code: "assumption",
    severity: "note",
    message,
    remedy: "correct it if that is not so",
  }));
  const stack = { images, focusDistances: source.focusDistances, space: source.space };
  const { order, planes, findings } = await inspectFrames(stack, source, {
    alignment: undefined,
    reverse,
    signal,
    onStage: () => undefined,
  });
  return { name: source.name, planes: tableOf(inFocusOrder(source, order.planes), planes), order, findings: [...findings, ...notes] };
}

function tableOf(source: StackSource, planes: readonly PlaneReport[]): PlaneLine[] {
  const names = planeNames(source);
  return planes.map((report, plane) => {
    const { value, unit, source: from } = source.focus[plane] as StackSource["focus"][number];
    return { plane, file: names[plane] as string, distance: value, unit, source: from, ...report };
  });
}

async function readPlanes(source: StackSource, { report, signal }: Pick<Examining, "report" | "signal">): Promise<Image[]> {
  const images: Image[] = [];
  for (let plane = 0; plane < source.files.length; plane++) {
    signal.throwIfAborted();
    images.push(await source.readScaled(plane, CHECKED_PIXELS));
    report(`read ${plane + 1} of ${source.files.length}`);
  }
  return images;
}

interface Document {
  readonly stack: string;
  readonly order?: PlaneOrder;
  readonly table: readonly PlaneLine[];
  readonly findings: readonly Finding[];
}

function readable({ stack, table, findings }: Document, counts: { errors: number; warnings: number }): string {
  const lines = [table.length > 0 ? `${stack}: ${table.length} planes` : stack];
  if (table.length > 0) lines.push("", ...planeTable(table));
  const groups: readonly [Severity, string][] = [["error", "Errors"], ["warning", "Warnings"], ["note", "Notes"]]; // prettier-ignore
  for (const [severity, title] of groups) {
    const group = findings.filter((finding) => finding.severity === severity);
    if (group.length > 0) lines.push("", title, ...group.map(({ code, message, remedy }) => `  ${message} [${code}]\n    → ${remedy}`));
  }
  if (counts.errors + counts.warnings === 0) lines.push("", `No problems found${findings.length > 0 ? "; see the notes above" : ""}.`);
  return `${lines.join("\n")}\n`;
}

const SOURCES: Readonly<Partial<Record<FocusSource, string>>> = { argument: "--distances", "file order": "order" };

/** Sharpness is relative to the sharpest plane; shift is in pixels of the files, to the reference image. */
function planeTable(planes: readonly PlaneLine[]): string[] {
  const head = ["plane", "file", "distance", "from", "sharpness", "in focus", "shift [px]", "scale"];
  const distances = distanceTexts(planes.map(({ distance }) => distance));
  const rows = planes.map(({ plane, file, unit, source, sharpness, inFocus, shift, scale }) => [
    String(plane),
    file,
    unit === "index" ? "-" : `${distances[plane]} ${unitSymbol(unit)}`,
    SOURCES[source] ?? source,
    sharpness === undefined ? "-" : sharpness.toFixed(2),
    inFocus === undefined ? "-" : `${(100 * inFocus).toFixed(0)} %`,
    shift === undefined ? "-" : shift.map((value) => value.toFixed(1)).join(", "),
    scale === undefined ? "-" : scale.toFixed(4),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] as string).length)));
  const isText = (column: number): boolean => column === 1 || column === 3;
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => (isText(column) ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number)))
      .join("  ")
      .trimEnd(),
  );
}

function given(value: string, before: string[] | undefined): string[] {
  if (value === "") throw new InvalidArgumentError("Expected a name.");
  return [...(before ?? []), value];
}
