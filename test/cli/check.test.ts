import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import test, { type TestContext } from "node:test";
import type { PlaneReport } from "../../src/check/checkStack.ts";
import type { PlaneOrder } from "../../src/check/planeOrder.ts";
import type { Finding } from "../../src/check/finding.ts";
import { checkCommand } from "../../src/cli/check.ts";
import { UserError } from "../../src/system/userError.ts";
import { encodePng } from "../../src/io/png.ts";
import { withStack } from "../../src/stack/node/openStack.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";
import { capture, runCommand } from "../helpers/command.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

const hasFfmpeg = spawnSync("ffmpeg", ["-version"]).status === 0;

/** A folder of planes in metres. */
async function folderOf(context: TestContext, { images, focusDistances }: FocalStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "dualfocus check "));
  context.after(() => rm(folder, { recursive: true }));
  for (const [n, image] of images.entries()) await writeFile(join(folder, `plane_${n}.png`), encodePng(image));
  await writeFile(join(folder, "stack.json"), JSON.stringify({ unit: "m", focus: focusDistances }));
  return folder;
}

interface CheckDocument {
  readonly stack: string;
  readonly planes: number;
  readonly ok: boolean;
  readonly order: PlaneOrder;
  readonly table: readonly (PlaneReport & {
    readonly plane: number;
    readonly file: string;
    readonly distance: number;
    readonly unit: string;
    readonly source: string;
  })[];
  readonly findings: readonly Finding[];
}

/** What the command prints, and the error it ends with. */
async function run(context: TestContext, ...args: string[]): Promise<{ printed: string; error: unknown }> {
  const out = capture(context, process.stdout);
  const progress = capture(context, process.stderr);
  try {
    await checkCommand().exitOverride().parseAsync(args, { from: "user" });
    return { printed: out.text(), error: undefined };
  } catch (error) {
    return { printed: out.text(), error };
  } finally {
    out.restore();
    progress.restore();
  }
}

const { stack } = slantedStack({ width: 160, height: 112, planes: 6 });
const black = { ...stack.images[0], data: new Float32Array(160 * 112 * 3) } as FocalStack["images"][number];

test("a good stack passes, and says so", async (context) => {
  const { printed, error } = await run(context, await folderOf(context, stack));
  assert.equal(error, undefined);
  assert.match(printed, /6 planes\n\nplane {2}file /);
  assert.match(printed, /\n +2 {2}plane_2\.png +3 m {2}stack\.json +\d\.\d\d +\d+ % +0\.0, 0\.0 {2}1\.0000\n/);
  assert.match(printed, /\n\nNo problems found/);
});

test("findings are grouped by severity, name the file and the remedy, and errors end with exit code 3", async (context) => {
  const folder = await folderOf(context, { ...stack, images: stack.images.with(2, black).slice(0, 4), focusDistances: [1, 2, 3, 4] });
  const { printed, error } = await run(context, folder);
  assert.match(printed, /Errors\n {2}plane_2\.png is blank \(black\) \[blank-frame\]\n {4}→ remove it.*\n\nNotes\n {2}there are only 4/s);
  assert.ok(error instanceof UserError);
  assert.equal(error.exitCode, 3);
  assert.match(error.message, /one error must be fixed first/);
});

test("--json prints one document with every finding", async (context) => {
  const folder = await folderOf(context, { ...stack, images: stack.images.with(2, black) });
  const { printed } = await run(context, folder, "--json");
  const result = JSON.parse(printed) as CheckDocument;
  assert.deepEqual(result.order.planes, [0, 1, 2, 3, 4, 5]);
  assert.equal(result.order.certainty, "known");
  const { plane, file, frame, distance, unit, source, sharpness = 0, shift } = result.table[3] as CheckDocument["table"][number];
  assert.deepEqual({ plane, file, frame, distance, unit, source, shift }, { plane: 3, file: "plane_3.png", frame: 3, distance: 4, unit: "m", source: "stack.json", shift: [0, 0] }); // prettier-ignore
  assert.ok(sharpness > 0.1 && sharpness <= 1);
  assert.deepEqual([result.stack, result.planes, result.ok], [folder, 6, false]);
  assert.deepEqual(result.findings.map(({ code, severity, plane, file }) => ({ code, severity, plane, file })), [
    { code: "blank-frame", severity: "error", plane: 2, file: "plane_2.png" },
  ]); // prettier-ignore
});

test("--quiet prints no progress", async (context) => {
  const { code, out, err } = await runCommand(context, "check", await folderOf(context, stack), "--quiet");
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /6 planes/);
});

test("files can be listed, and distances given", async (context) => {
  const folder = await folderOf(context, stack);
  const files = stack.images.map((_, n) => join(folder, `plane_${n}.png`));
  const { printed, error } = await run(context, ...files, "--distances", "1,2,3,4,5,6", "--unit", "mm", "--json");
  assert.equal(error, undefined);
  assert.equal((JSON.parse(printed) as { ok: boolean }).ok, true);
});

test("distances are printed with the digits that tell planes apart, in JSON as they are", async (context) => {
  const distances = ["12.743999", "10.1234567", "7.5", "5.000001", "2.5", "0.0784684"];
  const folder = await folderOf(context, stack);
  const args = ["--distances", distances.toReversed().join(","), "--unit", "dpt"];
  const { printed } = await run(context, folder, ...args);
  assert.deepEqual([...printed.matchAll(/ ([\d.]+) dpt {2}/g)].map(([, text]) => text), ["12.74", "10.12", "7.5", "5", "2.5", "0.0785"]); // prettier-ignore
  const { table } = JSON.parse((await run(context, folder, ...args, "--json")).printed) as CheckDocument;
  assert.deepEqual(table.map(({ distance }) => String(distance)), distances); // prettier-ignore
});

test("without distances it says which photo was taken as the nearest, and --reverse exchanges the ends", async (context) => {
  const folder = await folderOf(context, stack);
  const files = stack.images.map((_, n) => join(folder, `plane_${n}.png`));
  const { printed } = await run(context, ...files, "--unit", "index");
  assert.match(printed, /first photo taken as nearest, because .* nothing in them shows the direction \[direction\]\n {4}→ use --reverse/);
  assert.match(printed, /\n +0 {2}plane_0\.png +- {2}order /);
  const turned = JSON.parse((await run(context, ...files, "--unit", "index", "--reverse", "--json")).printed) as CheckDocument;
  assert.deepEqual(turned.order.planes, [5, 4, 3, 2, 1, 0]);
  assert.match(turned.order.sentence, /^last photo taken as nearest, because that was asked for/);
  const { error } = await run(context, folder, "--reverse");
  assert.match((error as Error).message, /its focus distances give the order/);
});

test("a stack that cannot be opened is reported like any other error", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "dualfocus-empty-"));
  context.after(() => rm(folder, { recursive: true }));
  const { printed, error } = await run(context, folder, "--json");
  assert.match(printed, /"code":"unreadable","severity":"error","message":".*no images/);
  assert.equal((error as UserError).exitCode, 3);
});

test("a video is checked on the frames that depth would use", { skip: hasFfmpeg ? false : "ffmpeg is not installed" }, async (context) => {
  const folder = await folderOf(context, slantedStack({ width: 160, height: 96, planes: 12 }).stack);
  const clip = join(folder, "clip.mp4");
  const input = ["-framerate", "10", "-i", join(folder, "plane_%d.png"), "-vf", "fps=20", "-c:v", "libx264", "-crf", "12"];
  execFileSync("ffmpeg", ["-v", "error", ...input, "-pix_fmt", "yuv420p", clip]);
  const checked = async (): Promise<{ document: CheckDocument; error: unknown }> => {
    const { printed, error } = await run(context, clip, "--json");
    return { document: JSON.parse(printed) as CheckDocument, error };
  };
  const { document } = await checked();
  const used = await withStack([clip], {}, (source) => Promise.resolve(source.files.map((file) => basename(file))));
  assert.equal(document.stack, clip);
  assert.ok(used.length >= 5 && document.planes === used.length, `${document.planes} planes`);
  assert.deepEqual(document.table.map(({ file }) => file).sort(), used.sort()); // prettier-ignore
  assert.deepEqual(document.findings.filter(({ severity }) => severity === "error"), []); // prettier-ignore
  assert.ok(document.findings.some(({ message }) => /^clip\.mp4: \d+ of \d+ frames are used/.test(message)));
  await writeFile(clip, "no video");
  const broken = await checked();
  assert.deepEqual(broken.document.findings.map(({ code }) => code), ["unreadable"]); // prettier-ignore
  assert.ok(broken.error instanceof UserError && broken.error.exitCode === 3);
});
