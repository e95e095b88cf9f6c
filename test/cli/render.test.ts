import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { renderCommand } from "../../src/cli/render.ts";
import { readImage } from "../../src/stack/node/diskFiles.ts";
import { openStack } from "../../src/stack/node/openStack.ts";
import { decodeNpy } from "../../src/io/npy.ts";
import { parseScene } from "../../src/optics/scene/scene.ts";
import { randomScene } from "../../src/optics/scene/random.ts";
import { reported } from "../helpers/command.ts";

const root = await mkdtemp(join(tmpdir(), "dualfocus-render-"));
after(() => rm(root, { recursive: true }));

/** Runs `dualfocus render` here and returns what it printed. */
async function render(...args: string[]): Promise<string> {
  const printed: string[] = [];
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (text: string | Uint8Array) => (typeof text === "string" ? printed.push(text) > 0 : write(text)); // the test runner writes bytes
  try {
    await renderCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => undefined })
      .parseAsync(args, { from: "user" })
      .catch(reported);
  } finally {
    process.stdout.write = write;
  }
  return printed.join("");
}

const small = ["--size", "24x16", "--samples", "4", "--planes", "3", "--device", "js"];

test("random scenes become stack folders that the stack reader understands, and a second run keeps them", async () => {
  const output = join(root, "stacks");
  const result = JSON.parse(await render("--scenes", "2", "--seed", "3", ...small, "-o", output, "--json")) as Record<string, unknown>;
  assert.deepEqual([result.rendered, result.skipped, result.device], [2, 0, "js"]);
  const folder = join(output, "scene_000001");
  assert.deepEqual((await readdir(folder)).sort(), [
    "aif.png",
    "depth.npy",
    "plane_00.png",
    "plane_01.png",
    "plane_02.png",
    "scene.json",
    "stack.json",
  ]);
  const { focusDistances, space, camera } = await openStack(folder);
  const scene = parseScene(await readFile(join(folder, "scene.json"), "utf8"));
  assert.deepEqual(focusDistances, scene.focusDistances);
  assert.equal(space, "depth");
  assert.equal(camera?.fNumber, scene.camera.fNumber);
  const { width, height, channels } = await readImage(join(folder, "plane_00.png"));
  assert.deepEqual([width, height, channels], [24, 16, 3]);
  const depth = decodeNpy(await readFile(join(folder, "depth.npy")));
  assert.deepEqual(depth.shape, [16, 24]);
  assert.ok(Array.from(depth.data as Float32Array).every((value) => value > 0));

  const before = (await stat(join(folder, "depth.npy"))).mtimeMs;
  const again = JSON.parse(await render("--scenes", "3", "--seed", "3", ...small, "-o", output, "--json")) as Record<string, unknown>;
  assert.deepEqual([again.rendered, again.skipped], [1, 2]);
  assert.equal((await stat(join(folder, "depth.npy"))).mtimeMs, before);
  await assert.rejects(render("--scenes", "1", "--seed", "4", ...small, "-o", output), { name: "UserError", exitCode: 2 });

  const { render: how } = JSON.parse(await readFile(join(folder, "stack.json"), "utf8")) as { render: Record<string, unknown> };
  assert.deepEqual([how.samples, how.device], [4, "js"]);
  await assert.rejects(render("--scenes", "2", "--seed", "3", ...small, "--samples", "8", "-o", output), {
    exitCode: 2,
    message: /scene_000000 was rendered with 4 samples, not 8/,
  });

  const copy = join(root, "again");
  await render("--scene", join(folder, "scene.json"), "--samples", "4", "--device", "js", "-o", copy);
  assert.deepEqual(await readFile(join(copy, "scene_000000", "plane_02.png")), await readFile(join(folder, "plane_02.png")));
});

test("--phone gives stacks with a phone's processing, and the scene says which", async () => {
  const output = join(root, "phones");
  await render("--scenes", "1", "--phone", "1", ...small, "-o", output);
  const { imperfections } = parseScene(await readFile(join(output, "scene_000000", "scene.json"), "utf8"));
  assert.equal(imperfections?.phone?.tone.length, 3);
  await assert.rejects(
    render("--scene", join(output, "scene_000000", "scene.json"), "--phone", "1", "-o", output),
    /--phone and --light-field belong to random/,
  );
});

test("--light-field gives refocused light fields, and the scene says of how many views", async () => {
  const output = join(root, "lightFields");
  await render("--scenes", "8", "--light-field", "1", "--imperfect", "1", ...small, "-o", output);
  const scenes = await Promise.all(
    (await readdir(output)).map(async (name) => parseScene(await readFile(join(output, name, "scene.json"), "utf8"))),
  );
  assert.ok(scenes.every(({ camera }) => [5, 7, 9].includes(camera.views ?? 0)));
  const flaws = scenes.flatMap(({ imperfections = {} }) => Object.keys(imperfections)); // all planes are of one exposure
  assert.deepEqual([...new Set(flaws)], ["jpegQuality"]);
});

test("a run that was killed is gone on from: its half-written folder goes, another process's stays", async () => {
  const output = join(root, "resumed");
  const partial = (pid: number): string => `.scene_000000.partial-${hostname()}-${pid}`;
  const dead = 0x7ffffff; // beyond any process number
  for (const pid of [dead, process.ppid]) {
    await mkdir(join(output, partial(pid)), { recursive: true });
    await writeFile(join(output, partial(pid), "scene.json"), "{");
  }
  await render("--scenes", "1", ...small, "-o", output);
  assert.deepEqual((await readdir(output)).sort(), [partial(process.ppid), "scene_000000"]);
});

test("an output that is a file, or where no folder can be made, is refused by name", async () => {
  const file = join(root, "file");
  await writeFile(file, "");
  await assert.rejects(render("--scenes", "1", ...small, "-o", file), { exitCode: 2, message: /file: is a file, not a folder/ });
  await assert.rejects(render("--scenes", "1", ...small, "-o", "/proc/none/here"), {
    exitCode: 2,
    message: /\/proc\/none\/here: cannot be created/,
  });
});

test("wrong usage and wrong scene files are errors that say what to do, and leave nothing behind", async () => {
  const output = join(root, "nothing");
  await assert.rejects(render("-o", output), { name: "UserError", message: /either --scenes N or --scene FILE/ });
  await assert.rejects(render("--scenes", "0", "-o", output), /a whole number, 1 or more/);
  await assert.rejects(render("--scenes", "1", "--samples", "70000", "-o", output), /a whole number, 1 to 65536/);
  await assert.rejects(render("--scenes", "1", "--size", "0x5", "-o", output), /8 to 8192 pixels/);
  await assert.rejects(render("--scenes", "1", "--metres", "3", "1", "-o", output), { exitCode: 2, message: /--metres/ });
  await assert.rejects(render("--scenes", "1", "--textures", join(root, "missing"), "-o", output), { name: "UserError", exitCode: 3 });
  const file = join(root, "bad.json");
  await writeFile(file, JSON.stringify({ camera: {} }));
  await assert.rejects(render("--scene", file, "-o", output), {
    name: "UserError",
    exitCode: 3,
    message: /bad\.json: camera\.focalLength/,
  });
  await assert.rejects(stat(output), { code: "ENOENT" });
  const scene = randomScene(1);
  const [primitive] = scene.primitives;
  const bare = { ...scene, primitives: [{ ...primitive, material: { ...primitive?.material, texture: 9999 } }] };
  await writeFile(file, JSON.stringify(bare));
  await assert.rejects(render("--scene", file, "-o", join(root, "textureless")), {
    exitCode: 3,
    message: /bad\.json: primitives\[0\] needs texture 9999/,
  });
  assert.deepEqual(await readdir(join(root, "textureless")), []);
});
