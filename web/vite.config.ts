import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { defineConfig } from "vite";

const root = import.meta.dirname;
const project = join(root, "..");

/** Part of the address under which a browser keeps the weights: new weights are fetched anew. */
const weights = createHash("sha256")
  .update(readFileSync(join(project, "models", "small.safetensors")))
  .digest("hex")
  .slice(0, 16);

/** The pictures of each shipped stack, and its distances where they are known. */
const examples = Object.fromEntries(
  readdirSync(join(project, "examples")).map((name) => [
    name,
    readdirSync(join(project, "examples", name))
      .filter((file) => /^(plane_\d+\.png|stack\.json)$/.test(file))
      .sort(),
  ]),
);

/** Bytes of the runtime's large files: servers that compress them do not say. */
const runtime = dirname(createRequire(import.meta.url).resolve("onnxruntime-web/ort-wasm-simd-threaded.mjs"));
const runtimeBytes = Object.fromEntries(
  ["ort-wasm-simd-threaded.wasm", "ort-wasm-simd-threaded.asyncify.wasm"].map((name) => [name, statSync(join(runtime, name)).size]),
);

/** ONNX Runtime's files are loaded from `runtime/` beside the page, so its build without them inside is taken. */
const conditions = ["onnxruntime-web-use-extern-wasm", "module", "browser", "import", "default"];

export default defineConfig({
  root,
  base: "./", // any folder of any host will do
  resolve: { conditions },
  define: {
    __WEIGHTS__: JSON.stringify(weights),
    __EXAMPLES__: JSON.stringify(examples),
    __RUNTIME_BYTES__: JSON.stringify(runtimeBytes),
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: {
    format: "es",
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "mediabunny", test: /node_modules.mediabunny/ }] } } }, // large: a name to know it by
  },
  build: {
    outDir: join(project, "dist", "web"),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // nothing inline: the page's content security policy is strict
    chunkSizeWarningLimit: 1500,
  },
});
