// Compiles native/simd/kernels.ts (AssemblyScript) into src/image/simd/bytes.ts, which is committed: only those who change the kernels
// need the compiler. It is fetched by npx.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const COMPILER = "assemblyscript@0.28.20";
const OPTIONS = ["-O3", "--noAssert", "--runtime", "stub", "--importMemory", "--enable", "simd"];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, "native", "simd", "kernels.ts");
const folder = mkdtempSync(join(tmpdir(), "dualfocus-kernels-"));
try {
  const out = join(folder, "kernels.wasm");
  execFileSync("npx", ["--yes", "--package", COMPILER, "asc", source, ...OPTIONS, "--outFile", out], { stdio: "inherit" });
  const lines = readFileSync(out)
    .toString("base64")
    .match(/.{1,120}/g)
    .map((line) => `  "${line}",`);
  const digest = createHash("sha256").update(readFileSync(source)).digest("hex");
  const text = [
    "// Made by scripts/buildKernels.js from native/simd/kernels.ts; do not edit.",
    "",
    "/** SHA-256 of the source. */",
    `export const SOURCE = "${digest}";`,
    "",
    "/** The module, base64. */",
    "export const MODULE = [",
    ...lines,
    '].join("");',
  ];
  writeFileSync(join(root, "src", "image", "simd", "bytes.ts"), `${text.join("\n")}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
