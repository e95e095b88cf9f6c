import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..", "src");

/** Low to high: a file may import from its own folder or from folders listed before it. */
const LAYERS: readonly (readonly string[])[] = [
  ["random", "image", "errors"],
  ["io", "system"],
  ["stack"],
  ["engine", "metrics", "classical"],
  ["optics"],
  ["nn", "align"],
  ["model", "data"],
  ["losses", "output", "check"],
  ["network"],
  ["depth"],
  ["train", "bench"],
  ["evaluate"],
  ["queue", "reproduce"],
  ["serve"],
  ["cli"],
  ["everywhere"],
  ["index", "browser", "training"],
];

/** Where Node's own modules may appear; everything else must run in a browser. */
const NODE_FILES = [
  /^data\//,
  /^stack\/node\//,
  /^train\//,
  /^evaluate\//,
  /^bench\/memory\.ts$/,
  /^cli\//,
  /^system\//,
  /^depth\/node\//,
  /^queue\//,
  /^reproduce\//,
  /^serve\//,
  /^engine\/torch\//,
  /^network\/node\//,
  /^index\.ts$/,
  /^training\.ts$/,
];

interface Source {
  readonly path: string;
  readonly imports: readonly string[];
}

export function layerOf(path: string): number {
  const [first = ""] = path.split("/");
  const layer = LAYERS.findIndex((names) => names.includes(first.replace(/\.ts$/, "")));
  assert.ok(layer >= 0, `${path} belongs to no layer; add it to LAYERS`);
  return layer;
}

/** What is wrong with the imports of one file. */
function offences({ path, imports }: Source): string[] {
  const folder = path.split("/")[0];
  return imports.flatMap((target) => {
    if (target.startsWith("node:")) return NODE_FILES.some((allowed) => allowed.test(path)) ? [] : [`${path} imports ${target}`];
    if (!target.startsWith(".")) return [];
    const to = posix.normalize(posix.join(posix.dirname(path), target));
    if (to.startsWith("../"))
      return to.startsWith("../native/") && path.startsWith("engine/") ? [] : [`${path} imports ${target}, outside src`];
    const sameFolder = to.split("/")[0] === folder && to.includes("/");
    return sameFolder || layerOf(to) < layerOf(path) ? [] : [`${path} imports ${to}, which is not below it`];
  });
}

function sources(): Source[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const text = readFileSync(file, "utf8");
      const imports = [...text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map(([, target]) => target as string);
      return { path: relative(root, file).split(sep).join("/"), imports };
    });
}

test("every import goes down the layers, and Node's modules stay where a browser never looks", () => {
  const found = sources();
  assert.ok(found.length > 30, `only ${found.length} sources found in ${dirname(root)}`);
  assert.deepEqual(found.flatMap(offences), []);
});

test("an import that goes up is found", () => {
  assert.deepEqual(offences({ path: "nn/conv.ts", imports: ["../model/encoder.ts"] }), [
    "nn/conv.ts imports model/encoder.ts, which is not below it",
  ]);
  assert.deepEqual(offences({ path: "metrics/meter.ts", imports: ["../nn/conv.ts"] }), [
    "metrics/meter.ts imports nn/conv.ts, which is not below it",
  ]);
  assert.deepEqual(offences({ path: "io/png.ts", imports: ["node:fs"] }), ["io/png.ts imports node:fs"]);
  assert.deepEqual(offences({ path: "model/encoder.ts", imports: ["../nn/conv.ts", "./volume.ts", "../engine/dims.ts"] }), []);
});
