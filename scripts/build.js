// Compiles src/ into dist/src, which importers run, and dist/command, which `npx dualfocus` runs, and web/ into dist/web, the page. Called by
// `npm ci` (prepare), and by every npx of npm 10 in a clone: it does nothing if nothing has changed since the last build.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pruneRuntimes } from "./pruneRuntimes.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (process.env["KEEP_RUNTIMES"] === undefined) pruneRuntimes(join(root, "node_modules"), process);
const always = ["src", "scripts/build.js", "tsconfig.json", "package-lock.json"];
await refresh({
  stamp: join(root, "dist", ".built"),
  inputs: [...always, "native/addon.d.ts", "tsconfig.build.json"],
  build: compile,
});
await refresh({
  stamp: join(root, "dist", "command", ".built"),
  inputs: [...always, "scripts/buildCommand.js"],
  build: async () => (await import("./buildCommand.js")).buildCommand(root),
});
await refresh({
  stamp: join(root, "dist", "web", ".built"),
  inputs: [...always, "web", "scripts/buildWeb.js", "models/small.safetensors", "examples"],
  build: async () => (await import("./buildWeb.js")).buildWeb(root), // Vite is loaded only when needed, so that npx starts quickly
});

/** Builds unless the stamp, which is written last, is newer than every input: an interrupted build leaves none. */
async function refresh({ stamp, inputs, build }) {
  if (existsSync(stamp) && inputs.every((input) => lastChange(join(root, input)) < statSync(stamp).mtimeMs)) return;
  rmSync(stamp, { force: true });
  await build();
  writeFileSync(stamp, "");
}

function compile() {
  for (const folder of ["src", "native"]) rmSync(join(root, "dist", folder), { recursive: true, force: true });
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  // `npm run types` checks the types, of tests and page too; here they are only written.
  execFileSync(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json"), "--noCheck"], { stdio: "inherit" });
  cpSync(join(root, "native", "addon.d.ts"), join(root, "dist", "native", "addon.d.ts")); // the types of torch.d.ts refer to it
  // `bin` named this file before dist/command: npm 11 keeps a link that npx made in a clone, also when `bin` changes, and runs it.
  chmodSync(join(root, "dist", "src", "cli", "main.js"), 0o755);
}

/** When the file, or anything in the folder, last changed. A folder's own time shows deleted files. */
function lastChange(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => lastChange(join(path, name))));
}
