import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { buildCommand } from "../../scripts/buildCommand.js";
import { temporaryFolder } from "../data/files.ts";
import { withServer } from "../serve/server.ts";

const root = join(import.meta.dirname, "..", "..");
mkdirSync(join(root, "build"), { recursive: true });
const folder = mkdtempSync(join(root, "build", "command-")); // inside the package, so that its packages are found
after(() => {
  rmSync(folder, { recursive: true });
});
const bundle = join(folder, "bundle");
await buildCommand(root, bundle);
const main = join(bundle, "main.js");
const run = promisify(execFile);

test("the bundle computes depth from a few files, without the packages that are in it", async () => {
  const list = join(folder, "modules");
  const hook = join(root, "test", "helpers", "loadedModules.js");
  const args = ["depth", join(root, "examples", "macro"), "-o", join(temporaryFolder(), "out"), "--size", "64", "--json", "--quiet"];
  const { stdout } = await run(process.execPath, ["--import", hook, main, ...args], { env: { ...process.env, LOADED_MODULES: list } });
  const { files } = JSON.parse(stdout) as { files: Readonly<Record<string, string>> };
  assert.deepEqual([...readFileSync(files["depth16"] as string).subarray(1, 4)], [...Buffer.from("PNG")]);
  const urls = readFileSync(list, "utf8").split("\n");
  assert.deepEqual(
    urls.filter((url) => /node_modules\/(commander|fast-png|fflate|iobuffer|zod)\//.test(url)),
    [],
  );
  const own = new Set(urls.filter((url) => url.includes("/bundle/")));
  assert.ok(own.size > 0 && own.size < 100, `${own.size} files`);
});

test("every program that is started as a process or thread lies beside the command", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const names = sources.flatMap((name) => {
    const text = readFileSync(join(root, "src", name), "utf8");
    return [...text.matchAll(/programBeside\(import\.meta\.url, "(\w+)"\)|"\.\/(\w+)\.js"/g)].map(
      ([, program, thread]) => program ?? thread,
    );
  });
  assert.ok(names.includes("depthLaneMain") && names.includes("fusionThread"), names.join());
  assert.deepEqual(
    names.filter((name) => !existsSync(join(bundle, `${name}.js`))),
    [],
  );
});

test("the bundle's server describes itself as the modules' does, though its schemas are of another copy of zod than the framework's", async () => {
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--store", temporaryFolder()], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const described = async (server: string): Promise<unknown> => (await fetch(`${server}/openapi.json`)).json();
    assert.deepEqual(await described(url), await withServer({}, async (server) => described(server.url)));
    assert.equal((await fetch(`${url}/v1/depth`, { method: "POST", body: new FormData() })).status, 422);
  } finally {
    child.kill();
    await once(child, "exit");
  }
});

test("the licence of every package in the bundle comes with it", () => {
  const text = readFileSync(join(bundle, "LICENSES.txt"), "utf8");
  for (const name of ["commander", "fast-png", "fflate", "iobuffer", "zod"]) {
    const license = readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8").trim();
    assert.ok(text.includes(`${name} `) && text.includes(license), name);
  }
});
