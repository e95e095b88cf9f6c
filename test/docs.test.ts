import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const folders = ["docs", "models", "examples", "deploy", "scripts", "bench", "native", "src", "web", "test"];
const inFolders = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
);
const documents = [...readdirSync(root), ...inFolders]
  .filter((name) => name.endsWith(".md"))
  .map((name) => ({ name, text: readFileSync(join(root, name), "utf8") }));

test("every relative link in the documents leads to a file, and every anchor to a heading", () => {
  const broken: string[] = [];
  let links = 0;
  for (const { name, text } of documents)
    for (const [, target = ""] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      links += 1;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? name : normalize(join(dirname(name), path));
      if (!existsSync(join(root, file))) broken.push(`${name}: ${target}`);
      else if (anchor !== undefined && !anchors(readFileSync(join(root, file), "utf8")).includes(anchor)) broken.push(`${name}: ${target}`);
    }
  assert.deepEqual(broken, []);
  assert.ok(links > 40, `found only ${links} links`);
});

test("every file of the project that the documents name exists", () => {
  const broken: string[] = [];
  let paths = 0;
  for (const { name, text } of documents)
    for (const [path] of text.matchAll(/(?<![\w./-])(?:src|test|scripts|bench|native|web|deploy|models|examples|docs)\/[\w./@-]*\w/g)) {
      paths += 1;
      if (!existsSync(join(root, path)) && !PRODUCED.test(path)) broken.push(`${name}: ${path}`);
    }
  assert.deepEqual(broken, []);
  assert.ok(paths > 100, `found only ${paths} paths`);
});

/** Placeholders, and files that the documents tell how to make. */
const PRODUCED = /NAME|^models\/(base|dfv|nyu-(base|dfv|fine(-10)?))\.safetensors$/;

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchors(text: string): string[] {
  return [...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replace(/ /g, "-"),
  );
}
