import sharp from "sharp";
import type { DepthMap } from "../image/depthMap.ts";
import type { Image } from "../image/image.ts";
import { type Colour, depthColour, errorColour } from "./colours.ts";
import type { Shown } from "./run.ts";

const TILE_WIDTH = 256;
const GAP = 4;
const HEADER = 22;
/** The error that is drawn brightest, as a share of the image's depth range. */
const BRIGHTEST = 0.25;

type Paint = (x: number, y: number) => Colour;

interface Row {
  readonly width: number;
  readonly height: number;
  readonly tiles: readonly Paint[];
}

/**
 * A contact sheet, one row per image: the middle plane, the ground truth, then each model's depth and its error. The depth colours of a
 * row share the range of its truth.
 */
export class Sheet {
  readonly #rows: Row[] = [];
  #titles: readonly string[] = [];

  add({ sample, estimates }: Shown): void {
    const { stack, trueDepth } = sample;
    const range = valueRange(trueDepth);
    const middle = stack.images[stack.images.length >> 1] as Image;
    const models = estimates.flatMap(({ estimate: { depth } }) => [depthPaint(depth, range), errorPaint({ depth, trueDepth }, range)]);
    this.#titles = ["input", "truth", ...estimates.flatMap(({ model }) => [model, `error of ${model}`])];
    this.#rows.push(scaled(trueDepth, [imagePaint(middle), depthPaint(trueDepth, range), ...models]));
  }

  get titles(): readonly string[] {
    return this.#titles;
  }

  /** The sheet as PNG bytes. */
  async encode(): Promise<Uint8Array> {
    const columnWidth = Math.max(...this.#rows.map(({ width }) => width));
    const width = this.#titles.length * (columnWidth + GAP) + GAP;
    const height = this.#rows.reduce((sum, row) => sum + row.height + GAP, HEADER);
    const pixels = new Uint8Array(width * height * 3).fill(255);
    let top = HEADER;
    for (const row of this.#rows) {
      row.tiles.forEach((paint, column) => {
        fill(pixels, { width, left: GAP + column * (columnWidth + GAP), top, row, paint });
      });
      top += row.height + GAP;
    }
    const labels = Buffer.from(headerSvg(this.#titles, { width, columnWidth }));
    return sharp(pixels, { raw: { width, height, channels: 3 } })
      .composite([{ input: labels, left: 0, top: 0 }])
      .png()
      .toBuffer();
  }
}

/** The nearest pixels, scaled to the width of a tile. */
function scaled({ width, height }: { width: number; height: number }, tiles: readonly Paint[]): Row {
  const factor = Math.max(width / TILE_WIDTH, 1);
  const row = { width: Math.max(Math.round(width / factor), 1), height: Math.max(Math.round(height / factor), 1) };
  const source = (position: number, from: number, to: number): number => Math.min(Math.floor(((position + 0.5) * to) / from), to - 1);
  const sampled =
    (paint: Paint): Paint =>
    (x, y) =>
      paint(source(x, row.width, width), source(y, row.height, height));
  return { ...row, tiles: tiles.map(sampled) };
}

interface Placed {
  readonly width: number;
  readonly left: number;
  readonly top: number;
  readonly row: Row;
  readonly paint: Paint;
}

function fill(pixels: Uint8Array, { width, left, top, row, paint }: Placed): void {
  for (let y = 0; y < row.height; y++)
    for (let x = 0; x < row.width; x++)
      pixels.set(
        paint(x, y).map((v) => Math.round(255 * v)),
        ((top + y) * width + left + x) * 3,
      );
}

/** Least and greatest known value; near to far, so `disparity` runs backwards. */
function valueRange({ values, valid, space }: DepthMap): readonly [near: number, far: number] {
  let [least, most] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (!valid[i]) continue;
    least = Math.min(least, values[i] as number);
    most = Math.max(most, values[i] as number);
  }
  return space === "disparity" ? [most, least] : [least, most];
}

const GREY: Colour = [0.5, 0.5, 0.5];

function imagePaint({ width, channels, data }: Image): Paint {
  return (x, y) => {
    const at = (y * width + x) * channels;
    const value = (c: number): number => Math.min(Math.max(data[at + (channels === 1 ? 0 : c)] as number, 0), 1);
    return [value(0), value(1), value(2)];
  };
}

function depthPaint({ width, values, valid }: DepthMap, [near, far]: readonly [number, number]): Paint {
  return (x, y) => {
    const i = y * width + x;
    return valid[i] ? depthColour(far === near ? 0.5 : ((values[i] as number) - near) / (far - near)) : GREY;
  };
}

/** Grey where there is no truth. */
function errorPaint({ depth, trueDepth }: { depth: DepthMap; trueDepth: DepthMap }, [near, far]: readonly [number, number]): Paint {
  const brightest = BRIGHTEST * Math.abs(far - near) || 1;
  return (x, y) => {
    const i = y * depth.width + x;
    if (!depth.valid[i] || !trueDepth.valid[i]) return GREY;
    return errorColour(Math.abs((depth.values[i] as number) - (trueDepth.values[i] as number)) / brightest);
  };
}

function headerSvg(titles: readonly string[], { width, columnWidth }: { width: number; columnWidth: number }): string {
  const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const labels = titles.map(
    (title, i) =>
      `<text x="${GAP + i * (columnWidth + GAP)}" y="${HEADER - 7}" font-family="sans-serif" font-size="13">${escape(title)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEADER}">${labels.join("")}</svg>`;
}
