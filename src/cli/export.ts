import { writeFileSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";

import { SIZE_MULTIPLE } from "../model/encoder.ts";
import { recordGraph, type GraphSize } from "../model/graph.ts";
import type { Model } from "../model/weightsFile.ts";
import { UserError } from "./errors.ts";
import { isConfigName, loadModel, shippedModel, untrainedModel } from "./loadModel.ts";
import { packageVersion } from "./version.ts";

interface ExportOptions {
  readonly model: string;
  readonly output: string;
  readonly planes?: number;
  readonly size?: readonly [number, number];
  readonly storage: "f32" | "f16";
  readonly fields: boolean;
  readonly untrained: boolean;
  readonly json: boolean;
}

export function exportCommand(): Command {
  return new Command("export")
    .description(
      "Write a model as an ONNX file (opset 21), for other runtimes. dualfocus itself needs none: it builds its graph when it loads.",
    )
    .requiredOption("--model <base|small|dfv|FILE>", "shipped weights, or a .safetensors file")
    .requiredOption("-o, --output <FILE.onnx>", "where to write it")
    .option("--planes <N>", "fix the number of planes (default: any)", planes)
    .option("--size <WxH>", `fix the picture size, multiples of ${SIZE_MULTIPLE} (default: any such size)`, pictureSize)
    .option("--storage <f32|f16>", "how the weights are stored", storage, "f32")
    .option("--fields", "also output Γ, z* and θ_grad(z*)", false)
    .option("--untrained", "take freshly initialised weights where none are shipped", false)
    .option("--json", "print the result as JSON", false)
    .action((options: ExportOptions) => {
      exportModel(options);
    });
}

function exportModel(options: ExportOptions): void {
  const model = chooseModel(options);
  const size: GraphSize = {
    ...(options.planes === undefined ? {} : { planes: options.planes }),
    ...(options.size === undefined ? {} : { width: options.size[0], height: options.size[1] }),
  };
  if (model.config.kind === "dfv" && (size.planes === undefined || size.width === undefined))
    throw new UserError("dfv's pooling windows depend on the stack's size", { exitCode: 2, remedy: "give --planes N and --size WxH" });
  const metadata = { ...model.metadata, producer: `dualfocus ${packageVersion()}` };
  const bytes = recordGraph({
    config: model.config,
    weights: model.weights,
    size,
    fields: options.fields,
    storage: options.storage,
    metadata,
  });
  try {
    writeFileSync(options.output, bytes);
  } catch (cause) {
    throw new UserError(`${options.output}: cannot be written (${(cause as Error).message})`, {
      exitCode: 3,
      remedy: "choose another -o",
      cause,
    });
  }
  const result = { file: options.output, bytes: bytes.length, planes: size.planes ?? "any", size: options.size?.join("x") ?? "any" };
  process.stdout.write(
    options.json
      ? `${JSON.stringify(result)}\n`
      : `${result.file}: ${(result.bytes / 1e6).toFixed(1)} MB, planes ${result.planes}, size ${result.size}\n`,
  );
}

function chooseModel({ model, untrained }: ExportOptions): Model {
  return untrained && isConfigName(model) && shippedModel(model) === undefined ? untrainedModel(model) : loadModel(model);
}

function planes(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 2) throw new InvalidArgumentError("a whole number, 2 or more");
  return count;
}

function pictureSize(text: string): readonly [number, number] {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(text) ?? [];
  const size = [Number(width), Number(height)] as const;
  if (!size.every((side) => side > 0 && side % SIZE_MULTIPLE === 0))
    throw new InvalidArgumentError(`WIDTHxHEIGHT, both multiples of ${SIZE_MULTIPLE}`);
  return size;
}

function storage(text: string): "f32" | "f16" {
  if (text !== "f32" && text !== "f16") throw new InvalidArgumentError("f32 or f16");
  return text;
}
