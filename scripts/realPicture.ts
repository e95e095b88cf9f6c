// Makes docs/depth-real.jpg: photographed stacks, each as its nearest plane, the depth as measured (--fill off), the same finished, and the sharpest plane by the modified Laplacian, as
// photo stackers find it. node --import tsx scripts/realPicture.ts FOLDER[:shown]... : the photo itself appears where ":shown" is added;
// else, for stacks that may not be passed on, the confidence. With --before FILE, the depth as those weights measure it comes before ours.
import { parseArgs } from "node:util";
import sharp, { type Sharp } from "sharp";
import { laplacianDepth } from "../src/classical/modifiedLaplacian.ts";
import type { Image } from "../src/image/image.ts";
import { encodePng } from "../src/io/png.ts";
import type { DepthNetwork } from "../src/network/depthNetwork.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import { runDepth, type DepthRun } from "../src/depth/run.ts";
import type { Canvas } from "../src/output/canvas.ts";
import { paintDepth } from "../src/output/colorPicture.ts";
import { openStack } from "../src/stack/node/openStack.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string", default: "small" },
    before: { type: "string" },
    output: { type: "string", short: "o", default: "docs/depth-real.jpg" },
  },
});
const [width, height, gap] = [420, 300, 6];
const open = (model: string): Promise<DepthNetwork> => openNetwork(model, { device: "cpu", threads: 2 });
const network = await open(values.model);
const before = values.before === undefined ? undefined : await open(values.before);

async function runOf(folder: string, by: DepthNetwork): Promise<DepthRun> {
  const source = await openStack([folder]);
  return runDepth(source, { network: by });
}

const fitted = (picture: Sharp): Promise<Buffer> => picture.resize(width, height, { fit: "cover" }).png().toBuffer();
const ofCanvas = ({ data, ...size }: Canvas): Sharp => sharp(data, { raw: { ...size, channels: 3 } });
const ofImage = (image: Image): Sharp => sharp(encodePng(image)).toColourspace("srgb");

async function row(argument: string): Promise<Buffer[]> {
  const folder = argument.replace(/:shown$/, "");
  const { result, estimate, stack } = await runOf(folder, network);
  const earlier = before && (await runOf(folder, before)).estimate;
  const { depth } = laplacianDepth(stack);
  const first = argument === folder ? grey(estimate.allInFocus, estimate.confidence) : (stack.images[0] as Image);
  process.stderr.write(`${folder}: ${stack.images.length} planes, seen at ${depth.width}×${depth.height}\n`);
  const maps = [...(earlier ? [earlier] : []), estimate, result, { depth }].map((map) => fitted(ofCanvas(paintDepth(map))));
  return Promise.all([fitted(ofImage(first)), ...maps]);
}

const grey = ({ width: w, height: h }: Image, data: Float32Array): Image => ({ width: w, height: h, channels: 1, data });

try {
  const rows: Buffer[][] = [];
  for (const folder of positionals) rows.push(await row(folder));
  const cells = rows.flatMap((cells, y) => cells.map((input, x) => ({ input, left: x * (width + gap), top: y * (height + gap) })));
  const size = { width: (before ? 5 : 4) * (width + gap) - gap, height: rows.length * (height + gap) - gap };
  await sharp({ create: { ...size, channels: 3, background: "white" } })
    .composite(cells)
    .jpeg({ quality: 72, mozjpeg: true })
    .toFile(values.output);
} finally {
  await network.dispose();
  await before?.dispose();
}
