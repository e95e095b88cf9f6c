import { existsSync, readdirSync } from "node:fs";

import { DualFocusError, firstLine } from "../../errors.ts";
import { createGraphs, isRecordable } from "../graphs.ts";
import type { Session, Value } from "../session.ts";
import type { Model } from "../weightsFile.ts";
import { createOnnxSession } from "./onnxSession.ts";

export const DEVICES = ["auto", "cpu", "webgpu", "cuda"] as const;
export type DeviceName = (typeof DEVICES)[number];

export interface DeviceRequest {
  readonly model: Pick<Model, "config" | "weights">;
  readonly device: DeviceName;
  /** On the CPU; 0 for every core. */
  readonly threads: number;
  readonly many?: boolean;
  readonly fields?: boolean;
}

export interface OpenedDevice {
  readonly session: Session;
  /** Why this device. */
  readonly reason: string;
}

/** What the machine offers; tests replace it. */
export interface Machine {
  /** Why CUDA cannot be used, or undefined. */
  readonly withoutCuda: () => Promise<string | undefined>;
  /** Why there cannot be a WebGPU adapter, or undefined. */
  readonly withoutGpu: () => string | undefined;
  readonly open: (device: Exclude<DeviceName, "auto">, request: DeviceRequest) => Promise<Session>;
}

const thisMachine: Machine = {
  async withoutCuda() {
    if (!existsSync("/proc/driver/nvidia")) return "no NVIDIA driver"; // before libtorch is loaded for nothing
    try {
      const { createTorchEngine } = await import("../../engine/torch/torchEngine.ts");
      return createTorchEngine().native("cudaAvailable") ? undefined : "the addon is built without CUDA";
    } catch (error) {
      return error instanceof Error ? error.message.split(/[.:] /)[0] : String(error);
    }
  },
  withoutGpu() {
    if (process.platform !== "linux") return undefined;
    const nodes = existsSync("/dev/dri") ? readdirSync("/dev/dri") : [];
    return nodes.some((name) => name.startsWith("renderD")) ? undefined : "no graphics device for WebGPU";
  },
  async open(device, { model, threads, many = false, fields = false }) {
    if (device === "cuda") return (await import("./cudaSession.ts")).createCudaSession(model, { tuned: many });
    const load = (graph: Uint8Array): Promise<Session> => createOnnxSession(graph, { device, threads });
    return createGraphs(model, { device, load }, { fields });
  },
};

/**
 * Opens the network on the requested device. `auto`: CUDA if the addon supports it and there is a GPU, else WebGPU if ONNX Runtime finds an
 * adapter, both only if their results match the CPU's; else the CPU.
 */
export async function openDevice(request: DeviceRequest, machine: Machine = thisMachine): Promise<OpenedDevice> {
  const { device, model } = request;
  if (device !== "auto") return { session: await named(device, request, machine), reason: "as asked" };
  const noCuda = (await machine.withoutCuda()) ?? (await attempt(request, machine, "cuda"));
  if (typeof noCuda === "object") return noCuda;
  checkRecordable(model);
  const noGpu = machine.withoutGpu() ?? (await attempt(request, machine, "webgpu"));
  if (typeof noGpu === "object") return noGpu;
  return { session: await machine.open("cpu", request), reason: `${noCuda}; ${noGpu}` };
}

/** Whether the network can only run on the CPU if this device is asked for. */
export async function needsOnlyCpu(device: DeviceName, machine: Machine = thisMachine): Promise<boolean> {
  if (device !== "auto") return device === "cpu";
  return machine.withoutGpu() !== undefined && (await machine.withoutCuda()) !== undefined;
}

/** ONNX has no operator for a dense or confidence-weighted solve. */
function checkRecordable({ config }: DeviceRequest["model"]): void {
  if (!isRecordable(config))
    throw new DualFocusError("network-unsupported", "this network's surface needs a linear solve, which runs with CUDA only");
}

async function named(device: Exclude<DeviceName, "auto">, request: DeviceRequest, machine: Machine): Promise<Session> {
  if (device !== "cuda") checkRecordable(request.model);
  try {
    return await machine.open(device, request);
  } catch (cause) {
    throw new DualFocusError("device-unavailable", `the device ${device} cannot be used: ${firstLine(cause)}`, {
      facts: { device },
      cause,
    });
  }
}

/** The device if it works, else why not. */
async function attempt(request: DeviceRequest, machine: Machine, device: "cuda" | "webgpu"): Promise<OpenedDevice | string> {
  let session: Session | undefined;
  try {
    session = await machine.open(device, request);
    if (isRecordable(request.model.config)) await checkAgainstCpu(session, request, machine);
    return { session, reason: device === "cuda" ? "an NVIDIA GPU and the addon with CUDA are there" : "a graphics adapter is there" };
  } catch (error) {
    await session?.dispose().catch(() => undefined);
    const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return `${device} does not work here (${line})`;
  }
}

/** Largest difference of p between two correct devices; CUDA computes in f16. */
const TOLERANCE = { webgpu: 0.01, cuda: 0.05 } as const;

/** Drivers have bugs; a stack of 64×64 pixels shows them. */
async function checkAgainstCpu(session: Session, request: DeviceRequest, machine: Machine): Promise<void> {
  const [planes, side] = [3, 64];
  const pixels = Float32Array.from({ length: planes * 3 * side * side }, (_, i) => ((i * 7919) % 251) / 250);
  const stack = {
    images: { data: pixels, shape: [1, planes, 3, side, side] },
    focusDistances: { data: Float32Array.of(0, 1, 2), shape: [1, planes] },
  };
  const cpu = await machine.open("cpu", request);
  const [got, want] = await Promise.all([session.run(stack), cpu.run(stack)]).finally(() => cpu.dispose());
  const [ours, theirs] = [got, want].map(({ probability }) => (probability as Value).data as Float32Array) as [Float32Array, Float32Array];
  const agrees = theirs.every((p, i) => Math.abs(p - (ours[i] as number)) <= TOLERANCE[session.device === "cuda" ? "cuda" : "webgpu"]);
  if (!agrees) throw new Error("its results differ from the CPU's");
}
