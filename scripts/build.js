// Compiles src/ into dist/, what `npx dualfocus` and importers run. Called by `npm ci` (prepare), and by npx in a clone every time:
// so it does nothing where nothing changed since the last build.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
const stamp = join(root, "dist", ".built"); // written last: an interrupted build has none
const inputs = ["src", "native/addon.d.ts", "scripts/build.js", "tsconfig.json", "tsconfig.build.json", "package-lock.json"];
if (existsSync(stamp) && inputs.every((input) => lastChange(join(root, input)) < statSync(stamp).mtimeMs)) process.exit(0);

rmSync(join(root, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], { stdio: "inherit" });
cpSync(join(root, "native", "addon.d.ts"), join(root, "dist", "native", "addon.d.ts")); // the types of torch.d.ts refer to it
const command = join(root, "dist", "src", "cli", "main.js");
if (existsSync(command)) chmodSync(command, 0o755);
writeFileSync(stamp, "");

/** When the file, or anything in the folder, last changed. A folder's own time tells of files that went. */
function lastChange(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => lastChange(join(path, name))));
}
