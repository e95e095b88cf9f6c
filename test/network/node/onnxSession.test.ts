import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assertClose } from "../../helpers/close.ts";

const here = (name: string): string => join(import.meta.dirname, name);

test("where npm left onnxruntime-node out, ONNX Runtime's WASM build gives the same depth", () => {
  const expected = smallDepth();
  const actual = smallDepth("--import", here("withoutOnnxRuntimeNode.mjs"));
  assert.deepEqual([expected.native, actual.native], [true, false]);
  assertClose(actual.depth, expected.depth, 1e-5);
});

const page = join(import.meta.dirname, "..", "..", "..", "dist", "web", "runtime", "ort.node.min.mjs");
const skip = existsSync(page) ? false : "the page is not built (npm run build)";

test("without onnxruntime-web, the runtime in the built page is used", { skip }, () => {
  const { depth, native } = smallDepth("--import", here("withoutOnnxRuntimeNode.mjs"), "--import", here("withoutOnnxRuntimeWeb.mjs"));
  assert.equal(native, false);
  assertClose(depth, smallDepth().depth, 1e-5);
});

function smallDepth(...options: string[]): { depth: number[]; native: boolean } {
  const printed = execFileSync(process.execPath, [...process.execArgv, ...options, here("smallDepth.ts")], { encoding: "utf8" });
  return JSON.parse(printed) as { depth: number[]; native: boolean };
}
