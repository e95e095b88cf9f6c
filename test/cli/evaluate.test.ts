import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { evaluateCommand } from "../../src/cli/evaluate.ts";
import type { LoadPredictor } from "../../src/evaluate/evaluateModels.ts";
import type { UserError } from "../../src/system/userError.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import { encodeExr } from "../../src/io/exr.ts";
import { decodePng, encodePng } from "../../src/io/png.ts";
import type { Predictor } from "../../src/evaluate/predictor.ts";
import { openRendered } from "../../src/evaluate/renderedSet.ts";
import { put, putDepthMm, putNpy, putPicture, temporaryFolder } from "../data/files.ts";
import { slantedStack } from "../helpers/texturedStack.ts";
import { writeHdf5 } from "../io/hdf5Files.ts";
import { capture, reported } from "../helpers/command.ts";

const root = temporaryFolder();

/** What --json prints of one model. */
interface Entry extends Readonly<Record<"dataset" | "model" | "protocol", string>> {
  readonly images: number;
  readonly planes: number;
  readonly metrics: Readonly<Record<string, number | null>>;
  readonly perImage?: readonly { readonly index: number; readonly name: string; readonly metrics: Readonly<Record<string, number>> }[];
}

/** Runs the command with its output caught. */
async function run(context: TestContext, args: readonly string[], load?: LoadPredictor): Promise<{ out: string; progress: string }> {
  const out = capture(context, process.stdout);
  const progress = capture(context, process.stderr);
  try {
    await evaluateCommand(load ? { load } : {})
      .exitOverride()
      .parseAsync(args, { from: "user" })
      .catch(reported);
  } finally {
    out.restore();
    progress.restore();
  }
  return { out: out.text(), progress: progress.text() };
}

/** Knows the truth, `left` in the left half of the picture and `right` in the other, and answers scale · truth + shift. */
function knowing({ left, right }: { left: number; right: number }, change: { scale?: number; shift?: number }): Predictor {
  const { scale = 1, shift = 0 } = change;
  return {
    name: "knowing",
    fingerprint: JSON.stringify(change),
    predict: ({ images, space }) => {
      const { width = 0, height = 0 } = images[0] ?? {};
      const values = Float32Array.from({ length: width * height }, (_, i) => scale * (i % width < width / 2 ? left : right) + shift);
      return Promise.resolve({ depth: depthMap({ width, height, values, space }) });
    },
    dispose: () => Promise.resolve(),
  };
}

const TWO_DEPTHS = { left: 1, right: 2 };
const inHalves =
  (width: number, { left, right }: typeof TWO_DEPTHS) =>
  (x: number) =>
    x < width / 2 ? left : right;

/** Every set in small: 1 m on the left, 2 m on the right where it is metric, and rows without truth, which must not count. */
const SETS = {
  async nyu(folder: string) {
    const size = { width: 40, height: 30 };
    await putPicture(join(folder, "rgb", "a.png"), size, (x, y) => 5 * x + y);
    const half = inHalves(40, TWO_DEPTHS);
    putDepthMm(join(folder, "depth_mm", "a.png"), size, (x, y) => (y === 15 ? 0 : y === 16 ? 10000 : 1000 * half(x)));
    return TWO_DEPTHS;
  },
  async arkit(folder: string) {
    const [size, video] = [{ width: 640, height: 480 }, join(folder, "Validation", "1")];
    await putPicture(join(video, "wide", "a.png"), size, (x) => x % 256);
    putDepthMm(join(video, "highres_depth", "a.png"), size, (x) => 1000 * inHalves(640, TWO_DEPTHS)(x));
    return TWO_DEPTHS;
  },
  async zedd(folder: string) {
    const size = { width: 640, height: 480 };
    const runs = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    put(join(folder, "metadata.txt"), runs.map((run) => `run_${run}\tAB\t${run}\n`).join(""));
    for (const n of runs) await putPicture(join(folder, "val", "val_1", "focus_stack", `img_run_${n}_motor_AB_aperture_F2.8.jpg`), size);
    putNpy(join(folder, "val", "val_1", "gt", "depth.npy"), size, (x, y) => (y < 9 ? 0 : inHalves(640, TWO_DEPTHS)(x)));
    return TWO_DEPTHS;
  },
  async infinigen(folder: string) {
    const size = { width: 8, height: 6 };
    for (const fd of ["0.80", "1.70", "3.00", "4.70", "8.00"]) await putPicture(join(folder, "s", `image_ap_1.40_fd_${fd}.png`), size);
    putNpy(join(folder, "s", "depth.npy"), size, (x, y) => (y === 0 ? Infinity : inHalves(8, TWO_DEPTHS)(x)));
    return TWO_DEPTHS;
  },
  async folder(folder: string) {
    const size = { width: 16, height: 18 };
    put(join(folder, "s", "stack.json"), JSON.stringify({ unit: "m", focus: [1, 3] }));
    for (const n of [0, 1]) await putPicture(join(folder, "s", `plane_${n}.png`), size, (x) => 15 * x + n);
    putNpy(join(folder, "s", "depth.npy"), size, (x, y) => (y === 0 ? 0 : inHalves(16, TWO_DEPTHS)(x)));
    return TWO_DEPTHS;
  },
  async ddff12(folder: string) {
    mkdirSync(folder, { recursive: true });
    const truth = { left: 0.2, right: 0.1 };
    const shape = [1, 10, 35, 42, 3];
    const disparity = Float32Array.from({ length: 35 * 42 }, (_, i) => (i < 42 ? 0 : inHalves(42, truth)(i % 42)));
    await writeHdf5(join(folder, "ddff.h5"), {
      stack_val: { shape, data: new Uint8Array(10 * 35 * 42 * 3).map((_, i) => i % 251) },
      disp_val: { shape: [1, 35, 42], data: disparity },
    });
    return truth;
  },
  async hci(folder: string) {
    const truth = { left: 1, right: -1 };
    const size = { width: 16, height: 18 };
    put(join(folder, "s", "stack.json"), JSON.stringify({ unit: "disparity", focus: [-1, 0, 1] }));
    for (const n of [0, 1, 2]) await putPicture(join(folder, "s", `plane_${n}.png`), size, (x) => 15 * x + n);
    putNpy(join(folder, "s", "disparity.npy"), size, (x) => inHalves(16, truth)(x));
    return truth;
  },
  async fod500(folder: string) {
    const truth = { left: 1, right: 1.25 };
    const size = { width: 8, height: 6 };
    for (const n of [1, 2, 3, 4, 5]) await putPicture(join(folder, `000400_0${n}All.tif`), size, (x) => 20 * x + n);
    const rows = (i: number): number => (i < 8 ? 0 : i < 16 ? 2 : inHalves(8, truth)(i % 8)); // row 0 unknown, row 1 beyond the clip
    const depth = Float32Array.from({ length: 48 }, (_, i) => rows(i));
    put(join(folder, "000400_Dpt.exr"), await encodeExr({ ...size, channels: { R: depth } }, { precision: "f16" }));
    return truth;
  },
} as const;

/** Measured through the whole command. */
async function measured(
  context: TestContext,
  set: keyof typeof SETS,
  change: { scale?: number; shift?: number },
  ...more: readonly string[]
): Promise<Entry> {
  const folder = join(root, set);
  const truth = await SETS[set](folder);
  const args = ["--dataset", set, "--data", folder, "--model", "knowing", "--json", ...more];
  const { out } = await run(context, args, () => Promise.resolve(knowing(truth, change)));
  return JSON.parse(out) as Entry;
}

function assertMetrics({ metrics, dataset }: Entry, expected: Readonly<Record<string, number | null>>): void {
  for (const [name, value] of Object.entries(expected)) {
    const got = metrics[name] ?? null;
    const same = value === null || got === null ? got === value : Math.abs(got - value) <= 2e-5 * Math.max(Math.abs(value), 1e-2);
    assert.ok(same, `${dataset}: ${name} is ${got}, expected ${value}`);
  }
}

/** Truth 1 and 2 m in equal parts. Errors 0.3 and 0.6 m, then 0.1 m everywhere. */
const METRIC = {
  scaled: {
    ...{ mse: (0.3 ** 2 + 0.6 ** 2) / 2, rmse: Math.sqrt(0.225), logRmse: Math.log(1.3), absRel: 0.3, sqRel: (0.09 / 1 + 0.36 / 2) / 2 },
    ...{ delta1: 0, delta2: 1, delta3: 1, within5: 0, within15: 0, within25: 0, badPix: 1, invalidFocusTrend: null, coverage: 1 },
  },
  shifted: {
    ...{ mse: 0.01, rmse: 0.1, absRel: (0.1 / 1 + 0.1 / 2) / 2, sqRel: (0.01 / 1 + 0.01 / 2) / 2, delta1: 1, within15: 1, badPix: 1 },
    logRmse: Math.sqrt((Math.log(1.1) ** 2 + Math.log(1.05) ** 2) / 2),
  },
} as const;

for (const set of ["nyu", "arkit", "zedd", "infinigen", "folder"] as const)
  test(`${set}: a prediction 1.3 times the truth, and one 0.1 m too far, give the values worked by hand`, async (context) => {
    assertMetrics(await measured(context, set, { scale: 1.3 }), METRIC.scaled);
    assertMetrics(await measured(context, set, { shift: 0.1 }), METRIC.shifted);
  });

for (const set of ["nyu", "arkit"] as const)
  test(`${set}, adaptive protocol: the same pixels count, so the same values come out`, async (context) => {
    const scaled = await measured(context, set, { scale: 1.3 }, "--protocol", "adaptive");
    assert.match(scaled.protocol, /^FOSSA's adaptive protocol: 5 planes evenly in 1\/depth/);
    assertMetrics(scaled, METRIC.scaled);
    assertMetrics(await measured(context, set, { shift: 0.1 }, "--protocol", "adaptive"), METRIC.shifted);
  });

test("render: the true depth times 1.3, and 0.1 m more, give the values worked by hand", async (context) => {
  const scenes = await openRendered({ scenes: 1, planes: 2, samples: 1 }); // the pictures are of no matter, depth has no noise
  const { trueDepth } = await scenes.sample(0);
  scenes.close();
  const answering = ({ name, scale, shift }: { name: string; scale: number; shift: number }): Predictor => {
    const depth = depthMap({ ...trueDepth, values: trueDepth.values.map((value) => scale * value + shift) });
    return { name, fingerprint: name, predict: () => Promise.resolve({ depth }), dispose: () => Promise.resolve() };
  };
  const changes = { scaled: { scale: 1.3, shift: 0 }, shifted: { scale: 1, shift: 0.1 } };
  const load: LoadPredictor = (name) => Promise.resolve(answering({ name, ...changes[name as keyof typeof changes] }));
  const args = ["--dataset", "render", "--model", "scaled,shifted", "--planes", "2", "--limit", "1", "--json"];
  const { results } = JSON.parse((await run(context, args, load)).out) as { results: [Entry, Entry] };
  const counted = trueDepth.values.filter((_, i) => trueDepth.valid[i]);
  const mean = (of: (depth: number) => number): number => counted.reduce((total, value) => total + of(value), 0) / counted.length;
  const squared = mean((depth) => (0.3 * depth) ** 2);
  assertMetrics(results[0], { mse: squared, rmse: Math.sqrt(squared), sqRel: mean((depth) => 0.09 * depth) });
  assertMetrics(results[0], { absRel: 0.3, logRmse: Math.log(1.3), delta1: 0, delta2: 1, within25: 0 });
  assertMetrics(results[1], { mse: 0.01, rmse: 0.1, absRel: mean((depth) => 0.1 / depth), badPix: 1 });
});

test("ddff12: five planes, in disparity, 0.2 and 0.1 pixels", async (context) => {
  const scaled = await measured(context, "ddff12", { scale: 1.3 });
  assert.deepEqual([scaled.planes, scaled.images, scaled.dataset], [5, 1, "ddff12"]);
  assert.match(scaled.protocol, /^DFV, .*planes 0 2 4 6 9 of 10; .*prediction not clipped/);
  const mse = (0.06 ** 2 + 0.03 ** 2) / 2;
  assertMetrics(scaled, { mse, rmse: Math.sqrt(mse), absRel: 0.3, sqRel: (0.0036 / 0.2 + 0.0009 / 0.1) / 2, delta1: 0, badPix: 0 });
  const shifted = await measured(context, "ddff12", { shift: 0.08 });
  assertMetrics(shifted, { mse: 0.0064, rmse: 0.08, absRel: (0.4 + 0.8) / 2, delta1: 0, delta2: 0.5, badPix: 1 });
});

test("hci: disparities below zero have squared errors but no relative ones", async (context) => {
  const undefinedOnes = { absRel: null, sqRel: null, logRmse: null, delta1: null, boundaryF1: null };
  assertMetrics(await measured(context, "hci", { scale: 1.3 }), { mse: 0.09, rmse: 0.3, badPix: 1, ...undefinedOnes });
  const shifted = await measured(context, "hci", { shift: 0.05 });
  assertMetrics(shifted, { mse: 0.0025, rmse: 0.05, badPix: 0, rmseUntextured: 0.05, badPixUntextured: 0 });
  assertMetrics(await measured(context, "hci", { shift: -0.5 }), { rmse: 0.5, rmsePlanes: Math.sqrt(0.125) }); // cut at the last plane
});

test("fod500: prediction and truth are clipped to 1.5 m, as DFV does", async (context) => {
  // 40 pixels: 16 of 1 m (1.3 predicted), 16 of 1.25 m (1.625, clipped to 1.5), 4 + 4 of 2 m, clipped to 1.5 (1.3 and 1.5 predicted)
  const mse = (16 * 0.3 ** 2 + 16 * 0.25 ** 2 + 4 * 0.2 ** 2) / 40;
  const scaled = await measured(context, "fod500", { scale: 1.3 });
  assert.match(scaled.protocol, /^DFV, .*clipped to 0 to 1\.5 m/);
  assertMetrics(scaled, { mse, rmse: Math.sqrt(mse), absRel: (16 * 0.3 + 16 * 0.2 + (4 * 0.2) / 1.5) / 40, delta1: 24 / 40, coverage: 1 });
  const shifted = await measured(context, "fod500", { shift: 0.1 });
  assertMetrics(shifted, { mse: (32 * 0.1 ** 2 + 4 * 0.4 ** 2 + 4 * 0.15 ** 2) / 40, badPix: 1 });
});

test("nyu: the adaptive protocol is another one, and said to be", async (context) => {
  const folder = join(root, "nyu");
  await SETS.nyu(folder);
  const args = ["--dataset", "nyu", "--data", folder, "--model", "laplacian", "--planes", "3", "--json"];
  const paper = JSON.parse((await run(context, args)).out) as Entry;
  const adaptive = JSON.parse((await run(context, [...args, "--protocol", "adaptive"])).out) as Entry;
  assert.match(paper.protocol, /^HybridDepth, as the paper: 3 planes linspace/);
  assert.match(adaptive.protocol, /^FOSSA's adaptive protocol: 3 planes evenly in 1\/depth .* f\/1\.4/);
  assert.notEqual(paper.metrics["rmse"], adaptive.metrics["rmse"]);
  const refused = run(context, ["--dataset", "hci", "--data", folder, "--model", "rdf", "--protocol", "adaptive"]);
  await assert.rejects(refused, (error: UserError) => error.exitCode === 3 && error.message.includes("this set has focal stacks"));
});

/** Slanted textured planes as a folder dataset. */
function slantedFolder(name: string, seeds: readonly number[] = [1, 2]): string {
  const folder = join(root, name);
  for (const seed of seeds) {
    const { stack, trueDepth } = slantedStack({ width: 64, height: 40, planes: 5, seed });
    put(join(folder, `scene${seed}`, "stack.json"), JSON.stringify({ unit: "m", focus: stack.focusDistances }));
    stack.images.forEach((image, n) => {
      put(join(folder, `scene${seed}`, `plane_${n}.png`), encodePng(image));
    });
    putNpy(join(folder, `scene${seed}`, "depth.npy"), trueDepth, (x, y) => trueDepth.values[y * 64 + x] as number);
  }
  return folder;
}

test("the classical methods on a folder: a table, JSON with every image, a CSV and a sheet", async (context) => {
  const folder = slantedFolder("slanted");
  const [csv, sheet] = [join(root, "out.csv"), join(root, "sheet.png")];
  const args = ["--dataset", "folder", "--data", folder, "--model", "laplacian,rdf"];
  const { out, progress } = await run(context, [...args, "--json", "--per-image", "--csv", csv, "--sheet", sheet]);
  const { results } = JSON.parse(out) as { results: Entry[] };
  assert.deepEqual(
    results.map(({ model, images, planes }) => [model, images, planes]),
    [
      ["laplacian", 2, 5],
      ["rdf", 2, 5],
    ],
  );
  for (const { metrics, perImage = [] } of results) {
    assert.ok((metrics["absRel"] ?? 1) < 0.12, `AbsRel ${metrics["absRel"]}`);
    assert.deepEqual(
      perImage.map(({ name }) => name),
      ["scene1", "scene2"],
    );
    const mean = ((perImage[0]?.metrics["rmse"] ?? 0) + (perImage[1]?.metrics["rmse"] ?? 0)) / 2;
    assert.ok(Math.abs(mean - (metrics["rmse"] ?? 0)) < 1e-12);
  }
  assert.match(progress, /evaluate: 1 of 2 \(scene1\), \d+\.\d s left\nevaluate: 2 of 2 \(scene2\), 0\.0 s left/);
  const lines = readFileSync(csv, "utf8").trim().split("\n");
  assert.match(lines[0] ?? "", /^dataset,model,planes,index,image,mse,rmse,/);
  assert.deepEqual([lines.length, lines[1]?.startsWith("folder,laplacian,5,0,scene1,")], [5, true]);
  const picture = decodePng(readFileSync(sheet));
  assert.deepEqual([picture.width, picture.height], [6 * (64 + 4) + 4, 22 + 2 * (40 + 4)]);
  const table = (await run(context, [...args, "--planes", "3,5"])).out;
  assert.match(table, /^folder \(all\)\. folder: planes 0 2 4 of 5, near to far, by stack\.json;.*\nfolder: planes 0 1 2 3 4 of 5, /);
  assert.equal(table.match(/^\| (laplacian|rdf) \| [35] \| 2 \|/gm)?.length, 4);
});

test("a stopped run goes on from the images it kept, and only under the same weights and number of planes", async (context) => {
  const folder = slantedFolder("resumed");
  const kept = join(root, "kept");
  const seen: number[] = [];
  const load =
    (fingerprint: string): LoadPredictor =>
    () => {
      const predictor = knowing({ left: 2, right: 4 }, {});
      const predict: Predictor["predict"] = (stack) => {
        seen.push(stack.images.length);
        return predictor.predict(stack);
      };
      return Promise.resolve({ ...predictor, fingerprint, predict });
    };
  const args = ["--dataset", "folder", "--data", folder, "--model", "m", "--resume-dir", kept, "--json", "--per-image"];
  await run(context, [...args, "--limit", "1"], load("a"));
  assert.equal(seen.length, 1);
  const [file = ""] = readdirSync(kept);
  writeFileSync(join(kept, file), `${readFileSync(join(kept, file), "utf8")}{"index":1,"na`); // killed while writing
  const whole = JSON.parse((await run(context, args, load("a"))).out) as Entry;
  assert.equal(seen.length, 2);
  const fresh = JSON.parse((await run(context, args.toSpliced(6, 2), load("a"))).out) as Entry;
  assert.deepEqual([whole.metrics, whole.images], [fresh.metrics, 2]);
  seen.length = 0;
  await run(context, args, load("a"));
  assert.equal(seen.length, 0);
  await run(context, args, load("b"));
  assert.equal(seen.length, 2);
  seen.length = 0;
  const { results } = JSON.parse((await run(context, [...args, "--planes", "2,3"], load("a"))).out) as { results: Entry[] };
  assert.deepEqual(seen, [2, 2, 3, 3]);
  assert.deepEqual(results.map(({ planes }) => planes), [2, 3]); // prettier-ignore
});

test("a resumed run takes up only the images that are still the same, whatever their place in the set is now", async (context) => {
  const folder = slantedFolder("changing", [2, 3]);
  let predicted = 0;
  const load: LoadPredictor = () => {
    const predictor = knowing({ left: 2, right: 4 }, {});
    return Promise.resolve({ ...predictor, predict: (stack) => ((predicted += 1), predictor.predict(stack)) });
  };
  const args = ["--dataset", "folder", "--data", folder, "--model", "m", "--json", "--per-image"];
  const measure = async (...more: string[]): Promise<{ index: number; name: string; metrics: unknown }[]> => {
    predicted = 0;
    const { perImage = [] } = JSON.parse((await run(context, [...args, ...more], load)).out) as Entry;
    return perImage.map(({ index, name, metrics }) => ({ index, name, metrics }));
  };
  const resume = ["--resume-dir", join(root, "changing-kept")];
  await measure(...resume);
  slantedFolder("changing", [1]); // comes before the others
  const more = await measure(...resume);
  assert.equal(predicted, 1);
  assert.deepEqual(more.map(({ index, name }) => [index, name]), [[0, "scene1"], [1, "scene2"], [2, "scene3"]]); // prettier-ignore
  assert.deepEqual(more, await measure());
  putNpy(join(folder, "scene2", "depth.npy"), { width: 64, height: 40 }, (x) => 1.5 + x / 64);
  const corrected = await measure(...resume);
  assert.equal(predicted, 1);
  assert.notDeepEqual(corrected[1]?.metrics, more[1]?.metrics);
  assert.deepEqual(corrected, await measure());
});

test("a missing file is named, with exit code 3", async (context) => {
  const folder = slantedFolder("broken");
  rmSync(join(folder, "scene1", "depth.npy"));
  const args = ["--dataset", "folder", "--data", folder, "--model", "laplacian"];
  const missing = run(context, args);
  await assert.rejects(missing, (error: UserError) => error.exitCode === 3 && /scene1\/depth\.npy is missing/.test(error.message));
  const nowhere = run(context, ["--dataset", "fod500", "--data", join(root, "nowhere"), "--model", "rdf"]);
  await assert.rejects(nowhere, (error: UserError) => error.exitCode === 3 && error.message.includes("000400_Dpt.exr"));
  await assert.rejects(
    run(context, ["--dataset", "nyu", "--model", "rdf"]),
    (error: UserError) => /nyu: the folder of the dataset is missing/.test(error.message) && /--data/.test(error.remedy ?? ""),
  );
  await assert.rejects(
    run(context, [...args.slice(0, 4), "--model", "nothing.safetensors"]),
    /nothing\.safetensors: there is no such file or folder/,
  );
});

test("too many planes, and an output folder that is not there, are refused before anything is computed", async (context) => {
  const folder = slantedFolder("refused");
  const args = ["--dataset", "folder", "--data", folder, "--model", "laplacian"];
  await assert.rejects(
    run(context, [...args, "--planes", "9"]),
    (error: UserError) => error.exitCode === 3 && /scene1: has 5 planes, fewer than the 9/.test(error.message),
  );
  const nowhere = run(context, [...args, "--csv", join(root, "no", "out.csv")]);
  await assert.rejects(nowhere, (error: UserError) => error.exitCode === 2 && error.message.includes(join(root, "no")));
  const untouched = (): Promise<Predictor> => Promise.reject(new Error("a model was loaded"));
  const isFolder = run(context, [...args, "--sheet", folder], untouched);
  await assert.rejects(isFolder, (error: UserError) => error.exitCode === 2 && error.message.startsWith(`${folder}: cannot be written`));
});

test("a model that is a folder or misspelt, and results to be kept in a file, are refused with what to give instead", async (context) => {
  const folder = slantedFolder("mistaken");
  const args = ["--dataset", "folder", "--data", folder];
  const shipped = ["small", "fine", "base", "dfv"].filter((name) =>
    existsSync(join(import.meta.dirname, `../../models/${name}.safetensors`)),
  );
  const takes = { remedy: `--model takes ${[...shipped, "laplacian", "rdf"].join(", ")} or a .safetensors file` };
  const isFolder = { name: "UserError", exitCode: 3, message: `${folder}: is a folder, not a file`, ...takes };
  await assert.rejects(run(context, [...args, "--model", folder]), isFolder);
  const misspelt = { name: "UserError", exitCode: 3, message: "lapacian: there is no such file or folder", ...takes };
  await assert.rejects(run(context, [...args, "--model", "lapacian"]), misspelt);
  const file = join(folder, "scene1", "stack.json");
  const untouched = (): Promise<Predictor> => Promise.reject(new Error("a model was loaded"));
  for (const resumeDir of [file, join(file, "sub")])
    await assert.rejects(run(context, [...args, "--model", "rdf", "--resume-dir", resumeDir], untouched), {
      ...{ name: "UserError", exitCode: 2, message: `${file}: is a file, not a folder`, remedy: "choose another folder" },
    });
});

test("a file to write is not touched before there is something to write, and no empty one is left", async (context) => {
  const [kept, fresh] = [join(root, "kept.csv"), join(root, "fresh.csv")];
  writeFileSync(kept, "before");
  const failing = (file: string): Promise<unknown> =>
    run(context, ["--dataset", "folder", "--data", root, "--model", "x", "--csv", file], () => Promise.reject(new Error("no such model")));
  for (const file of [kept, fresh]) await assert.rejects(failing(file), /no such model/);
  assert.deepEqual([readFileSync(kept, "utf8"), existsSync(fresh)], ["before", false]);
});

test("a part that the set does not have is refused, not measured under its name", async (context) => {
  const folder = slantedFolder("whole");
  for (const data of [["folder", "--data", folder], ["hci", "--data", folder], ["render"]])
    await assert.rejects(
      run(context, ["--dataset", ...data, "--model", "laplacian", "--split", "train"]),
      (error: UserError) => error.exitCode === 3 && /there is no split "train"; choose (all|test)/.test(error.message),
    );
});

test("--quiet tells nothing but the result; a stack without focus distances is reported as left out", async (context) => {
  const folder = slantedFolder("quiet");
  rmSync(join(folder, "scene1", "stack.json"));
  const { out, progress } = await run(context, ["--dataset", "folder", "--data", folder, "--model", "laplacian", "--quiet", "--json"]);
  const { images, protocol } = JSON.parse(out) as Entry;
  assert.deepEqual([progress, images], ["", 1]);
  assert.match(protocol, /left out, with a truth but without focus distances: scene1;/);
});

test("a picture missing from a folder is refused with what the folder says about it", async (context) => {
  const folder = slantedFolder("short");
  rmSync(join(folder, "scene1", "plane_3.png"));
  await assert.rejects(run(context, ["--dataset", "folder", "--data", folder, "--model", "laplacian"]), /scene1/);
});
