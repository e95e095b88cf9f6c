// Builds the page into dist/web: the bundle, ONNX Runtime's files, and the service worker that caches it.
// Weights and examples are not copied: `dualfocus web` serves them, and `dualfocus web --output` writes them, from their own folders.
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { buildSync } from "esbuild";
import { build } from "vite";

/** Each device has its own build of the runtime: plain for WASM, asyncify for WebGPU. */
const RUNTIME = ["ort-wasm-simd-threaded", "ort-wasm-simd-threaded.asyncify"];

/** Runs the first of them in Node, where onnxruntime-node is not installed. */
const FOR_NODE = "ort.node.min.mjs";

/** Fetched at the first visit, so that the page works offline; what is large and seldom needed is cached only if it is used: the WebGPU runtime, the readers of HEIC, raw files and videos. */
const KEPT = [
  /^index\.html$/,
  /^[\w-]+\.(svg|webmanifest)$/,
  /^assets\/(?!libheif|mediabunny)/,
  /^viewer\.(js|css)$/,
  /^runtime\/ort-wasm-simd-threaded\.(mjs|wasm)$/,
  /^examples\/\w+\/(plane_\d+\.png|stack\.json)$/,
];

/** @param {string} root the package's folder */
export async function buildWeb(root) {
  const [target, work] = [join(root, "dist", "web"), join(root, "dist", `web-${process.pid}`)];
  try {
    await build({ configFile: join(root, "web", "vite.config.ts"), logLevel: "error", build: { outDir: work, emptyOutDir: true } });
    copyRuntime(root, join(work, "runtime"));
    copyLibRaw(root, join(work, "libraw"));
    writeViewer(root, work);
    writeServiceWorker(root, work);
    rmSync(target, { recursive: true, force: true });
    renameSync(work, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function copyRuntime(root, folder) {
  const dist = dirname(createRequire(join(root, "package.json")).resolve("onnxruntime-web/ort-wasm-simd-threaded.mjs"));
  const files = [...RUNTIME.flatMap((stem) => [`${stem}.mjs`, `${stem}.wasm`]), FOR_NODE];
  for (const name of files) cpSync(join(dist, name), join(folder, name));
}

/** LibRaw as it is, since it starts threads from its own script, and the worker that runs it. */
function copyLibRaw(root, folder) {
  const script = createRequire(join(root, "package.json")).resolve("libraw-wasm/dist/libraw.js");
  for (const name of ["libraw.js", "libraw.wasm"]) cpSync(join(dirname(script), name), join(folder, name));
  buildSync({
    entryPoints: [join(root, "web", "src", "raw", "rawWorker.ts")],
    outfile: join(folder, "worker.js"),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    logLevel: "error",
  });
}

/** Script and style of a self-contained result: one file each, which src/output/resultPage.ts puts into the page it writes. */
function writeViewer(root, work) {
  buildSync({
    entryPoints: {
      viewer: join(root, "web", "src", "standalone", "viewer.tsx"),
      "viewer.style": join(root, "web", "src", "style", "page.css"),
    },
    outdir: work,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { __STANDALONE__: "true" },
    logLevel: "error",
  });
  renameSync(join(work, "viewer.style.css"), join(work, "viewer.css"));
}

/** Its name stays the same; the list of files it caches, and the cache's name, are compiled in. */
function writeServiceWorker(root, work) {
  const paths = [...filesBelow(work), ...filesBelow(join(root, "examples")).map((path) => `examples/${path}`)];
  const kept = paths.filter((path) => KEPT.some((pattern) => pattern.test(path))).sort();
  const hash = createHash("sha256");
  for (const path of kept) hash.update(path).update(readFileSync(existsSync(join(work, path)) ? join(work, path) : join(root, path)));
  buildSync({
    entryPoints: [join(root, "web", "src", "offline", "serviceWorker.ts")],
    outfile: join(work, "serviceWorker.js"),
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    define: { __KEPT__: JSON.stringify(kept), __VERSION__: JSON.stringify(hash.digest("hex").slice(0, 12)) },
    logLevel: "warning",
  });
}

/** Relative paths with slashes. */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
}
