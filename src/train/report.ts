import type { Image } from "../image.ts";
import { encodePng } from "../io/png.ts";
import type { LogEntry } from "./loop.ts";

/** One stack of the validation set, as the averaged weights see it. */
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

const COLOURS = ["#1f5fbf", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0e7490", "#be123c", "#4d7c0f"];

/** A run as one HTML page that needs nothing else: curves as SVG, pictures inside. */
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
  const rows = facts.map(([name, value]) => `<tr><th>${escape(name)}</th><td>${escape(value)}</td></tr>`).join("");
  const pictures = examples.map(exampleRow).join("\n");
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${escape(title)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1100px; color: #1c1917; }
svg { max-width: 100%; } figure { margin: 0 0 1.5rem; display: inline-block; } th { text-align: left; padding-right: 1rem; font-weight: 600; }
img { width: 24%; image-rendering: pixelated; } text { font: 11px system-ui, sans-serif; fill: #57534e; }
</style>
<h1>${escape(title)}</h1>
<table>${rows}</table>
${charts.join("\n")}
${pictures === "" ? "" : `<h2>Examples</h2><p>A plane of the stack, true depth, predicted depth, their difference.</p>\n${pictures}`}
</html>
`;
}

const escape = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

interface Curves {
  readonly entries: readonly LogEntry[];
  readonly names: readonly string[];
  readonly logarithmic: boolean;
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [520, 260, 60, 30, 24];

/** Lines over the step; empty where nothing was logged. */
function chart(title: string, { entries, names, logarithmic }: Curves): string {
  const scale = (value: number): number => (logarithmic ? Math.log10(Math.max(value, 1e-9)) : value);
  const values = entries.flatMap((entry) =>
    names.map((name) => entry[name]).filter((value) => value !== undefined && (!logarithmic || value > 0)),
  );
  if (values.length === 0) return "";
  const [low, high] = [Math.min(...values.map((value) => scale(value ?? 0))), Math.max(...values.map((value) => scale(value ?? 0)))];
  const last = Math.max(...entries.map(({ step }) => step), 1);
  const x = (step: number): number => LEFT + ((WIDTH - LEFT - 10) * step) / last;
  const y = (value: number): number => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * (scale(value) - low)) / (high - low || 1);
  const lines = names.map((name, i) => {
    const points = entries.flatMap((entry) => {
      const value = entry[name];
      return value === undefined || (logarithmic && value <= 0) ? [] : [`${x(entry.step).toFixed(1)},${y(value).toFixed(1)}`];
    });
    const colour = COLOURS[i % COLOURS.length] ?? "#000";
    const label = `<text x="${LEFT + 8 + 110 * i}" y="14" style="fill:${colour}">${escape(name)}</text>`;
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.join(" ")}"/>${label}`;
  });
  const ticks = [0, 0.5, 1].map((share) => {
    const at = low + (high - low) * share;
    const value = logarithmic ? 10 ** at : at;
    return `<line x1="${LEFT}" x2="${WIDTH - 10}" y1="${y(value)}" y2="${y(value)}" stroke="#e7e5e4"/><text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${value.toPrecision(3)}</text>`;
  });
  const steps = `<text x="${LEFT}" y="${HEIGHT - 8}">0</text><text x="${WIDTH - 10}" y="${HEIGHT - 8}" text-anchor="end">${last} steps</text>`;
  return `<figure><figcaption>${escape(title)}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}">${ticks.join("")}${lines.join("")}${steps}</svg></figure>`;
}

function exampleRow({ name, picture, truth, prediction, error }: Example): string {
  const pictures = Object.entries({ picture, truth, prediction, error });
  const tags = pictures.map(([kind, image]) => `<img alt="${escape(`${name}, ${kind}`)}" src="${dataUri(image)}">`);
  return `<p>${tags.join(" ")}</p>`;
}

const dataUri = (image: Image): string => `data:image/png;base64,${Buffer.from(encodePng(image)).toString("base64")}`;
