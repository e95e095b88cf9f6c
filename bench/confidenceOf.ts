// The median depth and confidence, and the claimed error in planes that this stands for, of parts of a stack's image.
//   nice node --import tsx bench/confidenceOf.ts FOLDER LEFT,TOP,RIGHT,BOTTOM... [--model small]
// Parts are in shares of the width and the height: 0,0,0.2,0.4 is the left fifth of the upper two fifths.
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
const { estimate } = await runDepth(await openStack(folder), { network });
await network.dispose();
const { confidence, depth } = estimate;
const { width, height } = depth;
for (const part of parts) {
  const [left, top, right, bottom] = part.split(",").map(Number) as [number, number, number, number];
  const isIn = (i: number): boolean => {
    const [x, y] = [((i % width) + 0.5) / width, (Math.floor(i / width) + 0.5) / height];
    return x >= left && x < right && y >= top && y < bottom;
  };
  const own = confidence.filter((_, i) => isIn(i));
  const metres = quantile(
    depth.values.filter((_, i) => isIn(i)),
    0.5,
  );
  if (own.length === 0) throw new Error(`${part}: there is nothing of the image in it`);
  const median = quantile(own, 0.5);
  process.stdout.write(`${part}: ${metres.toFixed(2)} m, confidence ${median.toFixed(2)}, ± ${expectedPlanes(median).toFixed(2)} planes\n`);
}
