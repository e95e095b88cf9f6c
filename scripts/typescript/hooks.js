// Compiles TypeScript as Node imports it, each version of a file once: what comes out is kept in node_modules/.cache by what went in.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(import.meta.dirname, "..", "..");
const cache = join(root, "node_modules", ".cache", "typescript");
const settings = readFileSync(join(root, "tsconfig.json"), "utf8");

/** Node's hook. */
export async function load(url, context, next) {
  if (!/^file:.*\.(ts|tsx|mts)$/.test(url)) return next(url, context);
  return { format: "module", source: await compiled(fileURLToPath(url)), shortCircuit: true };
}

/** The JavaScript of a TypeScript file, its source map inside. */
export async function compiled(file) {
  const text = readFileSync(file, "utf8");
  const kept = join(
    cache,
    createHash("sha1")
      .update(`${settings}\0${basename(file)}\0${text}`)
      .digest("hex"),
  );
  try {
    return readFileSync(kept, "utf8");
  } catch {
    const { transform } = await import("esbuild"); // not loaded where everything is compiled already
    const loader = extname(file) === ".tsx" ? "tsx" : "ts";
    const { code } = await transform(text, {
      ...{ loader, sourcefile: basename(file), target: "node20", tsconfigRaw: settings },
      ...{ sourcemap: "inline", sourcesContent: false },
    });
    keep(kept, code);
    return code;
  }
}

/** Written under another name first: processes that compile the same file at the same time read all of it or nothing. */
function keep(file, code) {
  mkdirSync(dirname(file), { recursive: true });
  const part = `${file}.${randomUUID()}`;
  writeFileSync(part, code);
  renameSync(part, file);
}
