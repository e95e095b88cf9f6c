import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";

test("the script of a self-contained result holds what its views use, without the readers of stacks and their schemas", async () => {
  const { metafile } = await build({
    entryPoints: [join(import.meta.dirname, "../../../web/src/standalone/viewer.tsx")],
    ...{ bundle: true, write: false, metafile: true, outdir: "unused", format: "iife", minify: true },
    ...{
      jsx: "automatic",
      jsxImportSource: "preact",
      define: { __STANDALONE__: "true" },
      external: ["three", "three/*"],
      logLevel: "error",
    },
  });
  const [output] = Object.values(metafile.outputs);
  const used = Object.entries(output?.inputs ?? {}).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
  assert.ok(used.some((file) => file.endsWith("web/src/standalone/viewer.tsx")));
  assert.deepEqual(used.filter((file) => /node_modules\/zod\/|src\/stack\/(stackFormat|distanceList)/.test(file)), []); // prettier-ignore
});
