import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeNpy, encodeNpy } from "../../src/io/npy.ts";
import { assertSurvivesGarbage } from "./garbage.ts";

/** A version 1 file with any header and payload. */
function npy(descriptor: string, shape: string, payload: Uint8Array, fortran = "False"): Uint8Array {
  const header = `{'descr': '${descriptor}', 'fortran_order': ${fortran}, 'shape': ${shape}, }\n`;
  const bytes = new Uint8Array(10 + header.length + payload.length);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  bytes.set(new TextEncoder().encode(header), 10);
  bytes.set(payload, 10 + header.length);
  return bytes;
}

test("what encodeNpy writes, decodeNpy reads back exactly", () => {
  const data = Float32Array.of(0.5, -1.25, NaN, Infinity, 1e-30, 3);
  assert.deepEqual(decodeNpy(encodeNpy({ shape: [2, 3], data })), { shape: [2, 3], data });
  assert.deepEqual(decodeNpy(encodeNpy({ shape: [6], data })).shape, [6]);
  assert.deepEqual(decodeNpy(encodeNpy({ shape: [], data: Float32Array.of(4) })), { shape: [], data: Float32Array.of(4) });
});

test("the data of a written file starts at a multiple of 64 bytes, as NumPy writes it", () => {
  for (const shape of [[1], [100000], [2, 3, 4, 5, 6, 7, 8, 9]]) {
    const count = shape.reduce((a, b) => a * b);
    assert.equal((encodeNpy({ shape, data: new Float32Array(count) }).length - 4 * count) % 64, 0);
  }
});

test("every element type reads as its own values, in either byte order", () => {
  assert.deepEqual(
    decodeNpy(npy("<f2", "(4,)", Uint8Array.of(0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b))).data,
    Float32Array.of(1, -2, 2 ** -24, 65504),
  );
  assert.deepEqual(decodeNpy(npy(">f4", "(1,)", Uint8Array.of(0x3f, 0xc0, 0, 0))).data, Float32Array.of(1.5));
  assert.deepEqual(decodeNpy(npy("<f8", "(1,)", new Uint8Array(Float64Array.of(0.1).buffer))).data, Float64Array.of(0.1));
  assert.deepEqual(decodeNpy(npy("|u1", "(1, 3)", Uint8Array.of(0, 128, 255))), { shape: [1, 3], data: Uint8Array.of(0, 128, 255) });
  assert.deepEqual(decodeNpy(npy("<u2", "(2,)", Uint8Array.of(0xe8, 0x03, 0xff, 0xff))).data, Uint16Array.of(1000, 65535));
  assert.deepEqual(decodeNpy(npy("<i4", "(1,)", Uint8Array.of(0xfe, 0xff, 0xff, 0xff))).data, Int32Array.of(-2));
});

test("what cannot be read is refused by name", () => {
  assert.throws(() => decodeNpy(npy("<f4", "(2,)", new Uint8Array(4)), "depth.npy"), /depth\.npy: truncated.*8 bytes, got 4/);
  assert.throws(() => decodeNpy(npy("<c8", "(1,)", new Uint8Array(8)), "depth.npy"), /depth\.npy.*<c8 are not supported/);
  assert.throws(() => decodeNpy(npy("<f4", "(1,)", new Uint8Array(4), "True")), /Fortran/);
  assert.throws(() => encodeNpy({ shape: [2, 2], data: new Float32Array(3) }), /\[2, 2\] needs 4 values, got 3/);
});

test("garbage is refused, never a crash", async () => {
  await assertSurvivesGarbage(decodeNpy, encodeNpy({ shape: [4, 5], data: new Float32Array(20) }));
});
