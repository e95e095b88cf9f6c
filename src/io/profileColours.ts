import { encodeSrgb } from "../image/srgb.ts";

/** From a value in [0, 1] to linear light. */
type Curve = (value: number) => number;

type Column = readonly [x: number, y: number, z: number];

/** XYZ at D50, as in profiles, to linear sRGB. */
const TO_SRGB = [
  [3.1338561, -1.6168667, -0.4906146],
  [-0.9787684, 1.9161415, 0.033454],
  [0.0719453, -0.2289914, 1.4052427],
] as const;

/**
 * Converts RGB of 8 bits, `step` bytes per pixel, from the space of an ICC profile to sRGB, in place, for files and canvases that know no
 * profiles. Colours outside sRGB are clipped. Leaves them as they are if the profile is not three primaries and curves, as those of cameras
 * and screens are.
 */
export function bytesToSrgb(data: Uint8Array | Uint8ClampedArray, profile: Uint8Array, step: 3 | 4 = 3): void {
  const space = matrixSpace(profile);
  if (!space) return;
  const light = space.curves.map((curve) => Float64Array.from({ length: 256 }, (_, i) => curve(i / 255)));
  const matrix = TO_SRGB.map((row) => space.primaries.map((column) => row[0] * column[0] + row[1] * column[1] + row[2] * column[2]));
  const encoded = Uint8Array.from({ length: 4096 }, (_, i) => 255 * encodeSrgb((i + 0.5) / 4096) + 0.5);
  const [r, g, b] = light as [Float64Array, Float64Array, Float64Array];
  for (let at = 0; at < data.length; at += step) {
    const [red, green, blue] = [r[data[at] as number] as number, g[data[at + 1] as number] as number, b[data[at + 2] as number] as number];
    for (let c = 0; c < 3; c++) {
      const [fromRed = 0, fromGreen = 0, fromBlue = 0] = matrix[c] as number[];
      const value = fromRed * red + fromGreen * green + fromBlue * blue;
      // Near black the steps of the table would show.
      data[at + c] =
        value < 0.05 ? Math.round(255 * encodeSrgb(Math.max(value, 0))) : (encoded[Math.min(Math.floor(value * 4096), 4095)] as number);
    }
  }
}

interface MatrixSpace {
  readonly primaries: readonly Column[];
  readonly curves: readonly Curve[];
}

function matrixSpace(profile: Uint8Array): MatrixSpace | undefined {
  try {
    const view = new DataView(profile.buffer, profile.byteOffset, profile.byteLength);
    const primaries = ["rXYZ", "gXYZ", "bXYZ"].map((tag) => columnOf(tagOf(view, tag)));
    const curves = ["rTRC", "gTRC", "bTRC"].map((tag) => curveOf(tagOf(view, tag)));
    return { primaries, curves };
  } catch {
    return undefined; // tags that are missing or lead outside
  }
}

const textAt = (view: DataView, at: number): string => String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)));

/** Throws a RangeError if there is none. */
function tagOf(view: DataView, name: string): DataView {
  for (let left = view.getUint32(128), at = 132; left > 0; left--, at += 12)
    if (textAt(view, at) === name) return new DataView(view.buffer, view.byteOffset + view.getUint32(at + 4), view.getUint32(at + 8));
  throw new RangeError(`the profile has no ${name}`);
}

const fixedAt = (view: DataView, at: number): number => view.getInt32(at) / 65536;

const columnOf = (view: DataView): Column => [fixedAt(view, 8), fixedAt(view, 12), fixedAt(view, 16)];

/** ICC.1:2022, 10.6 (curv) and 10.18 (para). */
function curveOf(view: DataView): Curve {
  if (textAt(view, 0) === "para") return parametricCurve(view);
  if (textAt(view, 0) !== "curv") throw new RangeError(`a curve of type ${textAt(view, 0)}`);
  const count = view.getUint32(8);
  if (count === 0) return (value) => value;
  if (count === 1) {
    const gamma = view.getUint16(12) / 256;
    return (value) => value ** gamma;
  }
  if (12 + 2 * count > view.byteLength) throw new RangeError("a curve that ends before its values");
  const table = Float64Array.from({ length: count }, (_, i) => view.getUint16(12 + 2 * i) / 65535);
  return (value) => {
    const place = value * (count - 1);
    const below = Math.min(Math.floor(place), count - 2);
    const [from, to] = [table[below] as number, table[below + 1] as number];
    return from + (to - from) * (place - below);
  };
}

/** Parameters of each function type. */
const PARAMETERS = [1, 3, 4, 5, 7] as const;

/** (a·x + b)^g + e from d on, c·x + f below it; what a type does not state is 0, or such that the power holds everywhere. */
function parametricCurve(view: DataView): Curve {
  const type = view.getUint16(8);
  const count = PARAMETERS[type];
  if (count === undefined) throw new RangeError(`a parametric curve of type ${type}`);
  const [g = 1, a = 1, b = 0, third = 0, d = 0, e = 0, f = 0] = Array.from({ length: count }, (_, i) => fixedAt(view, 12 + 4 * i));
  if (type === 0) return (value) => value ** g;
  if (type <= 2) return (value) => (value >= -b / a ? (a * value + b) ** g : 0) + (type === 2 ? third : 0);
  return (value) => (value >= d ? (a * value + b) ** g + e : third * value + f);
}
