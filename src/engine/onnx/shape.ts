import { formatDim, formatShape, over, plus, sameDim, type Dim, type SymbolicDim } from "../dims.ts";
import type { Shape } from "../engine.ts";
import { ShapeError } from "../errors.ts";

/** Known factors of the graph's symbolic sizes: `{ H: 32 }` means that H is always a multiple of 32. */
export type Multiples = ReadonlyMap<string, number>;

/** `axis` counted from the front. */
export function frontAxis(axis: number, rank: number, where: string): number {
  const front = axis < 0 ? axis + rank : axis;
  if (!Number.isInteger(axis) || front < 0 || front >= rank)
    throw new ShapeError(`${where}: axis ${axis} does not exist in a tensor of rank ${rank}`);
  return front;
}

/** The length of `axis`, which `frontAxis` has checked. */
export const lengthOf = (shape: Shape, axis: number): Dim => shape[axis] as Dim;

/** The shape of a two-operand operation, by NumPy's rule. Symbolic sizes must have the same formula. */
export function broadcastShapes(a: Shape, b: Shape, where: string): Dim[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const left = a[a.length - rank + i] ?? 1;
    const right = b[b.length - rank + i] ?? 1;
    if (right === 1 || sameDim(left, right)) return left;
    if (left === 1) return right;
    throw new ShapeError(`${where}: ${formatShape(a)} and ${formatShape(b)} do not broadcast`);
  });
}

/** `shape` without `axes`, or with them at length 1. */
export function reducedShape(shape: Shape, axes: readonly number[], keepAxes: boolean): Dim[] {
  return shape.flatMap((dim, axis) => (axes.includes(axis) ? (keepAxes ? [1] : []) : [dim]));
}

/** Whether `dim` without its offset is a multiple of `n` for all possible input sizes. */
function isMultiple(dim: SymbolicDim, n: number, multiples: Multiples): boolean {
  const known = dim.factors.reduce((product, factor) => product * (multiples.get(factor) ?? 1), dim.numerator);
  return known % (dim.denominator * n) === 0;
}

/** Positions of a window along one axis: ⌊(length + before + after − kernel) / stride⌋ + 1. */
export function windowCount(
  length: Dim,
  { kernel, stride, padding }: { readonly kernel: number; readonly stride: number; readonly padding: number },
  { multiples, where }: { readonly multiples: Multiples; readonly where: string },
): Dim {
  const slack = 2 * padding - kernel;
  if (typeof length === "number") {
    const count = Math.floor((length + slack) / stride) + 1;
    if (count < 1) throw new ShapeError(`${where}: a window of ${kernel} does not fit a length of ${length} with padding ${padding}`);
    return count;
  }
  if (stride === 1) return plus(length, slack + 1);
  if (!isMultiple(length, stride, multiples))
    throw new ShapeError(
      `${where}: stride ${stride} on a length of ${formatDim(length)}, not known to be a multiple of it; declare it with multipleOf where the input is created`,
    );
  return plus(over({ ...length, offset: 0 }, stride), Math.floor((length.offset + slack) / stride) + 1);
}

/** The number of elements as a formula; a size with an offset (N-1) is a factor of its own. */
function countFormula(shape: Shape): string {
  let numerator = 1;
  let denominator = 1;
  const atoms: string[] = [];
  for (const dim of shape) {
    if (typeof dim === "number") numerator *= dim;
    else if (dim.offset !== 0) atoms.push(`(${formatDim(dim)})`);
    else {
      numerator *= dim.numerator;
      denominator *= dim.denominator;
      atoms.push(...dim.factors);
    }
  }
  return [String(numerator / denominator), ...atoms.sort()].join("·");
}

export function checkSameCount(from: Shape, to: Shape, where: string): void {
  if (countFormula(from) !== countFormula(to))
    throw new ShapeError(`${where}: ${formatShape(from)} has ${countFormula(from)} elements, ${formatShape(to)} has ${countFormula(to)}`);
}

/** The length of `slice`. A positive end on a symbolic length is not checked: the axis must be that long when the graph runs. */
export function sliceLength(length: Dim, { start, end }: { readonly start: number; readonly end?: number }, where: string): Dim {
  if (typeof length === "number") {
    const bound = (at: number): number => Math.min(Math.max(at < 0 ? at + length : at, 0), length);
    return Math.max(0, bound(end ?? length) - bound(start));
  }
  const fromEnd = (at: number | undefined): boolean => at === undefined || at < 0;
  if (fromEnd(start) === fromEnd(end)) return Math.max(0, (end ?? 0) - start);
  if (fromEnd(end)) return plus(length, (end ?? 0) - start);
  throw new ShapeError(`${where}: from ${start} to ${String(end)} of a length of ${formatDim(length)} has no length known in advance`);
}
