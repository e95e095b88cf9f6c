import { type ImageMetrics, METRIC_NAMES } from "./imageMetrics.ts";
import type { Evaluation } from "./run.ts";

interface Column {
  readonly title: string;
  readonly metric: keyof ImageMetrics;
  readonly percent?: true;
}

/** Columns of the printed table; the rest is in the JSON. Shares are printed in percent. */
const COLUMNS: readonly Column[] = [
  { title: "MSE", metric: "mse" },
  { title: "RMSE", metric: "rmse" },
  { title: "logRMSE", metric: "logRmse" },
  { title: "AbsRel", metric: "absRel" },
  { title: "SqRel", metric: "sqRel" },
  { title: "δ1 %", metric: "delta1", percent: true },
  { title: "δ2 %", metric: "delta2", percent: true },
  { title: "δ3 %", metric: "delta3", percent: true },
  { title: "<5 %", metric: "within5", percent: true },
  { title: "<15 %", metric: "within15", percent: true },
  { title: "<25 %", metric: "within25", percent: true },
  { title: "Bump", metric: "bump" },
  { title: "BadPix %", metric: "badPix", percent: true },
  { title: "boundary F1", metric: "boundaryF1" },
  { title: "RMSE planes", metric: "rmsePlanes" },
  { title: "untextured third", metric: "rmsePlanesUntextured" },
  { title: "middle third", metric: "rmsePlanesMiddle" },
  { title: "textured third", metric: "rmsePlanesTextured" },
  { title: "silhouette", metric: "rmseSilhouette" },
  { title: "off by > 3 planes %", metric: "offSilhouette", percent: true },
  { title: "inside", metric: "rmseInside" },
  { title: "fattening %", metric: "fattening", percent: true },
  { title: "wall", metric: "rmseWall" },
  { title: "beside", metric: "rmseBeside" },
  { title: "RMSE untextured", metric: "rmseUntextured" },
  { title: "BadPix % untextured", metric: "badPixUntextured", percent: true },
  { title: "invalid trend %", metric: "invalidFocusTrend", percent: true },
];

const THIRDS = ["rmsePlanesUntextured", "rmsePlanesMiddle", "rmsePlanesTextured"] as const;

/** Sets made to show something: the table has the columns that do. */
const SHOWN: Readonly<Record<string, readonly (keyof ImageMetrics)[]>> = {
  object: ["rmsePlanes", "rmseSilhouette", "offSilhouette", "rmseInside", "fattening", "invalidFocusTrend"],
  phone: ["rmsePlanes", ...THIRDS, "boundaryF1", "invalidFocusTrend"],
  backdrop: ["rmsePlanes", "rmsePlanesTextured", "rmseWall", "rmseBeside", "boundaryF1", "invalidFocusTrend"],
};

/** Of the second table, about networks alone: how far the claimed errors hold, and the finished depth. */
const CLAIMS: readonly Column[] = [
  { title: "within ± error %", metric: "withinError", percent: true },
  { title: "textured third", metric: "withinErrorTextured", percent: true },
  { title: "untextured third", metric: "withinErrorUntextured", percent: true },
  { title: "wall %", metric: "withinErrorWall", percent: true },
  { title: "beside %", metric: "withinErrorBeside", percent: true },
  { title: "claimed planes, wall", metric: "claimedErrorWall" },
  { title: "beside", metric: "claimedErrorBeside" },
  { title: "sparsification", metric: "sparsification" },
  { title: "by spread of p", metric: "sparsificationBySpread" },
  { title: "RMSE", metric: "rmse" },
  { title: "finished", metric: "rmseFinished" },
  { title: "RMSE planes", metric: "rmsePlanes" },
  { title: "finished", metric: "rmsePlanesFinished" },
  { title: "RMSE planes, untextured third", metric: "rmsePlanesUntextured" },
  { title: "finished", metric: "rmsePlanesUntexturedFinished" },
  { title: "silhouette", metric: "rmseSilhouette" },
  { title: "finished", metric: "rmseSilhouetteFinished" },
  { title: "off by > 3 planes %", metric: "offSilhouette", percent: true },
  { title: "finished", metric: "offSilhouetteFinished", percent: true },
  { title: "fattening %", metric: "fattening", percent: true },
  { title: "finished", metric: "fatteningFinished", percent: true },
  { title: "RMSE planes, wall", metric: "rmseWall" },
  { title: "finished", metric: "rmseWallFinished" },
  { title: "RMSE planes, beside", metric: "rmseBeside" },
  { title: "finished", metric: "rmseBesideFinished" },
  { title: "boundary F1", metric: "boundaryF1" },
  { title: "finished", metric: "boundaryF1Finished" },
];

/** A Markdown table, one row per model; columns without any value are left out. */
export function markdownTable(evaluations: readonly Evaluation[]): string {
  const isShown = (metric: keyof ImageMetrics): boolean => {
    const shown = SHOWN[evaluations[0]?.dataset ?? ""];
    return shown ? shown.includes(metric) : !THIRDS.some((name) => name === metric);
  };
  return tableOf(evaluations, COLUMNS.filter(({ metric }) => isShown(metric))); // prettier-ignore
}

/** The same of what networks claim about their errors; empty if there are none. */
export function claimsTable(evaluations: readonly Evaluation[]): string {
  const networks = evaluations.filter(({ metrics }) => Number.isFinite(metrics.withinError));
  return networks.length === 0 ? "" : tableOf(networks, CLAIMS);
}

function tableOf(evaluations: readonly Evaluation[], among: readonly Column[]): string {
  const columns = among.filter(({ metric }) => evaluations.some(({ metrics }) => Number.isFinite(metrics[metric])));
  const cell = (value: number, percent = false): string =>
    Number.isFinite(value) ? (percent ? (100 * value).toFixed(1) : value.toPrecision(3)) : "–";
  const rows = evaluations.map(({ model, planes, images, metrics, secondsPerImage }) => [
    model,
    String(planes),
    String(images),
    ...columns.map(({ metric, percent }) => cell(metrics[metric], percent)),
    secondsPerImage.toPrecision(2),
  ]);
  const header = ["model", "planes", "images", ...columns.map(({ title }) => title), "s/image"];
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return line(header) + line(header.map((_, i) => (i === 0 ? "---" : "---:"))) + rows.map(line).join("");
}

/** As the command prints it with --json; NaN becomes null. */
export function jsonEntry({ perImage, ...evaluation }: Evaluation, options: { readonly perImage: boolean }): object {
  return options.perImage ? { ...evaluation, perImage } : evaluation;
}

/** One line per image and model. */
export function csvTable(evaluations: readonly Evaluation[]): string {
  const header = ["dataset", "model", "planes", "index", "image", ...METRIC_NAMES, "seconds"];
  const rows = evaluations.flatMap(({ dataset, model, perImage }) =>
    perImage.map(({ planes, index, name, metrics, seconds }) => [
      ...[dataset, model, planes, index, name].map(field),
      ...METRIC_NAMES.map((metric) => (Number.isFinite(metrics[metric]) ? String(metrics[metric]) : "")),
      String(seconds),
    ]),
  );
  return [header, ...rows].map((cells) => `${cells.join(",")}\n`).join("");
}

const field = (value: string | number): string =>
  /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
