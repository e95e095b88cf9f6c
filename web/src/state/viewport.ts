import type { Size } from "../../../src/image/image.ts";
import type { Pixel } from "./curve.ts";

/** A place as shares of a width and a height, from the top left. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** The part of an image that its frame shows: the place in the middle, and how much larger than the whole it appears. */
export interface Viewport extends Place {
  readonly zoom: number;
}

export const WHOLE: Viewport = { zoom: 1, x: 0.5, y: 0.5 };

/** Pixels across the longer side at the largest zoom: each is then large enough to count. */
const FEWEST_PIXELS = 16;

export const mostZoom = ({ width, height }: Size): number => Math.max(1, Math.max(width, height) / FEWEST_PIXELS);

/** The place of the image at a place of the frame. */
export const placeInImage = ({ zoom, x, y }: Viewport, at: Place): Place => ({ x: x + (at.x - 0.5) / zoom, y: y + (at.y - 0.5) / zoom });

/** The place of the frame at a place of the image. */
export const placeInFrame = ({ zoom, x, y }: Viewport, at: Place): Place => ({ x: 0.5 + (at.x - x) * zoom, y: 0.5 + (at.y - y) * zoom });

/** The pixel at a place of the frame; at its edge the nearest one. */
export function pixelInFrame(viewport: Viewport, at: Place, { width, height }: Size): Pixel {
  const { x, y } = placeInImage(viewport, at);
  const held = (share: number, side: number): number => Math.min(Math.max(Math.floor(share * side), 0), side - 1);
  return { x: held(x, width), y: held(y, height) };
}

export const middleOf = ({ x, y }: Pixel, { width, height }: Size): Place => ({ x: (x + 0.5) / width, y: (y + 0.5) / height });

/** No closer than `most`, no farther than the whole image, and no empty margin. */
function held({ zoom, x, y }: Viewport, most: number): Viewport {
  const kept = Math.min(Math.max(zoom, 1), most);
  const margin = 0.5 / kept;
  const within = (value: number): number => Math.min(Math.max(value, margin), 1 - margin);
  return { zoom: kept, x: within(x), y: within(y) };
}

/** Comes closer by `factor`; what is at `about` in the frame stays there. */
export function zoomBy(
  viewport: Viewport,
  factor: number,
  { about = { x: 0.5, y: 0.5 }, most }: { about?: Place; most: number },
): Viewport {
  const fixed = placeInImage(viewport, about);
  const zoom = Math.min(Math.max(viewport.zoom * factor, 1), most);
  return held({ zoom, x: fixed.x - (about.x - 0.5) / zoom, y: fixed.y - (about.y - 0.5) / zoom }, most);
}

/** Moves the image by shares of the frame. */
export const panBy = ({ zoom, x, y }: Viewport, by: Place): Viewport => held({ zoom, x: x - by.x / zoom, y: y - by.y / zoom }, zoom);

/** Room kept around a place that is followed, as a share of the frame. */
const ROOM = 0.1;

/** The least movement that brings a place of the image into view. */
export function follow(viewport: Viewport, at: Place): Viewport {
  const seen = placeInFrame(viewport, at);
  const needed = (share: number): number => Math.min(Math.max(share, ROOM), 1 - ROOM) - share;
  return panBy(viewport, { x: needed(seen.x), y: needed(seen.y) });
}

/** A rectangle of pixels. */
export interface Region extends Size {
  readonly left: number;
  readonly top: number;
}

/** The pixels in view, the cut ones included. */
export function regionInView(viewport: Viewport, { width, height }: Size): Region {
  const [from, to] = [placeInImage(viewport, { x: 0, y: 0 }), placeInImage(viewport, { x: 1, y: 1 })];
  const [left, top] = [Math.max(0, Math.floor(from.x * width + 1e-6)), Math.max(0, Math.floor(from.y * height + 1e-6))];
  const [right, bottom] = [Math.min(width, Math.ceil(to.x * width - 1e-6)), Math.min(height, Math.ceil(to.y * height - 1e-6))];
  return { left, top, width: Math.max(1, right - left), height: Math.max(1, bottom - top) };
}
