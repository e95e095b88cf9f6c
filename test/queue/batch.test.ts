import assert from "node:assert/strict";
import { cp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Command } from "commander";

import { batchCommand } from "../../src/cli/batch.ts";
import { depthCommand } from "../../src/cli/depth.ts";
import { depthSettings } from "../../src/depth/settings.ts";
import { checkDistances } from "../../src/queue/stackJob.ts";
import { createProcessRunner } from "../../src/queue/processRunner.ts";
import { startRedisWorker } from "../../src/queue/redisWorker.ts";
import { runCommand } from "../helpers/command.ts";
import { startRedis } from "./helpers/redisServer.ts";
import { temporaryFolder, writeStack } from "./helpers/stack.ts";

interface Table {
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly stacks: { readonly name: string; readonly status: string; readonly error?: { readonly message: string } }[];
}

test("a folder of stacks goes through the workers as through depth --batch, and goes on where it was stopped", async (context) => {
  const [{ url }, folder] = [await startRedis(context), await temporaryFolder(context)];
  const stacks = join(folder, "stacks");
  for (const seed of [1, 2]) await writeStack(join(stacks, `stack_${seed}`), seed);
  await cp(join(stacks, "stack_1"), join(stacks, "stack_3"), { recursive: true });
  await writeFile(join(stacks, "stack_3", "plane_2.png"), "no picture");
  const options = ["--align", "off", "--size", "64", "--save", "npy", "--quiet", "--json"];
  const store = join(folder, "store");
  const runner = await createProcessRunner({ store, scratch: join(folder, "scratch"), processes: 1, threads: 1, device: "cpu" });
  const worker = startRedisWorker({ url, runner, name: "one" });
  const batch = (): ReturnType<typeof runCommand> =>
    runCommand(context, "batch", stacks, "--redis", url, "--store", store, "-o", join(folder, "out"), ...options);

  const first = await batch();
  const table = JSON.parse(first.out) as Table;
  assert.deepEqual([first.code, table.done, table.skipped, table.failed], [3, 2, 0, 1], first.err);
  assert.match(table.stacks[2]?.error?.message ?? "", /^plane_2\.png: /);
  assert.deepEqual((await readdir(join(folder, "out", "stack_2"))).sort(), ["depth.npy", "result.json"]);
  assert.deepEqual((await readdir(join(store, "jobs"))).length, 1, "only what failed is kept");

  const local = await runCommand(
    context,
    "depth",
    stacks,
    "--batch",
    "-o",
    join(folder, "local"),
    "--device",
    "cpu",
    "--threads",
    "1",
    ...options,
  );
  const expected = JSON.parse(local.out) as Table;
  assert.deepEqual(
    table.stacks.map(({ name, status }) => [name, status]),
    expected.stacks.map(({ name, status }) => [name, status]),
  );
  for (const name of ["stack_1", "stack_2"])
    assert.deepEqual(await readFile(join(folder, "out", name, "depth.npy")), await readFile(join(folder, "local", name, "depth.npy")));

  await cp(join(stacks, "stack_2", "plane_2.png"), join(stacks, "stack_3", "plane_2.png"));
  const second = await batch();
  const after = JSON.parse(second.out) as Table;
  assert.deepEqual([second.code, after.done, after.skipped, after.failed], [0, 1, 2, 0], second.err);
  await worker.stop(5000);
  await runner.close();
});

test("options that depth --batch has too have the same defaults", () => {
  const defaults = (command: Command): Map<string, unknown> =>
    new Map(command.options.map(({ long, defaultValue }): [string, unknown] => [long ?? "", defaultValue]));
  const [ours, theirs] = [defaults(batchCommand()), defaults(depthCommand())];
  const both = [...ours.keys()].filter((name) => theirs.has(name));
  assert.ok(both.length >= 8);
  for (const name of both) assert.deepEqual(ours.get(name), theirs.get(name), name);
});

test("a batch that cannot begin says why", async (context) => {
  const folder = await temporaryFolder(context);
  const more = ["--store", join(folder, "store"), "-o", join(folder, "out")];
  const none = await runCommand(context, "batch", join(folder, "none"), "--redis", "redis://127.0.0.1:1", ...more);
  assert.deepEqual([none.code, none.err.split("\n")[0]], [3, `dualfocus: ${join(folder, "none")}: there is no such file or folder`]);
  await writeStack(join(folder, "stacks", "one"));
  const wrong = await runCommand(
    context,
    "batch",
    join(folder, "stacks"),
    "--redis",
    "redis://127.0.0.1:1",
    "--distances",
    "1,two,3",
    ...more,
  );
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /^dualfocus: “two” is not a focus distance; expected numbers/);
  const begin = (distances: string): ReturnType<typeof runCommand> =>
    runCommand(context, "batch", join(folder, "stacks"), "--redis", "redis://127.0.0.1:1", "--distances", distances, ...more);
  const photo = join(folder, "stacks", "one", "plane_1.png");
  const behind = await begin("1,-2,3");
  assert.deepEqual([behind.code, behind.err.split("\n")[0]], [3, `dualfocus: ${photo}: -2 m is not a focus distance`]);
  const few = await begin("1,2");
  assert.deepEqual([few.code, few.err.split("\n")[0]], [3, `dualfocus: ${join(folder, "stacks", "one")}: 3 images but 2 focus distances`]);
  await writeStack(join(folder, "stacks", "two"));
  await rm(join(folder, "stacks", "two", "plane_2.png")); // has two images: the queue is asked for it
  assert.match((await begin("1,2")).err, /no Redis answers there/);
  const away = await runCommand(context, "batch", join(folder, "stacks"), "--redis", "redis://127.0.0.1:1", ...more);
  assert.deepEqual([away.code, away.err.split("\n")[0]], [2, "dualfocus: redis://127.0.0.1:1: no Redis answers there"]);
});

test("distances are checked by the names of the images, as far as these tell", () => {
  const check = (files: readonly string[], distances: string): void => {
    checkDistances({ name: "stack", files, notes: [] }, depthSettings.parse({ distances }));
  };
  const refused = (files: readonly string[], distances: string, code: string): void => {
    assert.throws(() => {
      check(files, distances);
    }, { code }); // prettier-ignore
  };
  refused(["a.jpg", "b.jpg"], "1m,-1m", "distances-invalid");
  refused(["a.tif", "b.jpg"], "0um+2um", "distances-invalid");
  refused(["a.jpg", "b.jpg"], "1,2,3", "distance-count");
  check(["a.jpg", "b.jpg"], "1m+1m");
  for (const files of [["cells.tif"], ["z1.TIFF", "z2.tif"]]) check(files, "-3um,-2um,1um"); // positions; and they may have several pages
  check(["a.jpg"], "1,2"); // that one image is no stack is what the job says
});
