// The median depth and confidence, the claimed error in planes that this stands for, and how rough the depth is, of parts of a stack's image: its deviation from the plane in space
// that fits the part best, as measured and finished.
//   nice node --import tsx bench/confidenceOf.ts FOLDER LEFT,TOP,RIGHT,BOTTOM... [--model small]
// Parts are in shares of the width and the height: 0,0,0.2,0.4 is the left fifth of the upper two fifths.
import { solveSymmetric } from "../src/align/solve.ts";
import { expectedPlanes } from "../src/depth/maps.ts";
import { runDepth } from "../src/depth/run.ts";
import { quantile } from "../src/image/quantile.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import { openStack } from "../src/stack/node/openStack.ts";
import { option } from "./timing.ts";

const [folder, ...rest] = process.argv.slice(2);
const parts = rest.filter((each, i) => !each.startsWith("--") && !rest[i - 1]?.startsWith("--"));
const wrong = parts.find((part) => !/^[\d.]+(,[\d.]+){3}$/.test(part));
if (folder === undefined || parts.length === 0) throw new Error("name the folder of a stack and the parts of its image");
if (wrong !== undefined) throw new Error(`${wrong}: expected LEFT,TOP,RIGHT,BOTTOM in shares of the image`);
const network = await openNetwork(option("model", "small"), { device: "cpu", threads: 2 });
const { estimate, finished } = await runDepth(await openStack(folder), { network });
await network.dispose();
const { confidence, depth } = estimate;
const { width, height } = depth;

/** The standard deviation from the best plane in space, in metres at the median depth: in dioptres such a plane is a linear function of the pixel. */
function roughness(pixels: readonly number[], values: Float32Array, median: number): number {
  const rows = pixels.map((i) => [1, i % width, Math.floor(i / width)] as const);
  const dioptres = pixels.map((i) => 1 / (values[i] as number));
  const total = (of: (row: (typeof rows)[number], k: number) => number): number => rows.reduce((sum, row, k) => sum + of(row, k), 0);
  const plane = solveSymmetric(
    [0, 1, 2].flatMap((a) => [0, 1, 2].map((b) => total((row) => (row[a] as number) * (row[b] as number)))),
    [0, 1, 2].map((a) => total((row, k) => (row[a] as number) * (dioptres[k] as number))),
  ) as Float64Array;
  const off = rows.map((row, k) => (dioptres[k] as number) - row.reduce((sum, x, a) => sum + x * (plane[a] as number), 0));
  return median ** 2 * Math.sqrt(off.reduce((sum, each) => sum + each ** 2, 0) / off.length);
}

for (const part of parts) {
  const [left, top, right, bottom] = part.split(",").map(Number) as [number, number, number, number];
  const pixels = Array.from(depth.values.keys()).filter((i) => {
    const x = ((i % width) + 0.5) / width;
    const y = (Math.floor(i / width) + 0.5) / height;
    return x >= left && x < right && y >= top && y < bottom;
  });
  if (pixels.length === 0) throw new Error(`${part}: there is nothing of the image in it`);
  const medianOf = (values: Float32Array): number =>
    quantile(
      Float32Array.from(pixels, (i) => values[i] as number),
      0.5,
    );
  const [metres, sure] = [medianOf(depth.values), medianOf(confidence)];
  const rough = [depth, finished?.depth ?? depth].map(({ values }) => `${(1000 * roughness(pixels, values, metres)).toFixed(1)} mm`);
  process.stdout.write(
    `${part}: ${metres.toFixed(2)} m, confidence ${sure.toFixed(2)}, ± ${expectedPlanes(sure).toFixed(2)} planes, rough by ${rough.join(", finished ")}\n`,
  );
}
