import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { createLane } from "../../src/cli/depthLane.ts";
import type { DepthOptions } from "../../src/cli/depthFolders.ts";
import type { Image } from "../../src/image/image.ts";
import { encodePng } from "../../src/io/png.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { dngFile } from "../io/dngFile.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

const root = temporaryFolder();
const stacks = join(root, "stacks");
const { stack } = slantedStack({ width: 96, height: 64, planes: 4 });
const names = ["a", "b", "c"];
for (const name of names)
  stack.images.forEach((image, n) => {
    put(join(stacks, name, `plane_${n}.png`), encodePng(image));
  });

const options = (threads: number): DepthOptions => ({
  ...{ model: "small", align: "auto", size: "auto", save: ["npy"], device: "cpu", batch: true, force: true, json: true, quiet: true },
  threads,
});

const place = (name: string, output: string): { folder: string; name: string; output: string } => ({
  folder: join(stacks, name),
  name,
  output: join(root, output, name),
});

test("a process computes one stack after the other, and reports one that is too large for its memory", async () => {
  const lane = createLane(options(1), { memory: 1e9, signal: new AbortController().signal });
  try {
    for (const name of ["a", "b"]) {
      const { entry, isTooLarge } = await lane.run(place(name, "lane"));
      assert.deepEqual([entry.name, entry.status, isTooLarge], [name, "done", false]);
      assert.ok(existsSync(entry.result?.files["npy"] ?? ""));
    }
    const missing = await lane.run({ folder: join(stacks, "nowhere"), name: "nowhere", output: join(root, "lane", "nowhere") });
    assert.deepEqual([missing.entry.status, missing.isTooLarge], ["failed", false]);
  } finally {
    await lane.close();
  }
  assert.equal(lane.isOpen, false);
  const small = createLane(options(1), { memory: 1000, signal: new AbortController().signal });
  try {
    assert.equal((await small.run(place("c", "lane"))).isTooLarge, true);
    put(join(root, "raw", "a.dng"), dngFile(stack.images[0] as Image));
    const raw = await small.run({ folder: join(root, "raw"), name: "raw", output: join(root, "lane", "raw") });
    assert.match(raw.entry.error?.message ?? "", /a\.dng: developing 96×64 pixels takes about 0\.2 GB, more than the 0 GB/);
    assert.equal(raw.isTooLarge, true);
  } finally {
    await small.close();
  }
});

/** Ends when the command does; `onLine` gets what it prints on standard error. */
async function batch(output: string, threads: number, onText: (text: string, stop: () => void) => void): Promise<number | null> {
  const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");
  const args = ["depth", stacks, "--batch", "-o", output, "--threads", String(threads), "--save", "npy", "--device", "cpu"];
  const child = spawn(process.execPath, [...process.execArgv, main, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    onText(text, () => child.kill("SIGINT"));
  });
  return new Promise((resolve) => child.once("close", resolve));
}

test("several at once find what one after the other does, and nothing half-written is left after a stop", async () => {
  const [one, both, stopped] = [join(root, "one"), join(root, "both"), join(root, "stopped")];
  let printed = "";
  assert.equal(await batch(one, 1, () => undefined), 0);
  assert.equal(await batch(both, 2, (text) => (printed += text)), 0);
  for (const name of names) assert.deepEqual(readFileSync(join(both, name, "depth.npy")), readFileSync(join(one, name, "depth.npy")));
  assert.match(printed, /\(3 of 3\)/);
  const code = await batch(stopped, 2, (text, stop) => {
    if (/device:|done/.test(text)) stop();
  });
  assert.equal(code, 130);
  for (const name of existsSync(stopped) ? readdirSync(stopped) : [])
    assert.ok(names.includes(name) && existsSync(join(stopped, name, "result.json")), `${name} is left`);
});
