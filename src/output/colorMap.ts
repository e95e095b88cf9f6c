/** Colours for depth. In `grey` far is bright, as in the numbers of a depth map; `near-white` is what Blender and Photoshop expect. */
export const COLOR_MAPS = ["turbo", "viridis", "grey", "near-white"] as const;
export type ColorMap = (typeof COLOR_MAPS)[number];

/** Red, green and blue as polynomials in t, lowest power first. */
const POLYNOMIALS: Readonly<Record<ColorMap, readonly (readonly number[])[]>> = {
  // Mikhailov, "Turbo, an improved rainbow colormap"
  turbo: [
    [0.13572138, 4.6153926, -42.66032258, 132.13108234, -152.94239396, 59.28637943],
    [0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604],
    [0.1066733, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973],
  ],
  // Zucker's fit of matplotlib's viridis
  viridis: [
    [0.2777273272, 0.1050930431, -0.3308618287, -4.634230499, 6.2282699363, 4.7763849977, -5.4354558559],
    [0.0054073445, 1.4046135299, 0.2148475595, -5.7991009734, 14.1799333668, -13.7451453777, 4.6458526122],
    [0.3340998053, 1.3845901626, 0.095095163, -19.332440956, 56.6905526007, -65.3530326334, 26.3124352495],
  ],
  grey: [[0, 1], [0, 1], [0, 1]], // prettier-ignore
  "near-white": [[0, 1], [0, 1], [0, 1]], // prettier-ignore
};

/** The colour at t in [0, 1], as three bytes. */
export function colorAt(map: ColorMap, t: number): [number, number, number] {
  const at = Math.min(Math.max(t, 0), 1);
  const byte = (coefficients: readonly number[]): number => {
    const value = coefficients.reduceRight((sum, coefficient) => sum * at + coefficient, 0);
    return Math.round(Math.min(Math.max(value, 0), 1) * 255);
  };
  const [red, green, blue] = POLYNOMIALS[map] as [number[], number[], number[]];
  return [byte(red), byte(green), byte(blue)];
}

/** 256 colours, three bytes each. */
export function colorTable(map: ColorMap): Uint8Array {
  return Uint8Array.from(Array.from({ length: 256 }, (_, i) => colorAt(map, i / 255)).flat());
}
