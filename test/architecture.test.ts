import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { test } from "node:test";

/** What every folder may import. */
const ANYWHERE = ["errors", "random"];

/** What each folder of src/ may import besides, low to high: docs/architecture.md. Files at the top of src/ stand for themselves. */
const PLAN: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  random: [],
  image: [],
  io: ["image"],
  system: [],
  stack: ["image", "io", "system"],
  metrics: ["image"],
  classical: ["image", "stack"],
  engine: ["io"],
  nn: ["engine", "io"],
  model: ["nn", "engine", "io"],
  losses: ["model", "engine"],
  optics: ["stack", "image", "engine"],
  align: ["stack", "image", "optics"],
  check: ["align", "stack", "image"],
  output: ["stack", "image", "io"],
  data: ["optics", "stack", "image", "io"],
  network: ["model", "nn", "engine", "stack", "image", "io", "system"],
  depth: ["network", "engine", "align", "check", "output", "data", "metrics", "stack", "image", "system"],
  train: ["network", "losses", "model", "nn", "engine", "data", "optics", "output", "stack", "image", "io", "system"],
  evaluate: ["depth", "train", "network", "data", "optics", "classical", "metrics", "stack", "image", "system"],
  bench: ["network", "model", "engine"],
  reproduce: ["evaluate", "bench", "train", "model", "output", "system"],
  queue: ["depth", "network", "output", "stack", "system"],
  serve: ["queue", "depth", "output", "stack", "io", "system"],
  cli: [
    ...["serve", "queue", "reproduce", "bench", "evaluate", "train", "depth", "network", "model", "engine"],
    ...["check", "output", "data", "optics", "stack", "image", "io", "system"],
  ],
  everywhere: ["depth", "network", "model", "engine", "align", "check", "classical", "metrics", "optics", "output", "stack", "image", "io"],
  browser: ["everywhere", "network"],
  index: ["everywhere", "depth", "network", "data", "stack"],
  training: ["train", "losses", "model", "engine", "io"],
};

/** Folders that need Node as a whole; elsewhere Node's code is in sub-folders of these names. The rest runs in a browser, too. */
const NODE_FOLDERS = ["system", "data", "train", "evaluate", "bench", "reproduce", "queue", "serve", "cli", "index", "training"];
const NODE_SUBFOLDERS = ["node", "torch", "fusion"];

interface Import {
  readonly target: string;
  /** `import type`: nothing of it is left when the code runs. */
  readonly isType: boolean;
}

interface Source {
  /** Relative to the root: src/nn/conv.ts, web/src/main.tsx. */
  readonly path: string;
  readonly imports: readonly Import[];
}

/** src/nn/conv.ts → nn, src/index.ts → index. */
const folderOf = (path: string): string => (path.split("/")[1] ?? "").replace(/\.ts$/, "");

const needsNode = (path: string): boolean =>
  NODE_FOLDERS.includes(folderOf(path)) ||
  path
    .split("/")
    .slice(2, -1)
    .some((name) => NODE_SUBFOLDERS.includes(name));

/** What is wrong with the imports of one file. */
function offences({ path, imports }: Source): string[] {
  const inPage = path.startsWith("web/");
  return imports.flatMap(({ target, isType }) => {
    if (target.startsWith("node:")) return !inPage && needsNode(path) ? [] : [`${path} imports ${target}`];
    if (!target.startsWith(".")) return [];
    const to = posix.join(posix.dirname(path), target);
    if (!to.startsWith("src/"))
      return inPage || (to === "native/addon.d.ts" && folderOf(path) === "engine") ? [] : [`${path} imports ${to}`];
    if (!isType && needsNode(to) && (inPage || !needsNode(path))) return [`${path} runs in a browser and imports ${to}, which needs Node`];
    const isPlanned = inPage || [folderOf(path), ...ANYWHERE, ...(PLAN[folderOf(path)] ?? [])].includes(folderOf(to));
    return isPlanned ? [] : [`${path} imports ${to}, which the plan does not allow`];
  });
}

function sources(folder: string): Source[] {
  const root = join(import.meta.dirname, "..");
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const statements = readFileSync(file, "utf8").matchAll(/(?:(?:im|ex)port( type)?\b[^;="]*?\bfrom|\bimport\(?)\s*"([^"]+)"/g);
      const imports = Array.from(statements, ([, type, target]) => ({ target: target as string, isType: type !== undefined }));
      return { path: relative(root, file).split(sep).join("/"), imports };
    });
}

const found = [...sources("src"), ...sources("web/src")];

test("every import is in the plan, and what runs in a browser needs no Node", () => {
  assert.ok(found.length > 300, `only ${found.length} sources found`);
  assert.deepEqual(found.flatMap(offences), []);
});

test("the plan has no circle and no entry that is not used", () => {
  const order = Object.keys(PLAN);
  const upwards = order.flatMap((folder, i) =>
    (PLAN[folder] ?? []).filter((to) => order.indexOf(to) >= i).map((to) => `${folder} → ${to}`),
  );
  assert.deepEqual(upwards, []);
  const used = new Set(
    found.flatMap(({ path, imports }) =>
      imports.map(({ target }) => `${folderOf(path)} → ${folderOf(posix.join(posix.dirname(path), target))}`),
    ),
  );
  const unused = order.flatMap((folder) => (PLAN[folder] ?? []).map((to) => `${folder} → ${to}`)).filter((entry) => !used.has(entry));
  assert.deepEqual(unused, []);
});

test("an import outside the plan is found", () => {
  const of = (path: string, ...imports: string[]): string[] =>
    offences({ path, imports: imports.map((target) => ({ target, isType: false })) });
  assert.deepEqual(of("src/nn/conv.ts", "../model/encoder.ts"), [
    "src/nn/conv.ts imports src/model/encoder.ts, which the plan does not allow",
  ]);
  assert.deepEqual(of("src/io/png.ts", "node:fs"), ["src/io/png.ts imports node:fs"]);
  assert.deepEqual(of("src/network/session.ts", "./node/onnxSession.ts"), [
    "src/network/session.ts runs in a browser and imports src/network/node/onnxSession.ts, which needs Node",
  ]);
  assert.deepEqual(of("web/src/worker/job.ts", "../../../src/train/run.ts"), [
    "web/src/worker/job.ts runs in a browser and imports src/train/run.ts, which needs Node",
  ]);
  assert.deepEqual(of("src/model/encoder.ts", "../nn/conv.ts", "./volume.ts", "../engine/dims.ts"), []);
});
