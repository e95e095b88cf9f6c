import { basename } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { checkStack } from "../check/checkStack.ts";
import type { Finding, Severity } from "../check/finding.ts";
import type { Image } from "../image/image.ts";
import { DualFocusError } from "../errors.ts";
import type { Unit } from "../stack/stackFormat.ts";
import { openStack, type StackSource } from "../stack/node/openStack.ts";
import { UserError } from "../system/userError.ts";
import { unitOption } from "./depthOptions.ts";
import { findingRemedy, remedyOf } from "./words.ts";

interface CheckCommandOptions {
  readonly distances?: string;
  readonly unit?: Unit;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Images are checked at this size; a hundred of them fit in memory. */
const CHECKED_PIXELS = 1 << 20;

export function checkCommand(): Command {
  return new Command("check")
    .argument("<stack...>", "a folder, images, a stack.json or a multi-page TIFF", given)
    .option("--distances <LIST>", "focus distances, separated by commas, one per image in the order of their names; or a text file")
    .addOption(unitOption())
    .option("--json", "print the findings as JSON", false)
    .option("--quiet", "no progress", false)
    .action(runCheck);
}

/** Findings go to stdout whether or not there are errors among them; these also end the command with exit code 3. */
async function runCheck(inputs: string[], options: CheckCommandOptions): Promise<void> {
  const { name, planes, findings: found } = await examine(inputs, options);
  const findings = found.map((finding): Finding => ({ ...finding, remedy: findingRemedy(finding) }));
  const count = (severity: Severity): number => findings.filter((finding) => finding.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const document = { stack: name, planes, ok: errors === 0, findings };
  process.stdout.write(options.json ? `${JSON.stringify(document)}\n` : readable(document, { errors, warnings }));
  if (errors > 0)
    throw new UserError(`${name}: ${errors === 1 ? "one error" : `${errors} errors`} must be fixed first`, {
      exitCode: 3,
      remedy: (findings[0] as Finding).remedy,
    });
}

interface Examined {
  readonly name: string;
  readonly planes: number;
  readonly findings: readonly Finding[];
}

/** A stack that cannot even be opened is a finding too. */
async function examine(inputs: readonly string[], { distances, unit, quiet }: CheckCommandOptions): Promise<Examined> {
  const name = inputs.join(" ");
  const report = (line: string): void => {
    if (!quiet) process.stderr.write(`check: ${line}\n`);
  };
  try {
    const source = await openStack(inputs.length === 1 ? (inputs[0] as string) : inputs, {
      ...(distances === undefined ? {} : { distances }),
      ...(unit === undefined ? {} : { unit }),
    });
    const images = await readPlanes(source, report);
    report("comparing the planes");
    const notes = source.notes.map((message): Finding => ({
      code: "assumption",
      severity: "note",
      message,
      remedy: "correct it if that is not so",
    }));
    const findings = await checkStack(
      { images, focusDistances: source.focusDistances, space: source.space },
      {
        files: planeNames(source),
        focalLength: source.camera?.focalLength,
        enlargement: source.size.width / (images[0] as Image).width,
      },
    );
    return { name: source.name, planes: images.length, findings: [...findings, ...notes] };
  } catch (error) {
    if (!(error instanceof DualFocusError)) throw error;
    const finding: Finding = { code: "unreadable", severity: "error", message: error.message, remedy: remedyOf(error) };
    return { name, planes: 0, findings: [finding] };
  }
}

async function readPlanes(source: StackSource, report: (line: string) => void): Promise<Image[]> {
  const images: Image[] = [];
  for (let plane = 0; plane < source.files.length; plane++) {
    images.push(await source.readScaled(plane, CHECKED_PIXELS));
    report(`read ${plane + 1} of ${source.files.length}`);
  }
  return images;
}

/** File names; pages of one file are distinguished by their number. */
function planeNames({ files }: StackSource): string[] {
  const single = new Set(files).size === 1;
  return files.map((file, plane) => (single ? `${basename(file)} plane ${plane}` : basename(file)));
}

function readable(
  { stack, planes, findings }: { stack: string; planes: number; findings: readonly Finding[] },
  counts: { errors: number; warnings: number },
): string {
  const lines = [planes > 0 ? `${stack}: ${planes} planes` : stack];
  const groups: readonly [Severity, string][] = [["error", "Errors"], ["warning", "Warnings"], ["note", "Notes"]]; // prettier-ignore
  for (const [severity, title] of groups) {
    const group = findings.filter((finding) => finding.severity === severity);
    if (group.length > 0) lines.push("", title, ...group.map(({ code, message, remedy }) => `  ${message} [${code}]\n    → ${remedy}`));
  }
  if (counts.errors + counts.warnings === 0) lines.push("", "No problems found.");
  return `${lines.join("\n")}\n`;
}

function given(value: string, before: string[] | undefined): string[] {
  if (value === "") throw new InvalidArgumentError("Expected a name.");
  return [...(before ?? []), value];
}
