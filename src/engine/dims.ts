import { ShapeError } from "./errors.ts";

/** Axes of a volume: batch, channel, plane, row, column. */
export const AXIS = { batch: 0, channel: 1, plane: 2, row: 3, column: 4 } as const;

/** Axes of a per-plane map: batch, plane, row, column. */
export const MAP_AXIS = { batch: 0, plane: 1, row: 2, column: 3 } as const;

/**
 * A size that is known only when the graph runs: `numerator · Π factors / denominator + offset`, where the factors name
 * sizes of the graph's inputs ("B", "N", "H", "W"). Only the onnx engine makes them. They stay exact, so that one recorded
 * graph serves every batch size, plane count and image size.
 */
export interface SymbolicDim {
  readonly factors: readonly string[];
  readonly numerator: number;
  readonly denominator: number;
  readonly offset: number;
}

/** The length of one axis. */
export type Dim = number | SymbolicDim;

/** The input size called `name`. */
export const symbol = (name: string): SymbolicDim => ({ factors: [name], numerator: 1, denominator: 1, offset: 0 });

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

function linear(factors: readonly string[], { numerator, denominator, offset }: Omit<SymbolicDim, "factors">): Dim {
  const divisor = greatestDivisor(numerator, denominator);
  return { factors: [...factors].sort(), numerator: numerator / divisor, denominator: denominator / divisor, offset };
}

/** a · b. */
export function times(a: Dim, b: Dim): Dim {
  if (typeof a === "number") return typeof b === "number" ? a * b : times(b, a);
  if (a.offset !== 0) throw new ShapeError(`times: ${formatDim(a)} has an offset and cannot be multiplied`);
  if (typeof b === "number") return linear(a.factors, { ...a, numerator: a.numerator * b });
  if (b.offset !== 0) throw new ShapeError(`times: ${formatDim(b)} has an offset and cannot be multiplied`);
  return linear([...a.factors, ...b.factors], {
    numerator: a.numerator * b.numerator,
    denominator: a.denominator * b.denominator,
    offset: 0,
  });
}

/** a / n, which must be a whole number; for a symbolic size the graph's input promises that. */
export function over(a: Dim, n: number): Dim {
  if (typeof a !== "number") {
    if (a.offset !== 0) throw new ShapeError(`over: ${formatDim(a)} has an offset and cannot be divided`);
    return linear(a.factors, { ...a, denominator: a.denominator * n });
  }
  if (a % n !== 0) throw new ShapeError(`over: ${a} is not a multiple of ${n}`);
  return a / n;
}

/** a + n. */
export const plus = (a: Dim, n: number): Dim => (typeof a === "number" ? a + n : { ...a, offset: a.offset + n });

/** a + b, where at most one is symbolic or both are made of the same input sizes. */
export function sumDims(a: Dim, b: Dim): Dim {
  if (typeof b === "number") return plus(a, b);
  if (typeof a === "number") return plus(b, a);
  if (a.factors.join() !== b.factors.join()) throw new ShapeError(`cannot add the sizes ${formatDim(a)} and ${formatDim(b)}`);
  return linear(a.factors, {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
    offset: a.offset + b.offset,
  });
}

export function formatDim(dim: Dim): string {
  if (typeof dim === "number") return String(dim);
  const product = [...(dim.numerator === 1 ? [] : [dim.numerator]), ...dim.factors].join("·");
  const quotient = dim.denominator === 1 ? product : `${product}/${dim.denominator}`;
  return dim.offset === 0 ? quotient : `${quotient}${dim.offset > 0 ? "+" : "-"}${Math.abs(dim.offset)}`;
}

export const sameDim = (a: Dim, b: Dim): boolean => a === b || formatDim(a) === formatDim(b);

/** The number of elements of a shape that is known. */
export const elementCount = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

export const formatShape = (shape: readonly Dim[]): string => `[${shape.map(formatDim).join(", ")}]`;

/** The size as a number, for code that cannot handle a symbolic one. */
export function concrete(dim: Dim, where: string): number {
  if (typeof dim === "number") return dim;
  throw new ShapeError(`${where}: needs a size known in advance, got ${formatDim(dim)}; record the graph for a fixed size`);
}

type Names<P extends string> = P extends `${infer Head} ${infer Rest}` ? Names<Head> | Names<Rest> : P extends `${number}` ? never : P;

/** `dims(volume, "B C N h w", "surface")` checks the rank and returns `{ B, C, N, h, w }`; digits must match, repeats must agree. */
export function dims<P extends string>(tensor: { readonly shape: readonly Dim[] }, pattern: P, where: string): Record<Names<P>, Dim> {
  const names = pattern.split(" ");
  const sizes: Record<string, Dim> = {};
  const fits =
    names.length === tensor.shape.length &&
    names.every((name, axis) => {
      const size = tensor.shape[axis] as Dim;
      const expected = /^\d+$/.test(name) ? Number(name) : (sizes[name] ??= size);
      return sameDim(size, expected);
    });
  if (!fits) throw new ShapeError(`${where}: expected [${names.join(", ")}], got ${formatShape(tensor.shape)}`);
  return sizes;
}
