import assert from "node:assert/strict";
import { test } from "node:test";
import { decodePfm } from "../../src/io/pfm.ts";
import { encodePfm } from "../data/files.ts";
import { assertSurvivesGarbage } from "./garbage.ts";

test("the first row in the file is the bottom row", () => {
  const head = new TextEncoder().encode("Pf\n1 2\n-1.0\n");
  const bytes = new Uint8Array([...head, ...new Uint8Array(Float32Array.of(7, 8).buffer)]);
  assert.deepEqual(decodePfm(bytes), { width: 1, height: 2, channels: 1, data: Float32Array.of(8, 7) });
});

test("a positive scale means big-endian", () => {
  const bytes = new Uint8Array([...new TextEncoder().encode("Pf\n1 1\n1\n"), 0x3f, 0xc0, 0, 0]);
  assert.deepEqual(decodePfm(bytes).data, Float32Array.of(1.5));
});

test("what encodePfm writes, decodePfm reads back exactly", () => {
  const data = Float32Array.from({ length: 18 }, (_, i) => (i === 4 ? Infinity : i / 7));
  assert.deepEqual(decodePfm(encodePfm({ width: 3, height: 2, channels: 3, data })), { width: 3, height: 2, channels: 3, data });
});

test("garbage is refused, never a crash", async () => {
  await assertSurvivesGarbage(decodePfm, encodePfm({ width: 4, height: 3, channels: 1, data: new Float32Array(12) }));
  assert.throws(() => decodePfm(new TextEncoder().encode("Pf\n9 9\n-1\n"), "disp.pfm"), /disp\.pfm: 9×9×1 needs 324 bytes of data, got 0/);
});
