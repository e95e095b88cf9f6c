import { isDeepStrictEqual } from "node:util";

import { Command, Option } from "commander";

import { EngineError, ShapeError } from "../engine/errors.ts";
import type { Storage } from "../io/safetensors.ts";
import { SIZE_MULTIPLE } from "../model/encoder.ts";
import { recordGraph, type GraphSize } from "../model/graph.ts";
import { formatFacts, type Average } from "../network/facts.ts";
import { meanModel, writeModel, type Model } from "../network/weightsFile.ts";
import { writeAtomically } from "../system/atomicFile.ts";
import { UserError } from "../system/userError.ts";
import { isConfigName, loadModel, shippedModel, untrainedModel } from "../network/node/loadModel.ts";
import { packageVersion } from "../system/packageFolder.ts";
import { sidePair, wholeNumber } from "./arguments.ts";

interface ExportOptions {
  readonly model: string;
  readonly output: string;
  readonly planes?: number;
  readonly size?: readonly [number, number];
  readonly storage: Storage;
  readonly averageWith?: string;
  readonly licence?: string;
  readonly fields: boolean;
  readonly untrained: boolean;
  readonly json: boolean;
}

export function exportCommand(): Command {
  return new Command("export")
    .requiredOption("--model <small|fine|FILE>", "shipped weights, or a .safetensors file")
    .requiredOption("-o, --output <FILE.onnx|FILE.safetensors>", "where to write it")
    .option("--planes <N>", "fix the number of planes (default: any)", wholeNumber(2))
    .option(
      "--size <WxH>",
      `fix the image size, multiples of ${SIZE_MULTIPLE} (default: any such size)`,
      sidePair({ multiple: SIZE_MULTIPLE }),
    )
    .addOption(
      new Option("--storage <type>", "how the weights are stored (int8: .safetensors only)").choices(["f32", "f16", "int8"]).default("f32"),
    )
    .option(
      "--average-with <small|fine|FILE>",
      "write the mean of both networks' weights, as of a network and what it was trained further from",
    )
    .option("--licence <NAME>", "licence to state in the file, for weights of your own")
    .option("--fields", "also output Γ, z* and θ_grad(z*)", false)
    .option("--untrained", "use freshly initialised weights where none are shipped", false)
    .option("--json", "print the result as JSON", false)
    .action(async (options: ExportOptions) => {
      const toOnnx = options.output.endsWith(".onnx");
      if (!toOnnx && !options.output.endsWith(".safetensors"))
        throw new UserError(`${options.output}: neither .onnx nor .safetensors`, { exitCode: 2, remedy: "end -o with one of them" });
      const model = licensed(averaged(chooseModel(options), options), options);
      const bytes = toOnnx ? graphOf(model, options) : writeModel(model, { storage: options.storage });
      await writeAtomically(options.output, bytes);
      const result = { file: options.output, bytes: bytes.length, storage: options.storage };
      process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : `${result.file}: ${(result.bytes / 1e6).toFixed(1)} MB\n`);
    });
}

function graphOf({ config, weights, facts }: Model, { planes, size: given, fields, storage }: ExportOptions): Uint8Array {
  if (storage === "int8") throw new UserError("ONNX files are written in f32 or f16", { exitCode: 2, remedy: "use --storage f16" });
  const size: GraphSize = {
    ...(planes === undefined ? {} : { planes }),
    ...(given === undefined ? {} : { width: given[0], height: given[1] }),
  };
  if (config.kind === "dfv" && (planes === undefined || given === undefined))
    throw new UserError("dfv's pooling windows depend on the stack's size", { exitCode: 2, remedy: "give --planes N and --size WxH" });
  if (fields && (config.kind === "dfv" || config.surface === undefined))
    throw new UserError("this network has no spatial constraint, so it has no Γ and z*", { exitCode: 2, remedy: "leave --fields out" });
  const { average = "metres" } = facts;
  const metadata = { ...formatFacts(facts), ...usage(average), producer: `dualfocus ${packageVersion()}` };
  try {
    return recordGraph({ config, weights, size, fields, storage, metadata, average });
  } catch (cause) {
    if (!(cause instanceof EngineError || cause instanceof ShapeError)) throw cause;
    const remedy = "a surface on its native grid needs --size WxH; a dense or confidence-weighted solve runs with the torch engine only";
    throw new UserError(`this network cannot be an ONNX graph: ${cause.message}`, { exitCode: 3, remedy, cause });
  }
}

/** What someone needs who has nothing but the file; docs/library.md has it at length. */
const usage = (average: Average): Record<string, string> => ({
  inputs:
    "images [B, N, 3, H, W]: float32, sRGB values as stored divided by the largest (0 to 1), RGB, aligned, nearest focus first; " +
    `H and W multiples of ${SIZE_MULTIPLE} (pad by repeating the border, and crop the outputs). focusDistances [B, N]: float32, metres, increasing`,
  outputs:
    "depth [B, 1, H, W]: metres. probability [B, N, H, W]: share of each plane, sums to 1 over N. " +
    "spread [B, 1, H, W]: standard deviation of the focus distance under probability, metres",
  averaging:
    average === "dioptres"
      ? "depth = 1 / sum(probability / focusDistances). For plane indices, positions of a microscope, or dioptres with a plane at infinity: sum(probability * value)"
      : "depth = sum(probability * focusDistances)",
  workingSize:
    "dualfocus depth runs the network on images of 768 pixels on the longer side, larger (up to twice) where a step between planes adds less than 4 pixels of blur, and resizes the result; " +
    "where these have 576 or more, it combines that with a second run on images reduced to 384 pixels, or a third if that is more (docs/depth.md, Two sizes)",
});

function averaged(model: Model, { model: name, averageWith: otherName }: ExportOptions): Model {
  if (otherName === undefined) return model;
  const other = loadModel(otherName);
  if (!isDeepStrictEqual(model.config, other.config))
    throw new UserError(`${name} and ${otherName} are different networks`, {
      exitCode: 2,
      remedy: "give --average-with weights of the same one",
    });
  if (model.facts.average !== other.facts.average)
    throw new UserError(`${name} and ${otherName} average focus distances in different units`, {
      exitCode: 2,
      remedy: "give weights trained in the same one",
    });
  return meanModel(model, other);
}

/** Weights that state a licence keep it: the terms of what they were trained on are not ours to change. */
function licensed(model: Model, { licence, model: name }: ExportOptions): Model {
  if (licence === undefined) return model;
  if (licence.trim() === "") throw new UserError("--licence: the name is empty", { exitCode: 2, remedy: "give one, such as Apache-2.0" });
  const { licence: stated = licence } = model.facts;
  if (stated !== licence) throw new UserError(`${name}: states the licence "${stated}"`, { exitCode: 2, remedy: "leave --licence out" });
  return { ...model, facts: { ...model.facts, licence } };
}

function chooseModel({ model, untrained }: ExportOptions): Model {
  return untrained && isConfigName(model) && shippedModel(model) === undefined ? untrainedModel(model) : loadModel(model);
}
