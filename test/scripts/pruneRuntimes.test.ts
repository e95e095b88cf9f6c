import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pruneRuntimes } from "../../scripts/pruneRuntimes.js";
import { temporaryFolder } from "../data/files.ts";

const root = temporaryFolder();
const installed = join(import.meta.dirname, "..", "..", "node_modules");

function fill(modules: string, files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(modules, file)), { recursive: true });
    writeFileSync(join(modules, file), "");
  }
}

const BINARIES = ["darwin/arm64", "linux/arm64", "linux/x64", "win32/x64"].map(
  (system) => `onnxruntime-node/bin/napi-v6/${system}/binding.node`,
);

test("only this machine's binaries are left", () => {
  const modules = join(root, "machine", "node_modules");
  fill(modules, BINARIES);
  pruneRuntimes(modules, { platform: "linux", arch: "arm64" });
  assert.deepEqual(
    BINARIES.filter((file) => existsSync(join(modules, file))),
    ["onnxruntime-node/bin/napi-v6/linux/arm64/binding.node"],
  );
});

test("every build of the browser runtime that a bundler, a browser or Node loads is kept", () => {
  const { exports } = JSON.parse(readFileSync(join(installed, "onnxruntime-web", "package.json"), "utf8")) as {
    exports: Record<string, unknown>;
  };
  const targets = (entry: unknown): string[] => (typeof entry === "string" ? [entry] : Object.values(entry as object).flatMap(targets));
  const needed = [".", "./wasm", "./webgpu"].flatMap((name) => targets(exports[name]).filter((file) => file.startsWith("./dist/")));
  const wasm = ["", ".asyncify"].flatMap((kind) => ["mjs", "wasm"].map((ending) => `./dist/ort-wasm-simd-threaded${kind}.${ending}`));
  const unused = [
    "ort-wasm-simd-threaded.jsep.wasm",
    "ort-wasm-simd-threaded.jspi.mjs",
    "ort.all.mjs",
    "ort.webgl.min.js",
    "ort.min.js.map",
    "ort.mjs",
  ];
  const modules = join(root, "web", "node_modules");
  fill(
    modules,
    [...needed, ...wasm, ...unused.map((name) => `./dist/${name}`)].map((file) => join("onnxruntime-web", file)),
  );
  pruneRuntimes(modules, process);
  assert.ok(needed.length >= 9, needed.join(" "));
  for (const file of [...needed, ...wasm]) assert.ok(existsSync(join(modules, "onnxruntime-web", file)), `${file} is gone`);
  assert.deepEqual(readdirSync(join(modules, "onnxruntime-web", "dist")).filter((name) => unused.includes(name)), []); // prettier-ignore
});

test("a node_modules that is someone else's, or not there, is left alone", () => {
  const modules = join(root, "theirs", "node_modules");
  fill(modules, BINARIES);
  symlinkSync(modules, join(root, "link"));
  pruneRuntimes(join(root, "link"), { platform: "linux", arch: "x64" });
  pruneRuntimes(join(root, "nothing"), process);
  assert.ok(BINARIES.every((file) => existsSync(join(modules, file))));
});
