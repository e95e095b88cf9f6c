import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { Tensor } from "../../src/engine/engine.ts";
import type { OnnxEngine } from "../../src/engine/onnx/onnxEngine.ts";
import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import type { Value } from "../../src/network/session.ts";
import { createRandom } from "../../src/random.ts";

/** The fields of one protobuf message: numbers as they are, the rest as bytes. */
function fields(bytes: Uint8Array): Map<number, (number | Uint8Array)[]> {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, (number | Uint8Array)[]>();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const value = type === WireType.Varint ? Number(reader.int64()) : type === WireType.Bit32 ? reader.float() : reader.bytes();
    found.set(field, [...(found.get(field) ?? []), value]);
  }
  return found;
}

const text = (value: number | Uint8Array | undefined): string => new TextDecoder().decode(value as Uint8Array);

/** What a finished graph holds, read back from its bytes. */
export function inspect(model: Uint8Array) {
  const root = fields(model);
  const graph = fields(root.get(7)?.[0] as Uint8Array);
  const messages = (field: number): Map<number, (number | Uint8Array)[]>[] =>
    (graph.get(field) ?? []).map((bytes) => fields(bytes as Uint8Array));
  return {
    irVersion: root.get(1)?.[0],
    producer: text(root.get(2)?.[0]),
    operatorSet: fields(root.get(8)?.[0] as Uint8Array).get(2)?.[0],
    operators: messages(1).map((node) => text(node.get(4)?.[0])),
    nodeNames: messages(1).map((node) => text(node.get(3)?.[0])),
    initializers: messages(5).map((tensor) => text(tensor.get(8)?.[0])),
    inputs: messages(11).map((value) => text(value.get(1)?.[0])),
    dimensions: [...messages(11), ...messages(12)].map((value) => {
      const tensor = fields(fields(value.get(2)?.[0] as Uint8Array).get(1)?.[0] as Uint8Array);
      const dims = fields(tensor.get(2)?.[0] as Uint8Array).get(1) ?? [];
      return dims.map((dim) => {
        const entry = fields(dim as Uint8Array);
        return entry.has(1) ? entry.get(1)?.[0] : text(entry.get(2)?.[0]);
      });
    }),
  };
}

/** Runs a graph once in ONNX Runtime. */
export async function run(model: Uint8Array, inputs: Record<string, Value>): Promise<Record<string, Value>> {
  const session = await createOnnxSession(model, { threads: 1 });
  const results = await session.run(inputs);
  await session.dispose();
  return results;
}

export const values = (result: Value | undefined): number[] => Array.from(result?.data as Float32Array);

/** A normal constant of this shape. */
export function normal(engine: OnnxEngine, name: string, shape: readonly number[], mean = 0): Tensor {
  const random = createRandom(5).split(name);
  const length = shape.reduce((product, size) => product * size, 1);
  return engine.constant(
    Float32Array.from({ length }, () => mean + 0.2 * random.normal()),
    { shape, name },
  );
}

export const batchNormOf = (engine: OnnxEngine, channels: number) => ({
  weight: normal(engine, "norm.weight", [channels], 1),
  bias: normal(engine, "norm.bias", [channels]),
  runningMean: normal(engine, "norm.mean", [channels]),
  runningVariance: normal(engine, "norm.variance", [channels], 2),
  training: false,
  momentum: 0.1,
  epsilon: 1e-5,
});
