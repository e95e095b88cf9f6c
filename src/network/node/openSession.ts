import { existsSync, readdirSync } from "node:fs";

import { createTorchEngine } from "../../engine/torch/torchEngine.ts";
import { createCudaSession } from "./cudaSession.ts";
import { createNodeSession } from "./onnxSession.ts";
import { createPlaneGraphs } from "./planeGraphs.ts";
import type { Session, Value } from "../session.ts";
import { recordGraph, type GraphSize } from "../../model/graph.ts";
import type { Model } from "../weightsFile.ts";
import { UserError } from "../../system/userError.ts";

export const DEVICES = ["auto", "cpu", "webgpu", "cuda"] as const;
export type DeviceName = (typeof DEVICES)[number];

export interface SessionRequest {
  readonly model: Pick<Model, "config" | "weights">;
  readonly device: DeviceName;
  /** On the CPU; 0 for every core. */
  readonly threads: number;
  /** Of the stacks, where the network depends on it (DFV). */
  readonly size?: GraphSize;
  /** Many stacks of one size are to come: on CUDA, find the fastest kernels first. */
  readonly many?: boolean;
}

export interface OpenedSession {
  readonly session: Session;
  /** Why this device. */
  readonly reason: string;
}

/** The ways to tell what the machine has; tests put their own here. */
export interface Machine {
  /** Why CUDA cannot be used, or undefined. */
  readonly withoutCuda: () => string | undefined;
  /** Why there is no need to ask for a WebGPU adapter, or undefined. */
  readonly withoutGpu: () => string | undefined;
  readonly open: (device: Exclude<DeviceName, "auto">, request: SessionRequest) => Promise<Session>;
}

const thisMachine: Machine = {
  withoutCuda() {
    if (!existsSync("/proc/driver/nvidia")) return "no NVIDIA driver"; // before libtorch is loaded for nothing
    try {
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
  async open(device, { model, threads, size = {}, many = false }) {
    if (device === "cuda") return createCudaSession(model, { tuned: many });
    if (device === "cpu") return createPlaneGraphs(model, { threads, size });
    return createNodeSession(recordGraph({ ...model, size }), { device });
  },
};

/**
 * The network on the device asked for. `auto`: CUDA where the addon has it and a GPU is there, else WebGPU where ONNX Runtime finds an
 * adapter, each if it computes what the CPU computes, else the CPU.
 */
export async function openSession(request: SessionRequest, machine: Machine = thisMachine): Promise<OpenedSession> {
  const { device } = request;
  if (device !== "auto") return { session: await named(device, request, machine), reason: `--device ${device}` };
  const noCuda = machine.withoutCuda() ?? (await attempt(request, machine, "cuda"));
  if (typeof noCuda === "object") return noCuda;
  const noGpu = machine.withoutGpu() ?? (await attempt(request, machine, "webgpu"));
  if (typeof noGpu === "object") return noGpu;
  return { session: await machine.open("cpu", request), reason: `${noCuda}; ${noGpu}` };
}

async function named(device: Exclude<DeviceName, "auto">, request: SessionRequest, machine: Machine): Promise<Session> {
  try {
    return await machine.open(device, request);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new UserError(`--device ${device}: ${message}`, { exitCode: 2, remedy: "use --device cpu", cause });
  }
}

/** The device if it works, else why not. */
async function attempt(request: SessionRequest, machine: Machine, device: "cuda" | "webgpu"): Promise<OpenedSession | string> {
  let session: Session | undefined;
  try {
    session = await machine.open(device, request);
    await checkAgainstCpu(session, request, machine);
    return { session, reason: device === "cuda" ? "an NVIDIA GPU and the addon with CUDA are there" : "a graphics adapter is there" };
  } catch (error) {
    await session?.dispose().catch(() => undefined);
    const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return `${device} does not work here (${line})`;
  }
}

/** Largest difference of p between two devices that compute the same, CUDA in f16. */
const TOLERANCE = { webgpu: 0.01, cuda: 0.05 } as const;

/** Drivers have bugs; a stack of 64×64 pixels tells. */
async function checkAgainstCpu(session: Session, request: SessionRequest, machine: Machine): Promise<void> {
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
