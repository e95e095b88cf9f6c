import { encodePngPixels, type PngOptions } from "../io/png.ts";
import { canvas, drawText, fillRectangle, TEXT_HEIGHT, textWidth } from "./canvas.ts";
import type { Canvas, Color } from "./canvas.ts";
import { colorTable } from "./colorMap.ts";
import type { ColorMap } from "./colorMap.ts";
import { displayUnit, niceStep, ticks } from "./ticks.ts";
import { projectionOf } from "./projection.ts";
import { isKnown, validRange } from "./result.ts";
import type { DepthResult } from "./result.ts";

const WHITE: Color = [255, 255, 255];
const PANEL: Color = [32, 32, 32];

/** Near is red in turbo and yellow in viridis; unknown pixels are black. */
export function paintDepth({ depth, range = validRange(depth) }: Pick<DepthResult, "depth" | "range">, map: ColorMap): Canvas {
  const table = colorTable(map);
  const picture = canvas(depth.width, depth.height);
  for (let pixel = 0; pixel < depth.values.length; pixel++) {
    if (!isKnown(depth, pixel)) continue;
    const shade = shadeOf(nearness(depth.values[pixel] as number, { range, largerIsNearer: depth.space === "disparity" }));
    for (let c = 0; c < 3; c++) picture.data[3 * pixel + c] = table[3 * shade + c] as number;
  }
  return picture;
}

/** The first colours of both maps are too dark to distinguish from the black of unknown pixels. */
export const DARKEST_SHADE = 13;

const shadeOf = (nearness: number): number => Math.round(DARKEST_SHADE + (255 - DARKEST_SHADE) * nearness);

/** 1 at the near end of the range, 0 at the far end, clamped. 0.5 for an empty range. */
function nearness(
  value: number,
  { range: [least, greatest], largerIsNearer }: { range: readonly [number, number]; largerIsNearer: boolean },
): number {
  if (!(greatest > least)) return 0.5;
  const t = Math.min(Math.max((value - least) / (greatest - least), 0), 1);
  return largerIsNearer ? t : 1 - t;
}

/** The map in colour with a legend below it, and a scale bar if the camera or microscope is known. */
export function encodeColorPicture(
  result: DepthResult,
  { map = "turbo", deflate }: { map?: ColorMap } & Pick<PngOptions, "deflate"> = {},
): Uint8Array {
  const picture = paintDepth(result, map);
  const scale = Math.max(1, Math.round(Math.min(picture.width, picture.height * 2) / 480));
  const bar = lengthBar(result);
  const rows = bar ? 2 : 1;
  const panel = scale * (4 + 10 + 3 + rows * (TEXT_HEIGHT + 4));
  const whole = canvas(picture.width, picture.height + panel);
  whole.data.set(picture.data);
  fillRectangle(whole, { x: 0, y: picture.height, w: whole.width, h: panel, color: PANEL });
  drawLegend(whole, { result, map, scale, top: picture.height + 4 * scale });
  if (bar) {
    const y = whole.height - (TEXT_HEIGHT + 4) * scale;
    fillRectangle(whole, { x: 6 * scale, y: y + 2 * scale, w: bar.pixels, h: 3 * scale, color: WHITE });
    drawText(whole, bar.label, { x: 12 * scale + bar.pixels, y, scale, color: WHITE });
  }
  return encodePngPixels({ width: whole.width, height: whole.height, channels: 3, data: whole.data }, { deflate });
}

interface Legend {
  readonly result: DepthResult;
  readonly map: ColorMap;
  readonly scale: number;
  readonly top: number;
}

function drawLegend(onto: Canvas, { result, map, scale, top }: Legend): void {
  const range = result.range ?? validRange(result.depth);
  const [least, greatest] = range;
  const left = 6 * scale;
  const width = onto.width - 2 * left;
  const table = colorTable(map);
  const largerIsNearer = result.depth.space === "disparity";
  for (let x = 0; x < width; x++) {
    const value = least + ((x + 0.5) / width) * (greatest - least);
    const shade = shadeOf(nearness(value, { range, largerIsNearer }));
    const color = [...table.subarray(3 * shade, 3 * shade + 3)] as [number, number, number];
    fillRectangle(onto, { x: left + x, y: top, w: 1, h: 10 * scale, color });
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

/** A scale bar of a round length, about a quarter of the image's width: valid everywhere under a microscope, at the middle depth for a camera. */
function lengthBar(result: DepthResult): { pixels: number; label: string } | undefined {
  const { depth, unit } = result;
  const projection = projectionOf(result);
  if (unit !== "m" || projection.kind === "relief" || (projection.kind === "pinhole" && projection.assumed)) return undefined;
  const [least, greatest] = validRange(depth);
  const distance = (least + greatest) / 2;
  const perPixel = projection.kind === "orthographic" ? projection.pixelSize : distance / projection.focalLength;
  const length = niceStep((depth.width * perPixel) / 4);
  const named = (metres: number): string => {
    const { factor, name } = displayUnit("m", metres);
    return `${Number((metres * factor).toPrecision(2))} ${name}`;
  };
  const pixels = Math.round(length / perPixel);
  if (!(pixels >= 4 && pixels < depth.width)) return undefined;
  return { pixels, label: projection.kind === "orthographic" ? named(length) : `${named(length)} at ${named(distance)}` };
}
