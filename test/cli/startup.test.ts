import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..", "..");

interface Loaded {
  /** Those of package.json's dependencies that were loaded. */
  readonly packages: readonly string[];
  /** Modules of src/. */
  readonly sources: readonly string[];
}

/** What a command loads, from its start to its end. */
async function loadedBy(context: TestContext, args: (folder: string) => readonly string[]): Promise<Loaded> {
  const folder = await mkdtemp(join(tmpdir(), "dualfocus-startup-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "modules");
  const hook = join(root, "test", "helpers", "loadedModules.js");
  const program = [...process.execArgv, "--import", hook, join(root, "src", "cli", "main.ts"), ...args(folder)];
  await promisify(execFile)(process.execPath, program, { env: { ...process.env, LOADED_MODULES: file } });
  const urls = (await readFile(file, "utf8")).split("\n");
  const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  return {
    packages: Object.keys(dependencies).filter((name) => urls.some((url) => url.includes(`/node_modules/${name}/`))),
    sources: urls.flatMap((url) => /\/src\/(\S+?\.ts)/.exec(url)?.[1] ?? []),
  };
}

for (const option of ["--version", "--help"])
  test(`${option} loads no command`, async (context) => {
    const { packages, sources } = await loadedBy(context, () => [option]);
    assert.deepEqual(packages, ["commander"]);
    assert.deepEqual(
      sources.filter((source) => !/^(cli\/(main|run|words)|system\/\w+|errors)\.ts$/.test(source)),
      [],
    );
  });

const examples = join(root, "examples");

/** Commands that do real work on PNG files, and the packages each may load: no queue, no server, no format that does not come. */
const ALLOWED: Readonly<Record<string, { readonly args: (folder: string) => readonly string[]; readonly packages: readonly string[] }>> = {
  depth: {
    args: (folder) => ["depth", join(examples, "macro"), "-o", join(folder, "out"), "--size", "64", "--quiet"],
    packages: ["@bufbuild/protobuf", "commander", "fast-png", "fflate", "onnxruntime-common", "onnxruntime-node", "sharp", "zod"],
  },
  check: { args: () => ["check", join(examples, "macro"), "--quiet"], packages: ["commander", "fast-png", "fflate", "sharp", "zod"] },
  models: { args: () => ["models"], packages: ["@bufbuild/protobuf", "commander", "zod"] },
};

for (const [name, { args, packages: allowed }] of Object.entries(ALLOWED))
  test(`${name} loads only what it uses`, async (context) => {
    const { packages, sources } = await loadedBy(context, args);
    assert.deepEqual(
      packages.filter((each) => !allowed.includes(each)),
      [],
    );
    assert.ok(sources.includes(`cli/${name}.ts`));
    assert.deepEqual(
      sources.filter((source) => /^(queue|serve|train|reproduce|bench)\//.test(source)),
      [],
    );
  });
