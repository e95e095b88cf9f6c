import assert from "node:assert/strict";
import { test } from "node:test";

import { formatAlignment } from "../../../src/align/alignment.ts";
import { IDENTITY } from "../../../src/align/similarity.ts";
import type { ViewResult } from "../../../web/src/contract.ts";
import { turnedFigures, turnedResult } from "../../../web/src/state/turn.ts";

const frame = (gain: number) => ({ transform: IDENTITY, gain: [gain], ok: true });

/** Two pixels, three planes. */
const view = {
  name: "hand",
  result: {
    depth: { width: 2, height: 1, values: Float32Array.of(0.25, 2), valid: Uint8Array.of(1, 1), space: "index" },
    unit: "index",
    error: Float32Array.of(0.1, 0.2),
    beyond: Int8Array.of(0, 1),
    planeIndex: Uint16Array.of(0, 2),
    probability: { planes: 3, width: 2, height: 1, data: Float32Array.of(0.8, 0, 0.15, 0.1, 0.05, 0.9) },
  },
  planes: ["a", "b", "c"].map((file, value) => ({ file, value, unit: "index", source: "file order", thumbnail: `blob:${file}` })),
  focusDistances: [0, 1, 2],
  sharpness: { planes: 3, width: 2, height: 1, data: Float32Array.of(1, 2, 3, 4, 5, 6) },
  alignmentJson: formatAlignment({ width: 2, height: 1, reference: 0, frames: [frame(1), frame(2), frame(3)] }),
  summary: {
    distances: ["a", "b", "c"].map((file, value) => ({ file, value, unit: "index", source: "file order" })),
    range: [0.25, 2],
    order: {
      planes: [0, 1, 2],
      nearest: "a",
      certainty: "unknown",
      probability: 0.5,
      sorted: false,
      reversed: false,
      evidence: [],
      sentence: "s",
    },
    beyond: { nearer: 0, farther: 0.5 },
    aligned: { mode: "auto", reference: 0, leftOut: [{ plane: 2, reason: "dark" }] },
    findings: [{ code: "clipped", severity: "warning", message: "m", remedy: "r", plane: 0 }],
  },
  findings: [{ code: "clipped", severity: "warning", message: "m", remedy: "r", plane: 0 }],
  engine: { device: "wasm", threads: 1, reason: "" },
} as unknown as ViewResult;

test("a turned result is mirrored in every map and every list of planes", () => {
  const { result, planes, focusDistances, sharpness, summary, findings, alignmentJson } = turnedResult(view);
  assert.deepEqual([...result.depth.values], [1.75, 0]);
  assert.deepEqual([...(result.planeIndex ?? [])], [2, 0]);
  assert.deepEqual([...(result.beyond ?? [])], [0, -1]);
  assert.deepEqual([...(result.probability?.data ?? [])], [...Float32Array.of(0.05, 0.9, 0.15, 0.1, 0.8, 0)]);
  assert.deepEqual(
    planes.map(({ file, value, thumbnail }) => [file, value, thumbnail]),
    [
      ["c", 0, "blob:c"],
      ["b", 1, "blob:b"],
      ["a", 2, "blob:a"],
    ],
  );
  assert.deepEqual(focusDistances, [0, 1, 2]);
  assert.deepEqual([...sharpness.data], [5, 6, 3, 4, 1, 2]);
  assert.equal(findings[0]?.plane, 2);
  assert.equal(alignmentJson, view.alignmentJson, "which is in the order of the files");
  const { distances, range, beyond, aligned } = summary as unknown as Record<string, unknown>;
  assert.deepEqual(
    (distances as { file: string }[]).map(({ file }) => file),
    ["c", "b", "a"],
  );
  assert.deepEqual([range, beyond], [[0, 1.75], { nearer: 0.5, farther: 0 }]);
  assert.deepEqual((summary["order"] as { nearest: string; reversed: boolean }).nearest, "c");
  assert.match((summary["order"] as { sentence: string }).sentence, /c taken as nearest, because you turned/);
  assert.deepEqual(aligned, { mode: "auto", reference: 2, leftOut: [{ plane: 0, reason: "dark" }] });
});

test("turned twice, a result is what it was", () => {
  assert.deepEqual(turnedResult(turnedResult(view)), { ...view, unturned: undefined });
});

test("only a plane index can be turned: a distance in metres is known", () => {
  assert.throws(() => turnedResult({ ...view, result: { ...view.result, unit: "m" } }), /plane index/);
});

test("the figures follow their planes", () => {
  const figures = {
    planes: [0, 2],
    grid: 1,
    gradient: Float32Array.of(1, 2),
    surface: Float32Array.of(3, 4),
    surfaceGradient: Float32Array.of(5, 6),
  };
  const turned = turnedFigures(figures, 4);
  assert.deepEqual(
    [turned.planes, [...turned.gradient], [...turned.surface]],
    [
      [1, 3],
      [2, 1],
      [4, 3],
    ],
  );
});
