import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import type { CommanderError } from "commander";
import { UserError } from "../../src/system/userError.ts";
import { synthesizeCommand } from "../../src/cli/synthesize.ts";
import { readDepth } from "../../src/data/readDepth.ts";
import { encodeNpy } from "../../src/io/npy.ts";
import { encodePng, encodePngPixels } from "../../src/io/png.ts";
import { openStack } from "../../src/stack/node/openStack.ts";
import { readStack } from "../../src/stack/stackSource.ts";
import { laplacianDepth } from "../../src/classical/modifiedLaplacian.ts";
import { absoluteRelativeError } from "../../src/metrics/depthErrors.ts";
import { texture } from "../helpers/texturedStack.ts";
import { capture, reported } from "../helpers/command.ts";

const size = { width: 64, height: 48 };
const millimetres = Uint16Array.from({ length: 64 * 48 }, (_, i) => (i === 0 ? 0 : 1000 + 30 * (i % 64)));

/** A folder with a picture and its depth as a 16-bit PNG and as metres in npy. */
async function pair(context: TestContext): Promise<{ folder: string; image: string; png: string; npy: string; out: string }> {
  const folder = await mkdtemp(join(tmpdir(), "dualfocus-synthesize-"));
  context.after(() => rm(folder, { recursive: true }));
  const [image, png, npy] = ["rgb.png", "depth.png", "depth.npy"].map((name) => join(folder, name)) as [string, string, string];
  await writeFile(image, encodePng(texture(size)));
  await writeFile(png, encodePngPixels({ ...size, channels: 1, data: millimetres }));
  await writeFile(npy, encodeNpy({ shape: [48, 64], data: Float32Array.from(millimetres, (value) => value / 1000) }));
  return { folder, image, png, npy, out: join(folder, "out") };
}

/** Runs the command with its output caught. */
async function run(context: TestContext, ...args: string[]): Promise<string> {
  const out = capture(context, process.stdout);
  const progress = capture(context, process.stderr);
  try {
    await synthesizeCommand().exitOverride().parseAsync(args, { from: "user" }).catch(reported);
  } finally {
    out.restore();
    progress.restore();
  }
  return out.text();
}

test("a picture and its depth become a stack folder that reads back, with every parameter beside it", async (context) => {
  const { image, png, out } = await pair(context);
  const printed = JSON.parse(await run(context, image, png, "-o", out, "--planes", "4", "--json")) as {
    focusDistances: number[];
    output: string;
  };
  assert.equal(printed.output, out);
  assert.deepEqual((await readdir(out)).sort(), ["aif.png", "depth.npy", "plane_00.png", "plane_01.png", "plane_02.png", "plane_03.png", "stack.json", "synthesis.json"]); // prettier-ignore

  const description = await openStack(out);
  assert.deepEqual(description.focusDistances, printed.focusDistances);
  assert.deepEqual(description.camera, { focalLength: 0.05, fNumber: 8, pixelPitch: 12e-6 });
  const trueDepth = await readDepth(join(out, "depth.npy"), "depth");
  assert.deepEqual([trueDepth.valid[0], trueDepth.valid[1]], [0, 1]);
  const { depth } = laplacianDepth(await readStack(description));
  assert.ok(absoluteRelativeError({ depth, trueDepth }) < 0.1);

  const record = JSON.parse(await readFile(join(out, "synthesis.json"), "utf8")) as Record<string, unknown>;
  for (const name of ["producer", "source", "camera", "focus", "focusDistances", "kernel", "light", "holes", "depthRange", "maxBlurRadius"])
    assert.ok(name in record, `synthesis.json lacks ${name}`);
});

test("depth in millimetres and in metres give the same planes, and --depth-scale rescales both", async (context) => {
  const { image, png, npy, folder } = await pair(context);
  const planes = async (depth: string, name: string, ...more: string[]): Promise<Buffer> => {
    await run(context, image, depth, "-o", join(folder, name), "--focus", "1.5,2.5", ...more);
    return readFile(join(folder, name, "plane_01.png"));
  };
  const fromPng = await planes(png, "png");
  assert.deepEqual(await planes(npy, "npy"), fromPng);
  assert.deepEqual(await planes(png, "scaled", "--depth-scale", "0.001"), fromPng);
  assert.notDeepEqual(await planes(png, "doubled", "--depth-scale", "0.002"), fromPng);
});

test("camera numbers override the preset, and the adaptive protocol, power and disk kernels are reachable", async (context) => {
  const { image, npy, folder } = await pair(context);
  const record = async (name: string, ...args: string[]): Promise<Record<string, unknown>> =>
    JSON.parse(await run(context, image, npy, "-o", join(folder, name), "--json", ...args)) as Record<string, unknown>;
  const adaptive = await record(
    "a",
    "--camera",
    "arkit",
    "--f-number",
    "2",
    "--protocol",
    "adaptive",
    "--kernel",
    "power",
    "--exponent",
    "8",
  );
  assert.deepEqual(adaptive["camera"], { focalLength: 2.9e-3, fNumber: 2, pixelPitch: 3.1e-3 / 560 });
  assert.deepEqual(adaptive["focus"], { kind: "adaptive", planes: 5 });
  assert.deepEqual(adaptive["kernel"], { kind: "power", exponent: 8, window: 15 });
  const disk = await record("d", "--focal-length-mm", "35", "--pixel-pitch-um", "6", "--kernel", "disk");
  assert.deepEqual(disk["camera"], { focalLength: 0.035, fNumber: 8, pixelPitch: 6e-6 });
  assert.equal(disk["light"], "linear");
});

const fails =
  (exitCode: number, message: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof UserError, String(error));
    assert.match(error.message, message);
    assert.equal(error.exitCode, exitCode);
    return true;
  };

test("a folder that holds something is refused, and with --force keeps what is not replaced", async (context) => {
  const { image, npy, out } = await pair(context);
  await mkdir(out); // empty: as good as none
  await run(context, image, npy, "-o", out);
  await rm(out, { recursive: true });
  await mkdir(out);
  await writeFile(join(out, "notes.txt"), "mine");
  await assert.rejects(run(context, image, npy, "-o", out), fails(2, /not empty/));
  assert.deepEqual(await readdir(out), ["notes.txt"]);
  await run(context, image, npy, "-o", out, "--force");
  assert.equal(await readFile(join(out, "notes.txt"), "utf8"), "mine");
  assert.ok((await readdir(out)).includes("stack.json"));
});

test("asked again for the same it keeps what is there; other options or changed sources are refused", async (context) => {
  const { image, npy, out } = await pair(context);
  const again = async (...args: string[]): Promise<unknown> =>
    (JSON.parse(await run(context, image, npy, "-o", out, "--json", "--kernel", "power", ...args)) as { kept: boolean }).kept;
  assert.equal(await again("--exponent", "4"), false);
  const before = (await stat(join(out, "plane_00.png"))).mtimeMs;
  assert.equal(await again("--exponent", "4"), true);
  assert.equal((await stat(join(out, "plane_00.png"))).mtimeMs, before);
  await assert.rejects(again("--exponent", "5"), fails(2, /not empty/));
  await assert.rejects(again("--exponent", "4", "--f-number", "4"), fails(2, /not empty/));
  const later = new Date(Date.now() + 60_000);
  await utimes(npy, later, later);
  await assert.rejects(again("--exponent", "4"), fails(2, /not empty/));
  assert.equal(await again("--exponent", "4", "--force"), false);
});

test("what fails leaves no output behind and names the file", async (context) => {
  const { folder, image, npy, out } = await pair(context);
  const small = join(folder, "small.npy");
  await writeFile(small, encodeNpy({ shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) }));
  await assert.rejects(run(context, image, small, "-o", out), fails(3, /rgb.png is 64×48 but .*small.npy is 2×2/));
  await assert.rejects(run(context, image, npy, "-o", out, "--focus", "0.01,2"), fails(3, /cannot focus at 0.01 m/));
  await assert.rejects(run(context, join(folder, "absent.png"), npy, "-o", out), /absent.png: there is no such file/);
  assert.deepEqual((await readdir(folder)).sort(), ["depth.npy", "depth.png", "rgb.png", "small.npy"]);
});

test("options that contradict each other, or are no numbers, are usage errors", async (context) => {
  const { image, npy, out } = await pair(context);
  await assert.rejects(run(context, image, npy, "-o", out, "--focus", "1,2", "--planes", "3"), fails(2, /--focus already says/));
  await assert.rejects(run(context, image, npy, "-o", out, "--exponent", "4"), fails(2, /power kernel, not to gaussian/));
  for (const args of [
    ["--planes", "1"],
    ["--focus", "1,x"],
    ["--camera", "leica"],
  ])
    await assert.rejects(
      run(context, image, npy, "-o", out, ...args),
      (error: CommanderError) => error.code === "commander.invalidArgument",
    );
});

test("a folder that render made is enough: its image, depth, camera and focus distances", async (context) => {
  const { out, image } = await pair(context);
  const macro = join(import.meta.dirname, "../../examples/macro");
  await run(context, macro, "-o", out);
  const [made, rendered] = [await openStack(out), await openStack(macro)];
  assert.deepEqual(made.camera, rendered.camera);
  assert.equal(made.focusDistances.length, 6);
  made.focusDistances.forEach((distance, n) => {
    assert.ok(Math.abs(distance - (rendered.focusDistances[n] as number)) < 1e-9);
  });
  await assert.rejects(run(context, image, "-o", `${out} 2`), /its depth is missing/);
});
