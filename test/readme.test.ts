import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");

test("the README's library example runs as it stands", () => {
  const [, example] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  assert.ok(example, "README.md has a ts block");
  const picture =
    "{ width: 64, height: 64, channels: 3 as const, data: Float32Array.from({ length: 64 * 64 * 3 }, (_, i) => (i % 7) / 7) }";
  const program = `const images = [0, 1, 2].map(() => (${picture}));\n${example.replace('"dualfocus"', JSON.stringify(join(root, "src", "index.ts")))}`;
  const folder = mkdtempSync(join(root, "build", "readme-")); // inside the package, so that its loader and packages are found
  try {
    writeFileSync(join(folder, "example.mts"), program);
    const output = execFileSync(process.execPath, [...process.execArgv, join(folder, "example.mts")], { cwd: root, encoding: "utf8" });
    assert.match(output, /^\d+\.\d+ m ± \d+\.\d+ m 64 64\n$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the README's first command is the one its example needs", () => {
  assert.ok(readme.includes("npm ci && npx dualfocus depth examples/desk -o out/desk --truth examples/desk/depth.npy"));
});
