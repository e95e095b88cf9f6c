import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Command, Option } from "commander";

import type { Case } from "../bench/case.ts";
import { peakMemory } from "../bench/memory.ts";
import { onnxRuntime } from "../bench/onnxRuntime.ts";
import { formatBench } from "../bench/report.ts";
import { bench } from "../bench/run.ts";
import type { BenchRuntime } from "../bench/runtime.ts";
import { UserError } from "../system/userError.ts";
import { configs, type ConfigName } from "../model/config.ts";
import { DFV_LEAST_SIDE } from "../model/dfv.ts";
import { SIZE_MULTIPLE } from "../model/encoder.ts";
import { listOf, oneOf, parser, sidePair, wholeNumber } from "./arguments.ts";

type Size = readonly [height: number, width: number];

interface BenchCommandOptions {
  readonly device: string;
  readonly model: readonly ConfigName[];
  readonly size: readonly Size[];
  readonly planes: readonly number[];
  readonly grid: readonly number[];
  readonly batchSize: readonly number[];
  readonly repeats: number;
  readonly threads: number;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly memoryOnly: boolean;
}

/** Runs `dualfocus` with these arguments in a process of its own and gives what it printed. */
export type RunSelf = (args: readonly string[]) => Promise<string>;

/** `self` may be replaced where this program is not the process's own. */
export function benchCommand({ self = runSelf }: { readonly self?: RunSelf } = {}): Command {
  return new Command("bench")
    .option("--device <NAME>", "where the networks run: cpu, webgpu, cuda or cuda:N", device, "cpu")
    .option("--model <LIST>", "small, fine, base, dfv; several with commas", listOf(oneOf(Object.keys(configs) as ConfigName[])), [
      "small",
    ] as const)
    .option("--size <LIST>", "height×width of the images, as 192x288,384x576", listOf(sidePair({ multiple: SIZE_MULTIPLE })), [
      [128, 192],
      [192, 288],
      [384, 576],
    ] as const) // prettier-ignore
    .option("--planes <LIST>", "planes of the stacks, as 3,5,10", listOf(wholeNumber(2)), [3, 5, 10] as const)
    .option("--grid <LIST>", "sides of the grid of Γ and z*, timed at the first size and number of planes", listOf(wholeNumber(2)), [
      10, 14, 20, 28,
    ] as const)
    .option("--batch-size <LIST>", "stacks in one run, as 1,4,16", listOf(wholeNumber(1)), [1] as const)
    .option("--repeats <K>", "timed runs of each case, more where they take milliseconds", wholeNumber(1), 5)
    .option("--threads <N>", "CPU threads (0: one per core)", wholeNumber(0), 0)
    .option("--json", "print one JSON document", false)
    .option("--quiet", "no progress", false)
    .addOption(new Option("--memory-only", "print only the memory of the first case").default(false).hideHelp())
    .action((options: BenchCommandOptions) => runBench(options, self));
}

async function runBench(options: BenchCommandOptions, self: RunSelf): Promise<void> {
  const cases = benchCases(options);
  checkSizes(cases);
  const runtime = await openRuntime(options);
  const [first] = cases;
  if (options.memoryOnly && first) {
    process.stdout.write(`${await peakMemory(runtime, first)}\n`);
    return;
  }
  const progress = (line: string): void => {
    if (!options.quiet) process.stderr.write(`${line}\n`);
  };
  const now = (): number => performance.now() / 1000;
  const memory = async (each: Case): Promise<number | undefined> =>
    each.grid === undefined ? Number(await self(memoryArguments(each, options))) : undefined;
  const measured = await bench(runtime, cases, { repeats: options.repeats, now, progress, memory });
  process.stdout.write(options.json ? `${JSON.stringify(measured)}\n` : formatBench(measured));
}

/** DFV's pooling leaves nothing of smaller images. */
function checkSizes(cases: readonly Case[]): void {
  const small = cases.find(({ model, height, width }) => configs[model].kind === "dfv" && Math.min(height, width) < DFV_LEAST_SIDE);
  if (!small) return;
  throw new UserError(
    `--size ${small.height}x${small.width}: ${small.model} takes images of ${DFV_LEAST_SIDE}x${DFV_LEAST_SIDE} and more`,
    {
      exitCode: 2,
      remedy: `leave the size or ${small.model} out`,
    },
  );
}

function memoryArguments({ model, batch, planes, height, width }: Case, { device, threads }: BenchCommandOptions): string[] {
  const one = ["--model", model, "--planes", `${planes}`, "--size", `${height}x${width}`, "--batch-size", `${batch}`];
  return ["bench", "--memory-only", ...one, "--device", device, "--threads", `${threads}`];
}

const runSelf: RunSelf = async (args) => {
  const program = [...process.execArgv, process.argv[1] ?? "", ...args];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  return stdout;
};

async function openRuntime({ device, threads }: BenchCommandOptions): Promise<BenchRuntime> {
  if (device === "cpu") return onnxRuntime({ device, threads });
  if (device === "webgpu") return withAdapter(onnxRuntime({ device, threads }));
  const { cudaRuntime } = await import("../bench/cudaRuntime.ts"); // brings the addon, which the others do without
  try {
    return cudaRuntime({ device });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new UserError(`--device ${device}: ${message}`, { exitCode: 2, remedy: "use --device cpu", cause });
  }
}

/** The runtime, if it can load a graph: ONNX Runtime looks for an adapter only then. */
export async function withAdapter(runtime: BenchRuntime): Promise<BenchRuntime> {
  try {
    await (await runtime.products()).dispose();
    return runtime;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const reason = /adapter/i.test(message) ? "ONNX Runtime finds no graphics adapter" : message; // its own words begin with its source files
    throw new UserError(`--device ${runtime.device}: ${reason}`, {
      exitCode: 2,
      remedy: "install the graphics driver (on Linux with Vulkan), or use --device cpu",
      cause,
    });
  }
}

const device = parser("cpu, webgpu, cuda or cuda:N", (text) => (/^(cpu|webgpu|cuda(:\d+)?)$/.test(text) ? text : undefined));

type CaseOptions = Pick<BenchCommandOptions, "model" | "size" | "planes" | "grid" | "batchSize">;

/** Every model with every size, number of planes and of stacks; then its grids at the first of them. */
export function benchCases({ model, size, planes, grid, batchSize }: CaseOptions): Case[] {
  return model.flatMap((name) => {
    const stacks = size.flatMap(([height, width]) => planes.map((N) => ({ planes: N, height, width })));
    const whole = stacks.flatMap((stack) => batchSize.map((B): Case => ({ model: name, batch: B, ...stack })));
    const [first] = whole;
    if (!first || configs[name].kind === "dfv") return whole; // DFV has no grid
    const others = grid.filter((side) => configs[name].kind === "dualfocus" && side !== configs[name].surface?.grid);
    return [...whole, ...others.map((side): Case => ({ ...first, grid: side }))];
  });
}
