import { statSync } from "node:fs";
import { Command } from "commander";

import { configs, type ConfigName } from "../model/config.ts";
import { countMultiplyAccumulates, countParameters } from "../model/state.ts";
import { shippedModel } from "../network/node/loadModel.ts";

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
  };
}

function table(rows: readonly Row[]): string {
  const cells = rows.map(({ name, parameters, parametersWithClassifier, multiplyAccumulates, weights }) => [
    name,
    parameters.toLocaleString("en"),
    parametersWithClassifier.toLocaleString("en"),
    `${(multiplyAccumulates / 1e9).toFixed(1)} G`,
    weights === undefined ? "none shipped" : `${(statSync(weights).size / 1e6).toFixed(1)} MB`,
  ]);
  const header = ["model", "parameters", "with classifier", `MAC at ${STACK.planes}×${STACK.height}×${STACK.width}`, "weights"];
  const widths = header.map((title, column) => Math.max(title.length, ...cells.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ");
  return [header, ...cells].map((row) => `${line(row)}\n`).join("");
}
