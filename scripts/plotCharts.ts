import { z } from "zod";

import { configs, type ConfigName } from "../src/model/config.ts";
import { countMultiplyAccumulates } from "../src/model/state.ts";
import type { Chart, Series } from "../src/output/chart.ts";

/** What `dualfocus evaluate --dataset render --planes 3,5,10 --json` prints. */
const evaluations = z.object({
  results: z.array(
    z.object({
      model: z.string(),
      planes: z.number(),
      images: z.number(),
      metrics: z.object({ rmsePlanes: z.number().nullable(), absRel: z.number().nullable() }),
    }),
  ),
});

/** What `dualfocus bench --json` prints. */
const timings = z.object({
  description: z.string(),
  rows: z.array(
    z.object({
      model: z.string(),
      planes: z.number(),
      height: z.number(),
      width: z.number(),
      grid: z.number().optional(),
      batch: z.number().default(1),
      median: z.number(),
    }),
  ),
});

const PLANES = 5;
const SIDE = 256; // of the rendered benchmark's images

const isNetwork = (model: string): model is ConfigName => model in configs;

/** Error over multiply-accumulates; methods that have none are horizontal lines. */
export function accuracyChart(printed: unknown): Chart {
  const found = evaluations.parse(printed).results.filter(({ planes }) => planes === PLANES);
  const cost = (model: ConfigName): number => countMultiplyAccumulates(configs[model], { planes: PLANES, height: SIDE, width: SIDE }) / 1e9;
  const networks = found.flatMap(({ model, metrics }) =>
    isNetwork(model) ? [{ model, x: cost(model), y: metrics.rmsePlanes ?? NaN }] : [],
  );
  const ends = [Math.min(...networks.map(({ x }) => x)), Math.max(...networks.map(({ x }) => x))];
  const across = found.flatMap(({ model, metrics }): Series[] =>
    isNetwork(model) ? [] : [{ name: model, points: ends.map((x) => [x, metrics.rmsePlanes ?? NaN] as const) }],
  );
  return {
    title: `Error over multiply-accumulates: ${found[0]?.images ?? 0} rendered stacks, ${PLANES} planes`,
    x: { title: `GMAC per stack of ${PLANES}×${SIDE}×${SIDE}`, logarithmic: true },
    y: { title: "RMSE, planes", from: 0 },
    series: [...networks.map(({ model, x, y }): Series => ({ name: model, points: [[x, y]] })), ...across],
    marks: true,
  };
}

/** Error over the number of planes, in a unit that does not depend on it. */
export function planesChart(printed: unknown): Chart {
  const { results } = evaluations.parse(printed);
  const models = [...new Set(results.map(({ model }) => model))];
  return {
    title: `Error over the number of planes: ${results[0]?.images ?? 0} rendered stacks`,
    x: { title: "planes", at: [...new Set(results.map(({ planes }) => planes))] },
    y: { title: "AbsRel, %", from: 0 },
    series: models.map((name) => ({
      name,
      points: results.filter(({ model }) => model === name).map(({ planes, metrics }) => [planes, 100 * (metrics.absRel ?? NaN)] as const),
    })),
    marks: true,
  };
}

/** Seconds over image size, one line per network. */
export function timeChart(printed: unknown): Chart {
  const { description, rows } = timings.parse(printed);
  const [first] = rows;
  const planes = rows.some((row) => row.planes === PLANES) ? PLANES : (first?.planes ?? PLANES);
  const shown = rows.filter((row) => row.planes === planes && row.grid === undefined && row.batch === 1);
  return {
    title: `Time over image size: ${planes} planes, ${description}`,
    x: { title: "megapixels", logarithmic: true },
    y: { title: "seconds per stack", logarithmic: true },
    series: [...new Set(shown.map(({ model }) => model))].map((name) => ({
      name,
      points: shown.filter(({ model }) => model === name).map(({ height, width, median }) => [(height * width) / 1e6, median] as const),
    })),
    marks: true,
  };
}
