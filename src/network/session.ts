import type { InferenceSession, Tensor as RuntimeTensor, TensorConstructor } from "onnxruntime-common";
import type { DType, NumericArray } from "../engine/engine.ts";
import { EngineError } from "../engine/errors.ts";

/** Numbers that go into or come out of a graph, row-major. */
export interface Value {
  readonly data: NumericArray;
  readonly shape: readonly number[];
  /** Default: from the array's type; Uint8Array means u8, Uint16Array f16. */
  readonly dtype?: DType;
}

/** p [planes, H, W] of some of the encoded planes, in this order; valid until the session encodes others. */
export type Decode = (planes: readonly number[]) => Promise<Float32Array>;

/** Where a network runs. */
export type Device = "cpu" | "webgpu" | "wasm" | "cuda";

/** A graph loaded by a runtime, ready to run. */
export interface Session {
  readonly device: Device;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** One run at a time: await each before the next. */
  run(inputs: Readonly<Record<string, Value>>): Promise<Record<string, Value>>;
  /** If the session can keep features: encodes each plane of `images` [1, N, 3, H, W] once, for all windows over them. */
  readonly encode?: (images: Value) => Promise<Decode>;
  /** Frees the graph's memory; the session must not be used again. A second call does nothing. */
  dispose(): Promise<void>;
}

const RUNTIME_TYPE = {
  f32: "float32",
  f64: "float64",
  f16: "float16",
  i32: "int32",
  i64: "int64",
  u8: "uint8",
  bool: "bool",
} as const satisfies Partial<Record<DType, RuntimeTensor.Type>>;

type SessionDType = keyof typeof RUNTIME_TYPE;

/** A session of either runtime behind our interface; both have ONNX Runtime's JavaScript API. */
export function wrapSession(
  session: InferenceSession,
  { Tensor, device }: { readonly Tensor: TensorConstructor; readonly device: Device },
): Session {
  let disposed: Promise<void> | undefined;
  return {
    device,
    inputNames: session.inputNames,
    outputNames: session.outputNames,
    async run(inputs) {
      checkNames(Object.keys(inputs), session.inputNames);
      const feeds = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, toRuntime(Tensor, name, value)]));
      const results = await failingAs("run", () => session.run(feeds));
      const entries = Object.entries(results).map(async ([name, tensor]): Promise<[string, Value]> => {
        const data = (await tensor.getData(true)) as NumericArray;
        return [name, { data, shape: tensor.dims, dtype: fromRuntime(tensor.type, name) }];
      });
      return Object.fromEntries(await Promise.all(entries));
    },
    dispose: () => (disposed ??= session.release()),
  };
}

function toRuntime(Tensor: TensorConstructor, name: string, value: Value): RuntimeTensor {
  const dtype = dtypeOf(value);
  const count = value.shape.reduce((product, length) => product * length, 1);
  if (count !== value.data.length)
    throw new EngineError(`run: ${name} is [${value.shape.join(", ")}], which needs ${count} values, got ${value.data.length}`);
  if (!(dtype in RUNTIME_TYPE)) throw new EngineError(`run: ${name} is ${dtype}, which ONNX Runtime does not accept; cast it in the graph`);
  return new Tensor(RUNTIME_TYPE[dtype as SessionDType], value.data as Float32Array, value.shape);
}

function dtypeOf({ data, dtype }: Value): DType {
  if (dtype) return dtype;
  if (data instanceof Float32Array) return "f32";
  if (data instanceof Float64Array) return "f64";
  if (data instanceof Int32Array) return "i32";
  if (data instanceof BigInt64Array) return "i64";
  return data instanceof Uint16Array ? "f16" : "u8";
}

function fromRuntime(type: string, name: string): DType {
  const dtype = (Object.keys(RUNTIME_TYPE) as SessionDType[]).find((key) => RUNTIME_TYPE[key] === type);
  if (!dtype) throw new EngineError(`run: ${name} came back as ${type}, which is not supported; cast it in the graph`);
  return dtype;
}

function checkNames(given: readonly string[], expected: readonly string[]): void {
  const missing = expected.filter((name) => !given.includes(name)).map((name) => `${name} is missing`);
  const extra = given.filter((name) => !expected.includes(name)).map((name) => `${name} is not an input of the graph`);
  if (missing.length + extra.length > 0)
    throw new EngineError(`run: ${[...missing, ...extra].join(", ")}; the graph's inputs are ${expected.join(", ")}`);
}

/** Turns any error of the runtime into an EngineError that says what was being done. */
export async function failingAs<T>(what: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (cause) {
    throw new EngineError(`${what}: ONNX Runtime: ${reasonOf(cause)}`, { cause });
  }
}

/** What fails inside its WebAssembly may come out as the address of an exception. */
function reasonOf(cause: unknown): string {
  if (typeof cause === "number") return "it failed without saying why";
  return cause instanceof Error ? cause.message : String(cause);
}
