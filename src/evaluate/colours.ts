export type Colour = readonly [red: number, green: number, blue: number];

/** Near to far through distinguishable hues, from dark red to violet; and dark to bright for errors. Values in [0, 1]. */
const DEPTH: readonly Colour[] = [
  [0.48, 0.02, 0.01],
  [0.86, 0.22, 0.04],
  [0.99, 0.58, 0.16],
  [0.86, 0.87, 0.22],
  [0.4, 0.96, 0.4],
  [0.12, 0.82, 0.74],
  [0.24, 0.56, 0.99],
  [0.19, 0.07, 0.23],
];
const ERROR: readonly Colour[] = [
  [0, 0, 0],
  [0.34, 0.06, 0.43],
  [0.73, 0.21, 0.33],
  [0.98, 0.55, 0.04],
  [0.99, 1, 0.75],
];

/** A colour scale at `share` of its length, linear between its entries; shares outside [0, 1] are clamped. */
function along(scale: readonly Colour[], share: number): Colour {
  const position = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
  const below = Math.min(Math.floor(position), scale.length - 2);
  const [from, to] = [scale[below] as Colour, scale[below + 1] as Colour];
  const mix = (c: 0 | 1 | 2): number => from[c] + (to[c] - from[c]) * (position - below);
  return [mix(0), mix(1), mix(2)];
}

/** 0 is nearest, 1 farthest. */
export const depthColour = (share: number): Colour => along(DEPTH, share);

export const errorColour = (share: number): Colour => along(ERROR, share);
