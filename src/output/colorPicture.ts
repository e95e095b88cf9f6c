import { canvas, drawText, fillRectangle, TEXT_HEIGHT, textWidth } from "./canvas.ts";
import type { Canvas, Color } from "./canvas.ts";
import { colorTable } from "./colorMap.ts";
import type { ColorMap } from "./colorMap.ts";
import { scaleBar } from "./scaleBar.ts";
import { displayUnit, ticks } from "./ticks.ts";
import { isKnown, validRange } from "./result.ts";
import type { DepthResult } from "./result.ts";

const WHITE: Color = [255, 255, 255];
const PANEL: Color = [32, 32, 32];

/** The colours of a depth map. */
export interface Coloring {
  /** Default: turbo. */
  readonly map?: ColorMap;
  /** Exchanges the colours of near and far. */
  readonly flip?: boolean;
  /** Pixels to fade and hatch, where this is 1: depth that is not vouched for. */
  readonly hatched?: Uint8Array;
}

/** Near is red in turbo, yellow in viridis, black in grey and white in near-white; unknown pixels are black. */
export function paintDepth({ depth, range = validRange(depth) }: Pick<DepthResult, "depth" | "range">, coloring: Coloring = {}): Canvas {
  const color = colorOf({ range, largerIsNearer: depth.space === "disparity" }, coloring);
  const picture = canvas(depth.width, depth.height);
  for (let pixel = 0; pixel < depth.values.length; pixel++)
    if (isKnown(depth, pixel)) color(depth.values[pixel] as number, { into: picture.data, at: 3 * pixel });
  if (coloring.hatched) hatch(picture, coloring.hatched);
  return picture;
}

/** Faded to this share of their colour. */
const FADED = 0.4;
const HATCH = { period: 8, line: 2, ground: 190, stroke: 90 } as const;

/** Fades the marked pixels and draws diagonal lines over them. */
function hatch({ width, height, data }: Canvas, marked: Uint8Array): void {
  const scale = Math.max(1, Math.round(Math.max(width, height) / 800));
  for (let pixel = 0; pixel < marked.length; pixel++) {
    if (!marked[pixel]) continue;
    const diagonal = ((pixel % width) + Math.floor(pixel / width)) % (HATCH.period * scale);
    const tone = diagonal < HATCH.line * scale ? HATCH.stroke : HATCH.ground;
    for (let i = 3 * pixel; i < 3 * pixel + 3; i++) data[i] = FADED * (data[i] as number) + (1 - FADED) * tone;
  }
}

/** The first colours are too dark to distinguish from the black of unknown pixels. */
export const DARKEST_SHADE = 13;

interface Scale {
  readonly range: readonly [number, number];
  readonly largerIsNearer: boolean;
}

/** Writes the colour of a value. */
function colorOf(
  scale: Scale,
  { map = "turbo", flip = false }: Coloring,
): (value: number, place: { into: Uint8Array; at: number }) => void {
  const table = colorTable(map);
  const darkest = map === "near-white" ? 0 : DARKEST_SHADE; // programs that read it as a height take black as the farthest
  const isReversed = (map === "grey") !== flip;
  return (value, { into, at }) => {
    const near = nearness(value, scale);
    const shade = Math.round(darkest + (255 - darkest) * (isReversed ? 1 - near : near));
    for (let c = 0; c < 3; c++) into[at + c] = table[3 * shade + c] as number;
  };
}

/** 1 at the near end of the range, 0 at the far end, clamped. 0.5 for an empty range. */
function nearness(value: number, { range: [least, greatest], largerIsNearer }: Scale): number {
  if (!(greatest > least)) return 0.5;
  const t = Math.min(Math.max((value - least) / (greatest - least), 0), 1);
  return largerIsNearer ? t : 1 - t;
}

export interface ColorPictureOptions extends Coloring {
  /** Without it the picture has the size of the depth map. Default: true. */
  readonly legend?: boolean;
}

/** The map in colour, with a legend below it and a scale bar if the camera or microscope is known. */
export function drawColorPicture(result: DepthResult, { legend = true, ...coloring }: ColorPictureOptions = {}): Canvas {
  const picture = paintDepth(result, coloring);
  return legend ? withLegend(picture, result, coloring) : picture;
}

/** The picture with a panel below it. */
function withLegend(picture: Canvas, result: DepthResult, coloring: Coloring): Canvas {
  const scale = Math.max(1, Math.round(Math.min(picture.width, picture.height * 2) / 480));
  const bar = scaleBar(result);
  const rows = bar ? 2 : 1;
  const panel = scale * (4 + 10 + 3 + rows * (TEXT_HEIGHT + 4));
  const whole = canvas(picture.width, picture.height + panel);
  whole.data.set(picture.data);
  fillRectangle(whole, { x: 0, y: picture.height, w: whole.width, h: panel, color: PANEL });
  drawLegend(whole, { result, coloring, scale, top: picture.height + 4 * scale });
  if (bar) {
    const y = whole.height - (TEXT_HEIGHT + 4) * scale;
    fillRectangle(whole, { x: 6 * scale, y: y + 2 * scale, w: Math.round(bar.pixels), h: 3 * scale, color: WHITE });
    drawText(whole, bar.label, { x: 12 * scale + Math.round(bar.pixels), y, scale, color: WHITE });
  }
  return whole;
}

interface Legend {
  readonly result: DepthResult;
  readonly coloring: Coloring;
  readonly scale: number;
  readonly top: number;
}

function drawLegend(onto: Canvas, { result, coloring, scale, top }: Legend): void {
  const range = result.range ?? validRange(result.depth);
  const [least, greatest] = range;
  const left = 6 * scale;
  const width = onto.width - 2 * left;
  const color = new Uint8Array(3);
  const colorInto = colorOf({ range, largerIsNearer: result.depth.space === "disparity" }, coloring);
  for (let x = 0; x < width; x++) {
    colorInto(least + ((x + 0.5) / width) * (greatest - least), { into: color, at: 0 });
    fillRectangle(onto, { x: left + x, y: top, w: 1, h: 10 * scale, color: [...color] as [number, number, number] });
  }
  const unit = displayUnit(result.unit, greatest);
  const end = onto.width - left - textWidth(unit.name) * scale;
  const y = top + 13 * scale;
  drawText(onto, unit.name, { x: end, y, scale, color: WHITE });
  let free = 0;
  for (const { value, label } of ticks([least * unit.factor, greatest * unit.factor], Math.floor(width / (40 * scale)))) {
    const centre = left + Math.round(((value / unit.factor - least) / (greatest - least || 1)) * (width - 1));
    const x = Math.max(centre - Math.round((textWidth(label) * scale) / 2), left);
    const next = x + textWidth(label) * scale + 6 * scale;
    if (x < free || next > end) continue;
    fillRectangle(onto, { x: centre, y: top + 10 * scale, w: scale, h: 2 * scale, color: WHITE });
    drawText(onto, label, { x, y, scale, color: WHITE });
    free = next;
  }
}
