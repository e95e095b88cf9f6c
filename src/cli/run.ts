import { Command, CommanderError, type Option } from "commander";

import { packageVersion } from "../system/packageFolder.ts";

interface Entry {
  readonly description: string;
  /** A command's module, and all it needs, is loaded when the command is called. */
  readonly load: () => Promise<Command>;
}

/** Every command, in the order of the help. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  check: {
    description:
      "Check a focal stack before depth is computed: order, gaps, shake, exposure, missing distances, and what to do about them.",
    load: async () => (await import("./check.ts")).checkCommand(),
  },
  depth: {
    description:
      "Compute depth, an all-in-focus image and confidence from a focal stack: a folder, images, a stack.json or a multi-page TIFF.",
    load: async () => (await import("./depth.ts")).depthCommand(),
  },
  render: {
    description: "Render focal stacks of procedural scenes through a thin lens, with exact depth.",
    load: async () => (await import("./render.ts")).renderCommand(),
  },
  synthesize: {
    description: "Make a focal stack from one sharp image and its depth, with the circle of confusion of a thin lens.",
    load: async () => (await import("./synthesize.ts")).synthesizeCommand(),
  },
  train: {
    description: "Train a network, on rendered scenes or on a published dataset.",
    load: async () => (await import("./train.ts")).trainCommand(),
  },
  evaluate: {
    description:
      "Measure depth against the ground truth of a dataset, by its published protocol: networks and classical methods side by side.",
    load: async () => (await import("./evaluate.ts")).evaluateCommand(),
  },
  reproduce: {
    description: "Reproduce tables of the paper, its numbers beside ours; without a table, list them.",
    load: async () => (await import("./reproduce.ts")).reproduceCommand(),
  },
  bench: {
    description: "Time the networks on this machine, and compare with its peak performance.",
    load: async () => (await import("./bench.ts")).benchCommand(),
  },
  export: {
    description:
      "Write a model as an ONNX file (opset 21) for other runtimes; dualfocus itself builds its graph when it loads. " +
      "With -o FILE.safetensors, convert how the weights are stored.",
    load: async () => (await import("./export.ts")).exportCommand(),
  },
  models: {
    description: "List the networks: parameters, multiply-accumulates, shipped weights.",
    load: async () => (await import("./models.ts")).modelsCommand(),
  },
  web: {
    description: "Open the web page: drop a focal stack, see its depth, refocus it and turn it in 3-D. Photos stay on this machine.",
    load: async () => (await import("./web.ts")).webCommand(),
  },
  serve: {
    description: "Serve depth over HTTP: POST a stack, follow the job, GET the results. /docs describes the API.",
    load: async () => (await import("./serve.ts")).serveCommand(),
  },
  worker: {
    description: "Take jobs from Redis and compute them, or list and retry those that failed for good.",
    load: async () => (await import("./worker.ts")).workerCommand(),
  },
  batch: {
    description: "Send a folder of stacks to the workers and collect the results. Run it again to continue where it stopped.",
    load: async () => (await import("./batch.ts")).batchCommand(),
  },
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

/** One command with its options. */
export async function loadCommand(name: string): Promise<Command> {
  const { description, load } = COMMANDS[name] as Entry;
  return (await load())
    .description(description)
    .exitOverride() // commander would call process.exit in the middle of our work
    .showHelpAfterError(`(dualfocus ${name} --help explains the options)`)
    .configureHelp({ optionDescription: describeOption });
}

/** The command line. Of the commands, only the one that is called has more than a name and a description. */
async function program(called: string | undefined): Promise<Command> {
  const whole = new Command("dualfocus")
    .description("Metric depth from focal stacks: photos of one scene, focus moved between them.")
    .version(packageVersion())
    .showHelpAfterError("(dualfocus --help lists the commands)")
    .exitOverride();
  for (const [name, { description }] of Object.entries(COMMANDS))
    whole.addCommand(name === called ? await loadCommand(name) : new Command(name).description(description));
  return whole;
}

/**
 * Runs one command line; results go to stdout, progress and errors to stderr. The number is the exit code: 0 ok, 2 usage, 3 bad input,
 * 4 alignment, 5 metadata, 130 stopped, 1 anything else.
 */
export async function run(args: readonly string[]): Promise<number> {
  const command = await program(args[0] === "help" ? args[1] : args[0]);
  try {
    await command.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : await reportUsage(error, args);
    return await report(error);
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

/** commander has printed its message; with `--json` it is a document on stdout, too. */
async function reportUsage({ message }: CommanderError, args: readonly string[]): Promise<number> {
  if (args.includes("--json")) {
    const { usageDocument } = await import("./words.ts");
    const command = COMMAND_NAMES.find((name) => name === args[0]);
    process.stdout.write(`${JSON.stringify({ error: usageDocument(message, command) })}\n`);
  }
  return 2;
}

async function report(error: unknown): Promise<number> {
  const { asUserError } = await import("./words.ts"); // needed only here, and by the commands themselves
  const known = asUserError(error);
  if (known) {
    process.stderr.write(`dualfocus: ${known.message}\n${known.remedy === undefined ? "" : `  ${known.remedy}\n`}`);
    return known.exitCode;
  }
  const debug = process.env["DUALFOCUS_DEBUG"] !== undefined && error instanceof Error;
  process.stderr.write(`dualfocus: ${debug ? String(error.stack) : error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof Error && "exitCode" in error) return Number(error.exitCode); // a process of a group: its own
  return 1;
}
