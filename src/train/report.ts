import type { Image } from "../image/image.ts";
import { encodePng } from "../io/png.ts";
import { drawChart, escapeXml } from "../output/chart.ts";
import type { LogEntry } from "./loop.ts";

/** One stack of the validation set with the depth predicted by the averaged weights. */
export interface Example {
  readonly name: string;
  /** A plane of the stack, RGB in [0, 1]. */
  readonly picture: Image;
  /** True and predicted depth and their difference, grey in [0, 1]. */
  readonly truth: Image;
  readonly prediction: Image;
  readonly error: Image;
}

export interface Report {
  readonly title: string;
  /** Name and value, as a table. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly entries: readonly LogEntry[];
  readonly examples: readonly Example[];
}

/** A run as one self-contained HTML page, with curves as SVG and images inside. */
export function formatReport({ title, facts, entries, examples }: Report): string {
  const losses = entries.filter((entry) => entry["total"] !== undefined);
  const metrics = entries.filter((entry) => entry["total"] === undefined);
  const names = (from: readonly LogEntry[], keep: (name: string) => boolean): string[] =>
    [...new Set(from.flatMap((entry) => Object.keys(entry)))].filter(keep);
  const parts = ["total", "depth", "spatial", "focal"];
  const charts = [
    chart("Loss", { entries: losses, names: names(losses, (name) => parts.includes(name)), logarithmic: true }),
    ...["rmse", "mae", "within", "invalidTrend"].map((metric) =>
      chart(metric, { entries: metrics, names: names(metrics, (name) => name.startsWith(metric)), logarithmic: false }),
    ),
    chart("Learning rate", { entries: losses, names: ["rate"], logarithmic: false }),
    chart("Stacks a second", { entries: losses, names: ["stacksPerSecond"], logarithmic: false }),
  ];
  const rows = facts.map(([name, value]) => `<tr><th>${escapeXml(name)}</th><td>${escapeXml(value)}</td></tr>`).join("");
  const pictures = examples.map(exampleRow).join("\n");
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${escapeXml(title)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1100px; color: #1c1917; }
svg { max-width: 100%; } figure { margin: 0 0 1.5rem; display: inline-block; } th { text-align: left; padding-right: 1rem; font-weight: 600; }
img { width: 24%; image-rendering: pixelated; }
</style>
<h1>${escapeXml(title)}</h1>
<table>${rows}</table>
${charts.join("\n")}
${pictures === "" ? "" : `<h2>Examples</h2><p>A plane of the stack, true depth, predicted depth, their difference.</p>\n${pictures}`}
</html>
`;
}

interface Curves {
  readonly entries: readonly LogEntry[];
  readonly names: readonly string[];
  readonly logarithmic: boolean;
}

/** Lines over the step; empty where nothing was logged. */
function chart(title: string, { entries, names, logarithmic }: Curves): string {
  const series = names.map((name) => ({ name, points: entries.map((entry) => [entry.step, entry[name] ?? NaN] as const) }));
  const picture = drawChart({ title, x: { title: "steps", from: 0 }, y: { title: "", logarithmic }, series });
  return picture === "" ? "" : `<figure>${picture}</figure>`;
}

function exampleRow({ name, picture, truth, prediction, error }: Example): string {
  const pictures = Object.entries({ picture, truth, prediction, error });
  const tags = pictures.map(([kind, image]) => `<img alt="${escapeXml(`${name}, ${kind}`)}" src="${dataUri(image)}">`);
  return `<p>${tags.join(" ")}</p>`;
}

const dataUri = (image: Image): string => `data:image/png;base64,${Buffer.from(encodePng(image)).toString("base64")}`;
