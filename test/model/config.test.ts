import assert from "node:assert/strict";
import { test } from "node:test";

import { FormatError } from "../../src/io/formatError.ts";
import { configs, dfv, parseNetworkConfig, small } from "../../src/model/config.ts";

test("every configuration, and one without a surface, survives JSON", () => {
  const plain = Object.fromEntries(Object.entries(small).filter(([name]) => name !== "surface"));
  for (const config of [...Object.values(configs), plain]) assert.deepEqual(parseNetworkConfig(JSON.stringify(config), "file"), config);
});

test("a description with the names of earlier versions is read", () => {
  const { upChannels, upKernel, ...rest } = small;
  assert.deepEqual(parseNetworkConfig(JSON.stringify({ ...rest, handedOn: upChannels, handKernel: upKernel }), "file"), small);
});

test("a description that is none, or has a wrong or unknown part, is refused with its place", () => {
  const fails = (value: unknown, message: RegExp): void => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    assert.throws(
      () => parseNetworkConfig(text, "net.json"),
      (error) => error instanceof FormatError && error.message.startsWith("net.json: ") && message.test(error.message),
      String(message),
    );
  };
  fails("{", /not JSON/);
  fails([], /description is wrong/);
  fails({ kind: "resnet" }, /kind/);
  fails({ ...small, coarse: 0 }, /coarse/);
  fails({ ...small, coarse: "48" }, /coarse/);
  fails({ ...small, fusion: [1, 2] }, /fusion/);
  fails({ ...small, surface: { ...small.surface, grid: 1 } }, /surface/);
  fails({ ...small, surface: { ...small.surface, solver: "magic" } }, /surface/);
  fails({ ...small, extra: 1 }, /extra/);
  fails({ ...dfv, encoder: { ...dfv.encoder, pooling: "all" } }, /pooling/);
});
