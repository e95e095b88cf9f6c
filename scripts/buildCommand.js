// Bundles the command into dist/command, which package.json's `bin` names: `depth` then loads 63 files of it instead of 322 modules, in half the
// time. The modules in dist/src stay as they are, for those who import the package.
import { chmodSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";

/** Every program that Node is started with: the command, and its processes and threads, which are found beside whoever starts them. */
const PROGRAMS = [
  "src/cli/main.ts",
  "src/cli/depthLaneMain.ts",
  "src/depth/node/fusionThread.ts",
  "src/queue/slotMain.ts",
  "src/reproduce/worker.ts",
  "src/serve/frameCheckerMain.ts",
  "src/stack/node/decodeRawMain.ts",
];

/** Packages inside the bundle: plain JavaScript that most commands load. The others are native, bring files of their own, or are loaded by few. */
const BUNDLED = ["commander", "fast-png", "fflate", "zod"];

/**
 * Packages outside of it that are loaded by `require`, and what is imported from each: for an `import` of CommonJS, Node would first search all of
 * its code for the names that it exports, which takes longer than loading it.
 */
const REQUIRED = {
  "onnxruntime-node": "export const { InferenceSession, Tensor } = loaded;",
  sharp: "export default loaded;",
};

/** Loads each of these packages in its own module. */
const requireThem = {
  name: "require",
  setup(build) {
    const filter = new RegExp(`^(${Object.keys(REQUIRED).join("|")})$`);
    build.onResolve({ filter }, ({ path, kind }) => (kind === "require-call" ? { path, external: true } : { path, namespace: "required" }));
    build.onLoad({ filter, namespace: "required" }, ({ path }) => ({ contents: `const loaded = require("${path}");\n${REQUIRED[path]}` }));
  },
};

/**
 * @param {string} root the package's folder
 * @param {string} target inside of it, so that packages outside the bundle are found
 */
export async function buildCommand(root, target = join(root, "dist", "command")) {
  const work = join(root, "build", `command-${process.pid}`); // not in dist, all of which npm packs, also what a killed build leaves there
  const former = `${work}-former`;
  for (const folder of [work, former]) rmSync(folder, { recursive: true, force: true });
  const dependencies = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies);
  const outside = [...dependencies.filter((name) => !BUNDLED.includes(name) && !(name in REQUIRED)), "onnxruntime-web"];
  try {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: PROGRAMS,
      entryNames: "[name]",
      outdir: work,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node20",
      external: outside,
      plugins: [requireThem],
      banner: { js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);' }, // for packages in CommonJS
      metafile: true,
      logLevel: "warning",
    });
    writeFileSync(join(work, "LICENSES.txt"), licences(root, Object.keys(metafile.inputs)));
    chmodSync(join(work, "main.js"), 0o755);
    mkdirSync(dirname(target), { recursive: true });
    renameUnless("ENOENT", target, former);
    renameUnless("ENOTEMPTY", work, target); // another build was first
  } finally {
    for (const folder of [work, former]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Renames a folder, or leaves it if that fails with this code. */
function renameUnless(code, from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (error.code !== code) throw error;
  }
}

/** The licence of each package in the bundle, as it demands. */
function licences(root, inputs) {
  const folders = new Set(inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  const texts = [...folders].sort().map((folder) => {
    const place = join(root, folder);
    const { name, version, license } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    const file = readdirSync(place).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each));
    if (file === undefined) throw new Error(`${relative(root, place)} has no licence file, so it cannot be bundled`);
    return `${name} ${version}, ${license}\n\n${readFileSync(join(place, file), "utf8").trim()}\n`;
  });
  return `The command contains these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}
