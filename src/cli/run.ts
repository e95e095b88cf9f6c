import { Command, CommanderError, type Option } from "commander";

import { packageVersion } from "../system/packageFolder.ts";
import { benchCommand } from "./bench.ts";
import { batchCommand } from "./batch.ts";
import { checkCommand } from "./check.ts";
import { depthCommand } from "./depth.ts";
import { UserError } from "../system/userError.ts";
import { MemberError } from "../train/launcher.ts";
import { evaluateCommand } from "./evaluate.ts";
import { exportCommand } from "./export.ts";
import { modelsCommand } from "./models.ts";
import { renderCommand } from "./render.ts";
import { reproduceCommand } from "./reproduce.ts";
import { serveCommand } from "./serve.ts";
import { synthesizeCommand } from "./synthesize.ts";
import { trainCommand } from "./train.ts";
import { workerCommand } from "./worker.ts";
import { webCommand } from "./web.ts";

/** The whole command line. Results go to stdout, progress and errors to stderr. */
export function program(): Command {
  return new Command("dualfocus")
    .description("Metric depth from focal stacks: photos of one scene, focus moved between them.")
    .version(packageVersion())
    .addCommand(checkCommand())
    .addCommand(depthCommand())
    .addCommand(renderCommand())
    .addCommand(synthesizeCommand())
    .addCommand(trainCommand())
    .addCommand(evaluateCommand())
    .addCommand(reproduceCommand())
    .addCommand(benchCommand())
    .addCommand(exportCommand())
    .addCommand(modelsCommand())
    .addCommand(webCommand())
    .addCommand(serveCommand())
    .addCommand(workerCommand())
    .addCommand(batchCommand())
    .showHelpAfterError("(dualfocus --help lists the commands)")
    .exitOverride();
}

/** Runs one command line; the number is the exit code: 0 ok, 2 usage, 3 bad input, 4 alignment, 5 metadata, 1 else. */
export async function run(args: readonly string[]): Promise<number> {
  const command = program();
  for (const each of command.commands)
    each
      .exitOverride() // commander would call process.exit in the middle of our work
      .showHelpAfterError(`(dualfocus ${each.name()} --help explains the options)`)
      .configureHelp({ optionDescription: describeOption });
  try {
    await command.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // commander has printed its message
    return report(error);
  }
}

/** The option's text with choices and default as one would type them; `false` and an empty list are no news. */
function describeOption({ description, argChoices, defaultValue, envVar }: Option): string {
  const shown: unknown = Array.isArray(defaultValue)
    ? defaultValue.map((each) => (Array.isArray(each) ? each.join("x") : String(each))).join(",")
    : defaultValue;
  const isNews = typeof shown === "number" || (typeof shown === "string" && shown !== "");
  const notes = [
    ...(argChoices ? [`choices: ${argChoices.join(", ")}`] : []),
    ...(isNews ? [`default: ${shown}`] : []),
    ...(envVar === undefined ? [] : [`env: ${envVar}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join("; ")})`;
}

function report(error: unknown): number {
  if (error instanceof UserError) {
    process.stderr.write(`dualfocus: ${error.message}\n${error.remedy === undefined ? "" : `  ${error.remedy}\n`}`);
    return error.exitCode;
  }
  if (error instanceof MemberError) {
    process.stderr.write(`dualfocus: ${error.message}\n`);
    return error.exitCode;
  }
  const debug = process.env["DUALFOCUS_DEBUG"] !== undefined && error instanceof Error;
  process.stderr.write(`dualfocus: ${debug ? String(error.stack) : error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof Error && error.name === "FormatError" ? 3 : 1;
}
