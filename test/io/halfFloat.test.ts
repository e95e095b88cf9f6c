import assert from "node:assert/strict";
import { test } from "node:test";
import { bfloatToFloat, floatToBfloat, floatToHalf, halfToFloat } from "../../src/io/halfFloat.ts";
import { createRandom } from "../../src/random.ts";

test("all 65536 half floats survive the way to f32 and back", () => {
  const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
  const values = halfToFloat(bits);
  const back = floatToHalf(values);
  for (let i = 0; i < 65536; i++) {
    if (Number.isNaN(values[i])) assert.ok(((back[i] as number) & 0x7fff) > 0x7c00, `NaN ${i}`);
    else assert.equal(back[i], i);
  }
  const bfloats = bfloatToFloat(bits);
  const returned = floatToBfloat(bfloats);
  for (let i = 0; i < 65536; i++) if (!Number.isNaN(bfloats[i])) assert.equal(returned[i], i);
});

test("half floats have the values IEEE 754 gives them", () => {
  const known: [number, number][] = [
    [0x3c00, 1],
    [0xc000, -2],
    [0x7bff, 65504],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x7c00, Infinity],
    [0x3555, 1365 / 4096],
  ];
  for (const [bits, value] of known) assert.equal(halfToFloat(Uint16Array.of(bits))[0], value);
});

test("narrowing to half rounds to the nearest, ties to even", () => {
  const values = halfToFloat(Uint16Array.from({ length: 0x7c00 }, (_, i) => i)); // every finite one, ascending
  const random = createRandom(5);
  for (let round = 0; round < 20000; round++) {
    const i = random.integer(0x7bff);
    const [low, high] = [values[i] as number, values[i + 1] as number];
    const middle = (low + high) / 2; // exact in f32
    assert.equal(floatToHalf([middle])[0], i % 2 === 0 ? i : i + 1, `tie at ${middle}`);
    const at = Math.fround(low + random.uniform() * (high - low));
    if (at !== middle) assert.equal(floatToHalf([at])[0], at < middle ? i : i + 1, `${at}`);
  }
  assert.deepEqual([...floatToHalf([65519, 65520, -1e9, 2 ** -25, 2 ** -25 * 1.01])], [0x7bff, 0x7c00, 0xfc00, 0, 1]);
});
