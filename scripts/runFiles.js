// node --import LOADER scripts/runFiles.js TOGETHER FILE...: runs test files in this order, where `node --test` sorts them by name.
// Their processes get this one's --import.
import { resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const [together, ...files] = process.argv.slice(2);
const events = run({ files: files.map((file) => resolve(file)), concurrency: Number(together) });
events.on("test:fail", ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);
