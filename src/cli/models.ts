import { readFileSync } from "node:fs";
import { Command } from "commander";

import { configs, type ConfigName } from "../model/config.ts";
import { countMultiplyAccumulates, countParameters } from "../model/state.ts";
import type { NetworkFacts } from "../network/facts.ts";
import { shippedModel } from "../network/node/loadModel.ts";
import { readFacts } from "../network/weightsFile.ts";

/** DDFF 12-Scene's padded size: what the paper's runtime table measures. */
const STACK = { planes: 5, height: 384, width: 576 } as const;

export function modelsCommand(): Command {
  return new Command("models").option("--json", "print the list as JSON", false).action(({ json }: { json: boolean }) => {
    const rows = (Object.keys(configs) as ConfigName[]).map(describe);
    process.stdout.write(json ? `${JSON.stringify({ stack: STACK, models: rows })}\n` : table(rows));
  });
}

interface Row {
  readonly name: ConfigName;
  readonly parameters: number;
  /** Counting ResNet-18's unused classifier, as the paper and DFV do. */
  readonly parametersWithClassifier: number;
  readonly multiplyAccumulates: number;
  readonly weights: string | undefined;
  /** Of the weights file. */
  readonly bytes?: number;
  /** What the weights file says about the network. */
  readonly facts?: NetworkFacts;
}

function describe(name: ConfigName): Row {
  const config = configs[name];
  const counted = { ...config, encoder: { ...config.encoder, classifier: true } };
  return {
    name,
    parameters: countParameters(config),
    parametersWithClassifier: countParameters(counted),
    multiplyAccumulates: countMultiplyAccumulates(config, STACK),
    weights: shippedModel(name),
    ...describeWeights(shippedModel(name)),
  };
}

function describeWeights(file: string | undefined): Pick<Row, "bytes" | "facts"> {
  if (file === undefined) return {};
  const bytes = readFileSync(file);
  return { bytes: bytes.length, facts: readFacts(bytes, file) };
}

function table(rows: readonly Row[]): string {
  const cells = rows.map(({ name, parameters, parametersWithClassifier, multiplyAccumulates, bytes, facts }) => [
    name,
    parameters.toLocaleString("en"),
    parametersWithClassifier.toLocaleString("en"),
    `${(multiplyAccumulates / 1e9).toFixed(1)} G`,
    bytes === undefined ? "none shipped" : `${(bytes / 1e6).toFixed(1)} MB`,
    facts?.planes?.join("–") ?? "",
    facts?.average ?? "",
    facts?.training ? `${facts.training.reduce((sum, { minutes }) => sum + minutes, 0).toFixed(1)} min` : "",
    facts?.licence ?? "",
  ]);
  const size = `${STACK.planes}×${STACK.height}×${STACK.width}`;
  const header = ["model", "parameters", "with classifier", `MAC at ${size}`, "weights", "planes", "average", "trained", "licence"];
  const widths = header.map((title, column) => Math.max(title.length, ...cells.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return [header, ...cells].map((row) => `${line(row)}\n`).join("");
}
