import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { symbol } from "../../src/engine/dims.ts";
import type { DType, NumericArray, Tensor } from "../../src/engine/engine.ts";
import { EngineError } from "../../src/engine/errors.ts";
import { createOnnxEngine } from "../../src/engine/onnx/onnxEngine.ts";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import type { Value } from "../../src/network/session.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose, directionalError } from "../helpers/close.ts";
import { basicOperations, type Apply, type Operation } from "./operations.ts";
import { netOperations } from "./operationsNet.ts";
import { openOperations } from "./operationsOpen.ts";

const torch = createTorchEngine({ threads: 1 });
const operations = [...basicOperations, ...netOperations];

const count = (shape: readonly number[]): number => shape.reduce((product, length) => product * length, 1);
const numbers = (data: NumericArray): number[] => Array.from(data as ArrayLike<number | bigint>, Number);

/** The same numbers for the same operation in every run, whatever operations stand before it. */
function drawInputs({ name, inputs, within }: Pick<Operation, "name" | "inputs" | "within">): Float64Array[] {
  const random = createRandom(11).split(name);
  const draw = (): number => (within ? within[0] + (within[1] - within[0]) * random.uniform() : random.normal());
  return inputs.map((shape) => Float64Array.from({ length: count(shape) }, () => Math.fround(draw())));
}

interface Result {
  readonly shape: readonly number[];
  readonly values: number[];
}

function runTorch(apply: Apply, inputs: readonly Value[], dtype: DType = "f32"): Result {
  return scope(() => {
    const result = apply(...inputs.map(({ data, shape }) => torch.constant(data, { shape, dtype })));
    return { shape: [...(result.shape as number[])], values: numbers(torch.read(result)) };
  });
}

async function runOnnx(model: Uint8Array, inputs: readonly Value[]): Promise<Result> {
  const session = await createOnnxSession(model, { threads: 1 });
  const { result } = await session.run(Object.fromEntries(inputs.map((value, i) => [`input${i}`, value])));
  await session.dispose();
  assert.ok(result);
  return { shape: result.shape, values: numbers(result.data) };
}

const asValues = ({ inputs }: Pick<Operation, "inputs">, data: readonly Float64Array[]): Value[] =>
  inputs.map((shape, i) => ({ shape, data: Float32Array.from(data[i] as Float64Array) }));

describe("torch and ONNX Runtime agree on", () => {
  for (const operation of operations.filter(({ onlyTorch }) => !onlyTorch))
    test(operation.name, async () => {
      const values = asValues(operation, drawInputs(operation));
      const engine = createOnnxEngine();
      const inputs = values.map(({ shape }, i) => engine.input(`input${i}`, shape));
      const result = operation.apply(...inputs);
      const found = await runOnnx(engine.finish({ outputs: { result } }), values);
      const expected = runTorch(operation.apply, values);
      assert.deepEqual(found.shape, expected.shape);
      assert.deepEqual(result.shape, expected.shape, "shape while recording");
      assertClose(found.values, expected.values, 1e-5);
    });
});

describe("torch and ONNX Runtime agree, recorded once and run at two sizes, on", () => {
  const sizes = [
    { B: 2, N: 2, H: 8, W: 12 },
    { B: 1, N: 5, H: 20, W: 4 },
  ];
  for (const { name, inputs, apply } of openOperations)
    test(name, async () => {
      const engine = createOnnxEngine();
      const recorded = inputs.map((shape, i) =>
        engine.input(
          `input${i}`,
          shape.map((size) => (typeof size === "number" ? size : symbol(size))),
          { multipleOf: shape.includes("H") ? { H: 4, W: 4 } : {} },
        ),
      );
      const model = engine.finish({ outputs: { result: apply(...recorded) } });
      for (const size of sizes) {
        const shapes = inputs.map((shape) => shape.map((length) => (typeof length === "number" ? length : size[length as "B"])));
        const values = asValues({ inputs: shapes }, drawInputs({ name, inputs: shapes }));
        const found = await runOnnx(model, values);
        const expected = runTorch(apply, values);
        assert.deepEqual(found.shape, expected.shape);
        assertClose(found.values, expected.values, 1e-5);
      }
    });
});

describe("the gradient in float64 is that of central differences:", () => {
  for (const operation of operations.filter(({ hasGradient }) => hasGradient))
    test(operation.name, () => {
      const data = drawInputs(operation);
      const random = createRandom(13).split(operation.name);
      const resultLength = runTorch(operation.apply, asDoubles(operation, data), "f64").values.length;
      const weights = Float64Array.from({ length: resultLength }, () => random.normal());
      for (const [i, at] of data.entries()) {
        const f = (x: Float64Array): number => {
          const { values } = runTorch(operation.apply, asDoubles(operation, data.with(i, x)), "f64");
          return values.reduce((sum, value, k) => sum + value * (weights[k] as number), 0);
        };
        const direction = at.map(() => random.normal());
        const error = directionalError(f, { at, direction, gradient: gradientOf(operation, data, { input: i, weights }) });
        assert.ok(error < 1e-6, `input ${i}: relative error ${error}`);
      }
    });
});

const asDoubles = ({ inputs }: Pick<Operation, "inputs">, data: readonly Float64Array[]): Value[] =>
  inputs.map((shape, i) => ({ shape, data: data[i] as Float64Array }));

/** ∂/∂input of Σ weights · result, by backward. */
function gradientOf(
  { inputs, apply }: Operation,
  data: readonly Float64Array[],
  { input, weights }: { readonly input: number; readonly weights: Float64Array },
): Float64Array {
  return scope(() => {
    const tensors = inputs.map((shape, i) => torch.constant(data[i] as Float64Array, { shape, dtype: "f64" }));
    const tracked = torch.requireGradient(tensors[input] as Tensor);
    const result = apply(...tensors);
    torch.backward(result.mul(torch.constant(weights, { shape: result.shape as number[], dtype: "f64" })).sum());
    const gradient = torch.gradient(tracked);
    assert.ok(gradient, `input ${input} got no gradient`);
    return torch.read(gradient) as Float64Array;
  });
}

test("every operation of the interface is in the table", () => {
  const engine = createOnnxEngine();
  const prototype = Object.getPrototypeOf(engine.full([1], 0)) as object;
  const methods = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(
    ([name, { value }]) => typeof value === "function" && !["constructor", "settle", "dispose"].includes(name),
  );
  const used = new Set<string>();
  for (const [name, descriptor] of methods) {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    Object.defineProperty(prototype, name, {
      ...descriptor,
      value(this: Tensor, ...args: unknown[]): unknown {
        used.add(name);
        return method.apply(this, args);
      },
    });
  }
  try {
    for (const { name, inputs, apply, onlyTorch } of operations) {
      const tensors = inputs.map((shape, i) => engine.input(`${name} ${i}`, shape));
      if (onlyTorch) assert.throws(() => apply(...tensors), EngineError, name);
      else apply(...tensors);
    }
  } finally {
    for (const [name, descriptor] of methods) Object.defineProperty(prototype, name, descriptor);
  }
  assert.ok(methods.length > 40);
  assert.deepEqual(
    methods.map(([name]) => name).filter((name) => !used.has(name)),
    [],
  );
});
