/** If the blur radius of neighbours differs by more than this, in pixels, the nearer one is assumed to hide a surface behind it. */
export const OCCLUSION_GAP = 1;

/**
 * For each pixel on the near side of a depth edge: the pixel that continues the farther surface behind it, else -1. `signedRadius` is the
 * blur radius in pixels, growing towards the camera. The farther surface is continued from its nearest visible pixel (breadth first from
 * the edge), as far as either surface's blur reaches and only behind nearer pixels.
 */
export function hiddenSurface({ width, signedRadius }: { width: number; signedRadius: Float32Array }): Int32Array {
  const pixels = signedRadius.length;
  const source = new Int32Array(pixels).fill(-1);
  const distance = new Uint16Array(pixels);
  const queue = new Int32Array(pixels);
  let [head, tail] = [0, 0];

  const hides = (pixel: number, behind: number): boolean =>
    (signedRadius[pixel] as number) - (signedRadius[behind] as number) > OCCLUSION_GAP;
  const reach = (pixel: number, behind: number): number =>
    Math.ceil(Math.max(Math.abs(signedRadius[pixel] as number), Math.abs(signedRadius[behind] as number)));
  const offer = (pixel: number, behind: number, steps: number): void => {
    if ((source[pixel] as number) >= 0 || !hides(pixel, behind) || steps > reach(pixel, behind)) return;
    source[pixel] = behind;
    distance[pixel] = steps;
    queue[tail++] = pixel;
  };

  for (let pixel = 0; pixel < pixels; pixel++) {
    if (pixel % width > 0) offer(pixel, pixel - 1, 1);
    if (pixel % width < width - 1) offer(pixel, pixel + 1, 1);
    if (pixel >= width) offer(pixel, pixel - width, 1);
    if (pixel + width < pixels) offer(pixel, pixel + width, 1);
  }
  while (head < tail) {
    const pixel = queue[head++] as number;
    const behind = source[pixel] as number;
    const steps = (distance[pixel] as number) + 1;
    if (pixel % width > 0) offer(pixel - 1, behind, steps);
    if (pixel % width < width - 1) offer(pixel + 1, behind, steps);
    if (pixel >= width) offer(pixel - width, behind, steps);
    if (pixel + width < pixels) offer(pixel + width, behind, steps);
  }
  return source;
}
