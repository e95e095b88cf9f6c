/**
 * The 100 of NYU Depth v2's 795 official training images that are never trained on and choose everything, by their numbers in the
 * labelled set (counted from one), first to last.
 *
 * The labelled set is in the order of its scenes and its official split is by scene, so a gap in the numbers of the training images
 * is also a border between scenes. The 795 form 123 runs without a gap; held out is every seventh, from the third on (99 images), and
 * the run of number 57 alone. No scene is on both sides.
 */
const HELD_OUT: readonly (readonly [first: number, last: number])[] = [
  [18, 19],
  [57, 57],
  [91, 115],
  [176, 178],
  [285, 294],
  [390, 393],
  [513, 513],
  [594, 601],
  [658, 661],
  [713, 715],
  [814, 819],
  [919, 924],
  [995, 999],
  [1053, 1055],
  [1131, 1133],
  [1196, 1199],
  [1280, 1283],
  [1349, 1351],
  [1424, 1428],
];

/** Whether a image belongs to the hold-out; its name is its number in the labelled set, as in `00091`. */
export function isHeldOut(name: string): boolean {
  const number = /^\d{1,5}$/.test(name) ? Number(name) : NaN;
  return HELD_OUT.some(([first, last]) => number >= first && number <= last);
}
