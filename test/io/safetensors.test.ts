import assert from "node:assert/strict";
import { test } from "node:test";
import { FormatError } from "../../src/io/formatError.ts";
import { checkWeights, decodeSafetensors, encodeSafetensors, readMetadata, readWeights, writeWeights } from "../../src/io/safetensors.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { assertSurvivesGarbage } from "./garbage.ts";

const encoder = new TextEncoder();

/** A file with this header text, whatever it says, and `length` bytes of data. */
function fileWith(header: string, length: number): Uint8Array {
  const text = encoder.encode(header);
  const bytes = new Uint8Array(8 + text.length + length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  return bytes;
}

const entry = (start: number, end: number): string => `{"dtype":"F32","shape":[${(end - start) / 4}],"data_offsets":[${start},${end}]}`;

function weightsOf(seed: number): Map<string, { shape: number[]; data: Float32Array }> {
  const random = createRandom(seed);
  const normal = (shape: number[]): { shape: number[]; data: Float32Array } => ({
    shape,
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random.normal()),
  });
  return new Map([
    ["conv.weight", normal([5, 3, 3, 3])],
    ["conv.bias", normal([5])],
    ["norm.running_var", { shape: [2], data: Float32Array.of(1e6, 1e-9) }],
  ]);
}

test("a file written by hand is read: two tensors, their order in the file free", () => {
  const header = `{"b":{"dtype":"F32","shape":[2],"data_offsets":[2,10]},"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},"__metadata__":{"by":"hand"}}`;
  const bytes = fileWith(header, 10);
  const view = new DataView(bytes.buffer, bytes.length - 10);
  view.setUint16(0, 0x3e00, true); // 1.5
  view.setFloat32(2, -2, true);
  view.setFloat32(6, 0.25, true);
  const weights = readWeights(bytes);
  assert.deepEqual([...(weights.get("a")?.data ?? [])], [1.5]);
  assert.deepEqual([...(weights.get("b")?.data ?? [])], [-2, 0.25]);
  assert.deepEqual(readMetadata(bytes), { by: "hand" });
});

test("every element type keeps its bytes through a file, and data starts aligned", () => {
  const types = { F32: 4, F16: 2, BF16: 2, F64: 8, I64: 8, I32: 4, U8: 1, I8: 1, BOOL: 1 } as const;
  const random = createRandom(1);
  const tensors = new Map(
    Object.entries(types).map(([dtype, width]) => {
      const bytes = Uint8Array.from({ length: 3 * width }, () => random.integer(256));
      return [dtype.toLowerCase(), { dtype: dtype as keyof typeof types, shape: [3, 1], bytes }];
    }),
  );
  const file = encodeSafetensors({ tensors, metadata: { note: "ünïcode" } });
  const read = decodeSafetensors(file);
  assert.deepEqual(read.metadata, { note: "ünïcode" });
  for (const [name, tensor] of tensors) {
    const found = read.tensors.get(name);
    assert.deepEqual({ ...found, bytes: [...(found?.bytes ?? [])] }, { ...tensor, bytes: [...tensor.bytes] }, name);
    assert.equal((found?.bytes.byteOffset ?? 1) % types[tensor.dtype], 0, name);
  }
});

test("f32 weights come back bit for bit, f16 within half a unit, int8 within half a step of their channel", () => {
  const weights = weightsOf(2);
  const metadata = { config: '{"kind":"small"}' };
  for (const storage of ["f32", "f16", "int8"] as const) {
    const file = writeWeights(weights, { storage, metadata });
    const read = readWeights(file);
    assert.deepEqual([...read.keys()].sort(), [...weights.keys()].sort(), storage);
    assert.deepEqual(readMetadata(file), metadata);
    for (const [name, { shape, data }] of weights) {
      const found = read.get(name);
      assert.deepEqual(found?.shape, shape);
      if (storage === "f32" || shape.length < 2) assert.deepEqual([...found.data], [...data], `${storage} ${name}`);
      else if (storage === "f16") assertClose(found.data, data, 2 ** -11);
      else
        for (let channel = 0; channel < 5; channel++) {
          const row = [...data.subarray(27 * channel, 27 * (channel + 1))];
          const step = Math.max(...row.map(Math.abs)) / 127;
          row.forEach((value, i) => {
            assert.ok(Math.abs((found.data[27 * channel + i] as number) - value) <= 0.5001 * step);
          });
        }
    }
  }
  assert.ok(writeWeights(weights, { storage: "int8" }).length < writeWeights(weights, { storage: "f32" }).length);
});

test("int8 keeps tensors of few values in f16", () => {
  const filled = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => Math.sin(i + 1));
  const weights = new Map(
    [1, 3, 296].map((rows) => [`w${rows}`, { shape: [rows, 10], data: filled(10 * rows) }]), // 1/300 and 1/100 of all values; the limit is 1/150
  );
  const { tensors } = decodeSafetensors(writeWeights(weights, { storage: "int8" }));
  const types = ["w1", "w3", "w296"].map((name) => tensors.get(name)?.dtype);
  assert.deepEqual(types, ["F16", "I8", "I8"]);
});

test("an int8 channel of zeros stays zero", () => {
  const zeros = new Map([["w", { shape: [2, 2], data: Float32Array.of(0, 0, 1, -1) }]]);
  assert.deepEqual([...(readWeights(writeWeights(zeros, { storage: "int8" })).get("w")?.data ?? [])], [0, 0, 1, -1]);
});

test("a damaged header is refused with the reason", () => {
  const cases: [Uint8Array, RegExp][] = [
    [new Uint8Array(5), /net\.st: not a \.safetensors file: it has only 5 bytes/],
    [fileWith("{}", 0).fill(0xff, 0, 8), /too large/],
    [fileWith(`{"a":${entry(0, 8)}}`, 8).subarray(0, 20), /truncated: the header/],
    [fileWith(`{"a":${entry(0, 8)}}`, 7), /truncated: a ends at 8, the data at 7/],
    [fileWith(`{"a":${entry(0, 8)}}`, 12), /4 bytes after the last tensor/],
    [fileWith(`{"a":${entry(0, 8)},"b":${entry(4, 12)}}`, 12), /b starts at 4, inside another tensor/],
    [fileWith(`{"a":${entry(0, 8)},"b":${entry(12, 16)}}`, 16), /b starts at 12, after a gap/],
    [fileWith(`{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,8]}}`, 8), /a has elements of type F4; known are/],
    [fileWith(`{"a":{"dtype":"toString","shape":[2],"data_offsets":[0,8]}}`, 8), /type toString/],
    [fileWith(`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8), /a \[3\] of F32 needs 12 bytes, its offsets hold 8/],
    [fileWith(`{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, 8), /wrong shape/],
    [fileWith(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, 8), /needs 8 bytes, its offsets hold -8/],
    [fileWith(`{"a":3}`, 0), /the entry of a/],
    [fileWith(`[1]`, 0), /not a JSON object/],
    [fileWith(`{"a"`, 0), /not JSON/],
    [fileWith(`{"__metadata__":{"a":1}}`, 0), /only strings/],
    [fileWith(`{"__metadata__":{"dualfocus.int8":"[\\"a\\"]"},"a":${entry(0, 8)}}`, 8), /a should be I8/],
    [fileWith(`{"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}}`, 8), /a is stored as I32/],
  ];
  for (const [bytes, message] of cases)
    assert.throws(
      () => readWeights(bytes, "net.st"),
      (error: unknown) => error instanceof FormatError && message.test(error.message) && error.message.startsWith("net.st"),
      String(message),
    );
});

test("garbage never crashes the reader", async () => {
  await assertSurvivesGarbage(readWeights, writeWeights(weightsOf(3), { storage: "int8" }));
});

test("weights of another network are refused, naming each tensor", () => {
  const found = weightsOf(4);
  const expected = new Map([
    ["conv.weight", [5, 3, 1, 1]],
    ["conv.bias", [5]],
    ["head.weight", [7, 5]],
  ]);
  const message =
    /small\.st: .*conv\.weight is \[5, 3, 3, 3\], not \[5, 3, 1, 1\]; head\.weight \[7, 5\] is missing; norm\.running_var is not a tensor/;
  assert.throws(() => {
    checkWeights(expected, found, "small.st");
  }, message);
  checkWeights(new Map([...found].map(([name, { shape }]) => [name, shape])), found);
});
