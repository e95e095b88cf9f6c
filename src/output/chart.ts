import { niceStep, ticks } from "./ticks.ts";

/** Points of one colour, connected in the order given. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Text at the last point. Default: the name; "" for none. */
  readonly label?: string;
}

export interface Axis {
  readonly title: string;
  /** Values at or below 0 are left out if true. */
  readonly logarithmic?: boolean;
  /** Start of the axis, if it is not the least value. */
  readonly from?: number;
  /** The values to label. Default: round ones. */
  readonly at?: readonly number[];
}

export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** Draw a disc at every point. */
  readonly marks?: boolean;
}

const COLOURS = ["#1f5fbf", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0e7490", "#be123c", "#4d7c0f"];
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [560, 320, 64, 110, 30, 46];

/** An axis in pixels: the position of a value, and the values to label. */
interface Scale {
  readonly place: (value: number) => number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

/** The chart as a stand-alone SVG file. */
export const chartFile = (chart: Chart): string => drawChart(chart).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"');

/** A line chart as SVG for a page; empty if there is nothing to draw. Names are at the ends of their lines. */
export function drawChart({ title, x, y, series, marks = false }: Chart): string {
  const isDrawable = ([a, b]: readonly [number, number]): boolean =>
    Number.isFinite(a) && Number.isFinite(b) && (x.logarithmic !== true || a > 0) && (y.logarithmic !== true || b > 0);
  const drawn = series.map((each) => ({ ...each, points: each.points.filter(isDrawable) })).filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return "";
  const all = drawn.flatMap(({ points }) => points);
  const across = scaleOf(x, all.map(([value]) => value), [LEFT, WIDTH - RIGHT]); // prettier-ignore
  const up = scaleOf(y, all.map(([, value]) => value), [HEIGHT - BOTTOM, TOP]); // prettier-ignore
  const heights = labelHeights(drawn.map(({ points }) => up.place((points.at(-1) as readonly [number, number])[1])));
  const lines = drawn.map((each, i) =>
    drawSeries(each, { across, up, colour: COLOURS[i % COLOURS.length] ?? "#000", marks, labelAt: heights[i] ?? 0 }),
  );
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" font-family="system-ui, sans-serif" font-size="11" fill="#57534e">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/><text x="${LEFT}" y="16" font-size="13" fill="#1c1917">${escapeXml(title)}</text>`,
    ...up.ticks.map(({ value, label }) => {
      const at = fixed(up.place(value));
      return `<path d="M${LEFT} ${at}H${WIDTH - RIGHT}" stroke="#e7e5e4"/><text x="${LEFT - 6}" y="${fixed(up.place(value) + 4)}" text-anchor="end">${label}</text>`;
    }),
    ...across.ticks.map(({ value, label }) => {
      const at = fixed(across.place(value));
      return `<path d="M${at} ${HEIGHT - BOTTOM}v4" stroke="#a8a29e"/><text x="${at}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${label}</text>`;
    }),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">${escapeXml(x.title)}</text>`,
    `<text transform="translate(14 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escapeXml(y.title)}</text>`,
    ...lines,
    "</svg>\n",
  ].join("");
}

interface Drawing {
  readonly across: Scale;
  readonly up: Scale;
  readonly colour: string;
  readonly marks: boolean;
  readonly labelAt: number;
}

function drawSeries({ name, label = name, points }: Series, { across, up, colour, marks, labelAt }: Drawing): string {
  const places = points.map(([a, b]) => [fixed(across.place(a)), fixed(up.place(b))] as const);
  const discs = marks ? places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`).join("") : "";
  const end = places.at(-1)?.[0] ?? "0";
  const joined = places.map((place) => place.join(",")).join(" ");
  const line = `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${joined}"/>`;
  return `${line}${discs}<text x="${Number(end) + 8}" y="${fixed(labelAt + 4)}" fill="${colour}">${escapeXml(label)}</text>`;
}

function scaleOf({ logarithmic = false, from, at }: Axis, values: readonly number[], [start, end]: readonly [number, number]): Scale {
  const along = (value: number): number => (logarithmic ? Math.log10(value) : value);
  const [least, greatest] = [Math.min(from ?? Infinity, ...values), Math.max(...values)];
  const given = at?.map((value) => ({ value, label: String(value) }));
  const marks = given ?? (logarithmic ? logarithmicTicks(least, greatest) : ticks([least, greatest + 1e-12], 6));
  const [low, high] = logarithmic
    ? [Math.min(least, marks[0]?.value ?? least), Math.max(greatest, marks.at(-1)?.value ?? greatest)]
    : [least, greatest];
  const span = along(high) - along(low) || 1;
  return { place: (value) => start + ((end - start) * (along(value) - along(low))) / span, ticks: marks };
}

/** 1, 2, 5 × 10ⁿ that enclose the range; only powers of ten over a wide range. */
function logarithmicTicks(least: number, greatest: number): { value: number; label: string }[] {
  const values: number[] = [];
  const many = greatest / least > 1000;
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(greatest)); power++)
    for (const digit of many ? [1] : [1, 2, 5]) values.push(Number(`${digit}e${power}`));
  const first = niceStep(least);
  const last = values.find((value) => value >= greatest * (1 - 1e-9)) ?? greatest;
  return values.filter((value) => value >= first * (1 - 1e-9) && value <= last).map((value) => ({ value, label: String(value) }));
}

const LABEL_HEIGHT = 13;

/** The wanted heights of labels, moved apart where they would overlap. */
function labelHeights(wanted: readonly number[]): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const heights = [...wanted];
  let above = -Infinity;
  for (const i of order) {
    heights[i] = above = Math.max(wanted[i] ?? 0, above + LABEL_HEIGHT);
  }
  return heights;
}

const fixed = (value: number): string => value.toFixed(1);

export const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
