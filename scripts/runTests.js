// Runs test/**/*.test.ts, or those whose path holds one of the words given: `npm test -- model losses`.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const words = process.argv.slice(2);
const files = testFiles(join(root, "test")).filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
if (files.length === 0) {
  console.error(`no test file matches ${words.join(", ")}`);
  process.exit(2);
}
if (files.some((file) => /web/.test(file))) runOrExit(["scripts/build.js"]); // the page's tests look at the page as it is built
const options = ["--import", "tsx", "--test", "--test-concurrency=2", "--test-reporter=spec"];
runOrExit([...options, ...files]);

function runOrExit(args) {
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit", cwd: root });
  if (status !== 0) process.exit(status ?? 1);
}

function testFiles(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}
