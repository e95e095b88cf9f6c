import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const read = (name: string): unknown => JSON.parse(readFileSync(join(root, name), "utf8"));
const { allowScripts, bin } = read("package.json") as { allowScripts: Record<string, boolean>; bin: Record<string, string> };
const { packages } = read("package-lock.json") as { packages: Record<string, { hasInstallScript?: boolean }> };

test("`npm ci` does not run onnxruntime-node's install script, which downloads CUDA libraries", () => {
  assert.equal(allowScripts["onnxruntime-node"], false); // npm 11 and newer read this
  const entry = packages["node_modules/onnxruntime-node"];
  assert.ok(entry);
  // npm 10 runs the script if the lock file says that there is one. Updating the package puts the line back: delete it again.
  assert.equal(entry.hasInstallScript, undefined, 'delete "hasInstallScript": true of onnxruntime-node in package-lock.json');
});

test("package.json decides about every install script among the dependencies, so that npm 11 does not warn", () => {
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const undecided = withScript.map(([path]) => path.replace(/^.*node_modules\//, "")).filter((name) => !(name in allowScripts));
  assert.deepEqual(undecided, []);
});

test("the npm package holds what its users need and nothing of the developers' own", () => {
  const printed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(printed) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  for (const [name, path] of Object.entries(bin))
    assert.ok(paths.includes(path), `${name}: ${path} is missing; has \`npm run build\` run?`);
  const outside = new Set(paths.filter((path) => !/^(dist|native|examples|docs|deploy)\//.test(path)));
  assert.deepEqual([...outside].sort(), [
    "CHANGELOG.md",
    "LICENSE",
    "PAPER.md",
    "README.md",
    "SECURITY.md",
    "models/README.md",
    "models/fine.safetensors",
    "models/small.safetensors",
    "package.json",
    "scripts/atOnce.js",
    "scripts/buildNative.js",
  ]);
  for (const script of paths.filter((path) => /^scripts\/.*\.js$/.test(path)))
    for (const [, imported = ""] of readFileSync(join(root, script), "utf8").matchAll(/from "\.\/([^"]+)"/g))
      assert.ok(paths.includes(`scripts/${imported}`), `${script} imports ./${imported}, which is not in the package`);
});
