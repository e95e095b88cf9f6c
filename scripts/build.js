// Compiles src/ into dist/, what `npx dualfocus` and importers run. Called by `npm ci` (prepare).
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
rmSync(join(root, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], { stdio: "inherit" });
cpSync(join(root, "native", "addon.d.ts"), join(root, "dist", "native", "addon.d.ts")); // the types of torch.d.ts refer to it
const command = join(root, "dist", "src", "cli", "main.js");
if (existsSync(command)) chmodSync(command, 0o755);
