/**
 * Area under the sparsification curve: the mean error of the k pixels that are doubted least, averaged over every k, relative to the mean error
 * of all of them. 1 if the doubts say nothing, less the better they order the errors; an order by the errors themselves gives the least.
 * NaN if there is no pixel, or no error at all.
 */
export function sparsificationArea(errors: ArrayLike<number>, doubts: ArrayLike<number>): number {
  const order = Uint32Array.from({ length: errors.length }, (_, i) => i).sort((i, j) => (doubts[i] as number) - (doubts[j] as number));
  let [sum, area] = [0, 0];
  order.forEach((i, k) => {
    sum += errors[i] as number;
    area += sum / (k + 1);
  });
  return area / sum;
}
