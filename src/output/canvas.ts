/** An RGB image to draw on, in bytes. */
export interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

export type Color = readonly [number, number, number];

export const canvas = (width: number, height: number): Canvas => ({ width, height, data: new Uint8Array(width * height * 3) });

/** A filled rectangle, clipped to the canvas. */
export function fillRectangle(
  { width, height, data }: Canvas,
  { x, y, w, h, color }: { x: number; y: number; w: number; h: number; color: Color },
): void {
  for (let row = Math.max(y, 0); row < Math.min(y + h, height); row++)
    for (let column = Math.max(x, 0); column < Math.min(x + w, width); column++) data.set(color, (row * width + column) * 3);
}

/** Five by seven dots per letter, one number per row, the left dot in the highest bit: digits and the letters of units. */
const GLYPHS: Readonly<Record<string, readonly number[]>> = {
  "0": [14, 17, 19, 21, 25, 17, 14],
  "1": [4, 12, 4, 4, 4, 4, 14],
  "2": [14, 17, 1, 2, 4, 8, 31],
  "3": [31, 2, 4, 2, 1, 17, 14],
  "4": [2, 6, 10, 18, 31, 2, 2],
  "5": [31, 16, 30, 1, 1, 17, 14],
  "6": [6, 8, 16, 30, 17, 17, 14],
  "7": [31, 1, 2, 4, 8, 8, 8],
  "8": [14, 17, 17, 14, 17, 17, 14],
  "9": [14, 17, 17, 15, 1, 2, 12],
  ".": [0, 0, 0, 0, 0, 12, 12],
  "-": [0, 0, 0, 31, 0, 0, 0],
  a: [0, 0, 14, 1, 15, 17, 15],
  d: [1, 1, 13, 19, 17, 17, 15],
  e: [0, 0, 14, 17, 31, 16, 14],
  i: [4, 0, 12, 4, 4, 4, 14],
  l: [12, 4, 4, 4, 4, 4, 14],
  m: [0, 0, 26, 21, 21, 17, 17],
  n: [0, 0, 22, 25, 17, 17, 17],
  p: [0, 0, 30, 17, 30, 16, 16],
  r: [0, 0, 22, 25, 16, 16, 16],
  s: [0, 0, 14, 16, 14, 1, 30],
  t: [8, 8, 28, 8, 8, 9, 6],
  y: [0, 0, 17, 17, 15, 1, 14],
  µ: [0, 0, 17, 17, 19, 29, 16],
};

export const TEXT_HEIGHT = 7;

/** In dots. */
export const textWidth = (text: string): number => Math.max(0, text.length * 6 - 1);

/** Writes `text` with its top left corner at (x, y); each dot is `scale` pixels wide. Letters without a glyph leave a gap. */
export function drawText(onto: Canvas, text: string, { x, y, scale, color }: { x: number; y: number; scale: number; color: Color }): void {
  for (const [i, letter] of Array.from(text).entries())
    for (const [row, bits] of (GLYPHS[letter] ?? []).entries())
      for (let column = 0; column < 5; column++)
        if (bits & (16 >> column)) fillRectangle(onto, { x: x + (6 * i + column) * scale, y: y + row * scale, w: scale, h: scale, color });
}
