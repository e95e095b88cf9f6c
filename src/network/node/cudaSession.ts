import { AXIS } from "../../engine/dims.ts";
import type { DType, NumericArray, Tensor } from "../../engine/engine.ts";
import { EngineError } from "../../engine/errors.ts";
import { scope } from "../../engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../../engine/torch/torchEngine.ts";
import { checkWeights } from "../../io/safetensors.ts";
import { DualFocus } from "../../model/dualFocus.ts";
import { mapScales } from "../../model/encoder.ts";
import { depthSpread, focusProbability } from "../../model/focusHead.ts";
import { augmentFocusVolume } from "../../model/focusVolume.ts";
import { createNetwork, type Network } from "../../model/network.ts";
import { stateShapes } from "../../model/state.ts";
import type { Model } from "../weightsFile.ts";
import { createParameters } from "../../nn/module.ts";
import type { Pyramid } from "../../nn/resnet.ts";
import type { Decode, Session, Value } from "../session.ts";

export interface CudaOptions {
  /** "cuda" or "cuda:N"; "cpu" runs the same arrangement there, for tests. */
  readonly device?: string;
  /** Of the convolutions; logits, p and depth are f32 either way. f16 has eight times the resolution of bf16 at the same speed. */
  readonly precision?: "f16" | "bf16" | "f32";
  /** Search for the fastest kernels for each new size: takes seconds, worth it for many stacks of one size. */
  readonly tuned?: boolean;
}

const INPUTS = ["images", "focusDistances"] as const;
const OUTPUTS = ["depth", "probability", "spread"] as const;

type Outputs = Readonly<Record<(typeof OUTPUTS)[number], TorchTensor>>;

/**
 * Shapes of inputs whose graphs are kept: stacks in two sizes, in batches of 1, 2, 4 and 8 (`batchSession`). The least recently used is freed first. Graphs share their memory, but
 * each has its inputs and outputs to itself.
 */
const MOST_PLANS = 8;

/**
 * The network on libtorch, optimised for inference (see `Fusion`): on CUDA one captured graph for each stack size. Inputs and outputs are
 * those of `recordGraph`; `images` may be bytes, which is a quarter of the data to transfer.
 */
export function createCudaSession(
  { config, weights }: Pick<Model, "config" | "weights">,
  { device = "cuda", precision = "f16", tuned = false }: CudaOptions = {},
): Session {
  checkWeights(stateShapes(config), weights);
  const engine = createTorchEngine({ device, inference: { precision, tuned } });
  engine.fastMath({ tf32: false, cudnnBenchmark: tuned });
  const tree = createParameters(engine, { weights });
  const network = createNetwork(tree.source, config);
  const plans = new Map<string, Plan>();
  const planFor = (images: Value, focusDistances: Value): Plan => {
    const key = `${images.shape.join("×")} ${dtypeOf(images)}`;
    const plan = plans.get(key) ?? createPlan(engine, network, { images, focusDistances });
    plans.delete(key);
    plans.set(key, plan);
    const [oldest] = plans;
    if (plans.size > MOST_PLANS && oldest) {
      oldest[1].dispose();
      plans.delete(oldest[0]);
    }
    return plan;
  };
  const { encode, release } = network instanceof DualFocus ? createPlaneEncoder(engine, network) : {};
  return {
    device: "cuda",
    inputNames: INPUTS,
    outputNames: OUTPUTS,
    run(inputs) {
      return Promise.resolve().then(() => {
        const { images, focusDistances } = checkInputs(inputs);
        return planFor(images, focusDistances).run(images, focusDistances);
      });
    },
    ...(encode ? { encode } : {}),
    dispose() {
      release?.();
      for (const plan of plans.values()) plan.dispose();
      for (const tensor of tree.state.values()) tensor.dispose();
      engine.fusion?.dispose();
      plans.clear();
      return Promise.resolve();
    },
  };
}

/** Planes encoded at a time. */
const MOST_AT_ONCE = 10;

const PLANE_OF_IMAGES = 1; // axis of [B, N, 3, H, W]

/** V of some planes, and their images if the decoder looks at them. */
interface Encoded {
  readonly volumes: Pyramid;
  readonly images: Tensor | undefined;
}

interface PlaneEncoder {
  /** Keeps V of all planes on the device until it is called again. */
  readonly encode: NonNullable<Session["encode"]>;
  readonly release: () => void;
}

function createPlaneEncoder(engine: TorchEngine, network: DualFocus): PlaneEncoder {
  let kept: Encoded | undefined;
  const release = (): void => {
    for (const tensor of kept ? [...Object.values<Tensor>({ ...kept.volumes }), ...(kept.images ? [kept.images] : [])] : [])
      tensor.dispose();
    kept = undefined;
  };
  const { seesImages } = network.decoder;
  const encoded = (images: Value): Encoded => {
    const [, N = 0, ...size] = images.shape;
    const parts = Math.ceil(N / MOST_AT_ONCE);
    const starts = Array.from({ length: parts + 1 }, (_, i) => Math.floor((i * N) / parts));
    const area = images.data.length / N;
    const pixels = starts.slice(1).map((end, i) => {
      const start = starts[i] as number;
      const data = images.data.subarray(start * area, end * area);
      return pixelsOf(engine.constant(data, { shape: [1, end - start, ...size], dtype: dtypeOf(images) }));
    });
    const volumes = pixels.map((some) => network.encoder.forward(some));
    const joined = (scale: keyof Pyramid): Tensor => engine.concat(volumes.map((each) => each[scale]), AXIS.plane); // prettier-ignore
    return {
      volumes: {
        quarter: joined("quarter"),
        eighth: joined("eighth"),
        sixteenth: joined("sixteenth"),
        thirtySecond: joined("thirtySecond"),
      },
      images: seesImages ? engine.compute("aten::cat", pixels, PLANE_OF_IMAGES) : undefined,
    };
  };
  const encode = (images: Value): Promise<Decode> => {
    release();
    kept = engine.noGradient(() => scope(() => encoded(images)));
    const current = kept;
    const [H, W] = images.shape.slice(3) as [number, number];
    return Promise.resolve((planes) =>
      Promise.resolve().then(() => {
        if (current !== kept) throw new EngineError("decode: other planes have been encoded since");
        return engine.noGradient(() =>
          scope(() => {
            const index = engine.constant(planes, { shape: [planes.length], dtype: "i64" });
            const choose = (tensor: Tensor, axis: number): Tensor => engine.compute("aten::index_select", tensor, axis, index);
            const chosen = {
              volumes: mapScales(current.volumes, (volume) => choose(volume, AXIS.plane)),
              images: current.images && choose(current.images, PLANE_OF_IMAGES),
            };
            return engine.read(decode(network, chosen, [H, W])) as Float32Array;
          }),
        );
      }),
    );
  };
  return { encode, release };
}

/** `DualFocus.forward` from V on. */
function decode(network: DualFocus, { volumes: focusVolumes, images }: Encoded, size: readonly [number, number]): TorchTensor {
  const volumes = mapScales(focusVolumes, augmentFocusVolume);
  const { features } = network.variational.forward(volumes.thirtySecond);
  return focusProbability(network.decoder.forward({ volumes, coarse: features, images }), size) as TorchTensor;
}

function checkInputs(inputs: Readonly<Record<string, Value>>): Record<(typeof INPUTS)[number], Value> {
  const { images, focusDistances, ...others } = inputs;
  const extra = Object.keys(others);
  if (!images || !focusDistances || extra.length > 0)
    throw new EngineError(`run: got ${Object.keys(inputs).join(", ")}; the network's inputs are ${INPUTS.join(", ")}`);
  const [B, N, channels, ...size] = images.shape;
  if (channels !== 3 || size.length !== 2) throw new EngineError(`run: images are [${images.shape.join(", ")}], not [B, N, 3, H, W]`);
  if (focusDistances.shape.join() !== `${B},${N}`)
    throw new EngineError(`run: focusDistances are [${focusDistances.shape.join(", ")}], not [${B}, ${N}] as the images are`);
  return { images, focusDistances };
}

const dtypeOf = ({ data }: Value): "u8" | "f32" => {
  if (data instanceof Uint8Array) return "u8";
  if (data instanceof Float32Array) return "f32";
  throw new EngineError(`run: images and focusDistances are bytes or 32-bit floats, got a ${data.constructor.name}`);
};

/** The network ready for stacks of one size. */
interface Plan {
  run(images: Value, focusDistances: Value): Record<string, Value>;
  dispose(): void;
}

function createPlan(engine: TorchEngine, network: Network, inputs: Record<(typeof INPUTS)[number], Value>): Plan {
  const [images, focusDistances] = INPUTS.map((name) => createTransfer(engine, inputs[name].shape, dtypeOf(inputs[name]))) as [
    Transfer,
    Transfer,
  ];
  const forward = (): Outputs =>
    engine.noGradient(() => predict(network, { images: images.tensor, focusDistances: focusDistances.tensor }));
  const fill = (pictures: Value, distances: Value): void => {
    images.fill(pictures.data);
    focusDistances.fill(distances.data);
  };
  const dispose = (): void => {
    images.dispose();
    focusDistances.dispose();
  };
  if (engine.device === "cpu")
    return {
      dispose,
      run(...values) {
        fill(...values);
        return scope(() => readAll(engine, forward()));
      },
    };
  fill(inputs.images, inputs.focusDistances); // the warm-up runs before the capture see real data
  const graph = engine.captureGraph(forward);
  const landing = OUTPUTS.map((name) => hostTensor(engine, graph.result[name].shape, "f32"));
  return {
    run(...values) {
      fill(...values);
      graph.replay();
      OUTPUTS.forEach((name, i) => {
        engine.compute("aten::copy_", landing[i], graph.result[name], true).dispose();
      });
      engine.synchronize();
      return readAll(engine, Object.fromEntries(OUTPUTS.map((name, i) => [name, landing[i]])) as unknown as Outputs);
    },
    dispose() {
      graph.dispose();
      for (const tensor of [...Object.values(graph.result), ...landing]) tensor.dispose();
      dispose();
    },
  };
}

const readAll = (engine: TorchEngine, outputs: Outputs): Record<string, Value> =>
  Object.fromEntries(
    OUTPUTS.map((name): [string, Value] => [name, { data: engine.read(outputs[name]), shape: outputs[name].shape, dtype: "f32" }]),
  );

/** Values in [0, 1]: bytes times a fraction are f32. */
const pixelsOf = (images: Tensor): Tensor => (images.dtype === "u8" ? images.mul(1 / 255) : images);

/** The outputs of `recordGraph`, computed directly. */
export function predict(
  network: Network,
  { images, focusDistances }: { readonly images: Tensor; readonly focusDistances: Tensor },
): Outputs {
  const { depth, focusProbability } = network.forward({ images: pixelsOf(images), focusDistances });
  const probability = focusProbability as TorchTensor;
  const together = probability.engine.fusion?.readOut(probability, focusDistances as TorchTensor);
  return together ?? ({ depth, probability, spread: depthSpread({ focusProbability, focusDistances }) } as Outputs);
}

/** A tensor on the device that is filled from the host, through pinned memory if there is any. */
interface Transfer {
  readonly tensor: TorchTensor;
  fill(values: NumericArray): void;
  dispose(): void;
}

/** Pinned memory, which the device reads and writes directly. */
const hostTensor = (engine: TorchEngine, shape: readonly number[], dtype: DType): TorchTensor =>
  engine.compute("aten::empty.memory_format", shape, dtype, null, "cpu", true);

function createTransfer(engine: TorchEngine, shape: readonly number[], dtype: DType): Transfer {
  const onHost = engine.device === "cpu";
  const tensor = engine.compute("aten::empty.memory_format", shape, dtype, null, engine.device);
  const staging = onHost ? tensor : hostTensor(engine, shape, dtype);
  return {
    tensor,
    fill(values) {
      engine.write(staging, values);
      if (!onHost) engine.compute("aten::copy_", tensor, staging, true).dispose();
    },
    dispose() {
      tensor.dispose();
      staging.dispose();
    },
  };
}
