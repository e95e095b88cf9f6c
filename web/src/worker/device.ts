import type { EngineInfo } from "../contract.ts";
import type { EngineWish } from "./protocol.ts";

/** What this browser offers. */
export interface Offer {
  /** "software" is WebGPU computed by the processor, slower than WASM. */
  readonly adapter: "none" | "software" | "hardware";
  /** Threads need a page that is cut off from others. */
  readonly isolated: boolean;
  readonly cores: number;
}

/** More threads than this gain nothing at the size of these pictures. */
const MOST_THREADS = 8;

/** WebGPU where there is a graphics card, else WASM with threads, else WASM with one; a wish comes first. */
export function chooseDevice({ adapter, isolated, cores }: Offer, wish: EngineWish = {}): EngineInfo {
  if (wish.device === "webgpu" && adapter !== "none")
    return { device: "webgpu", threads: 1, reason: "WebGPU, as the address of this page asks for." };
  if (wish.device !== "wasm" && adapter === "hardware")
    return { device: "webgpu", threads: 1, reason: "WebGPU: this browser can use the graphics card." };
  const why =
    wish.device === "wasm"
      ? "as the address of this page asks for"
      : adapter === "software"
        ? "the browser’s WebGPU has no graphics card behind it"
        : "this browser has no WebGPU";
  const threads = isolated ? Math.max(1, Math.min(wish.threads ?? cores, MOST_THREADS)) : 1;
  if (threads > 1) return { device: "wasm", threads, reason: `Processor, ${threads} threads: ${why}.` };
  const single = isolated ? why : `${why}, and this server does not send the headers that allow threads`;
  return { device: "wasm", threads: 1, reason: `Processor, one thread: ${single}.` };
}

interface Gpu {
  requestAdapter(): Promise<{ readonly info?: { readonly isFallbackAdapter?: boolean; readonly architecture?: string } } | null>;
}

/** Asks the browser. */
export async function lookAround(): Promise<Offer> {
  const { gpu, hardwareConcurrency } = navigator as unknown as { readonly gpu?: Gpu; readonly hardwareConcurrency?: number };
  const found = await gpu?.requestAdapter().catch(() => null);
  const { isFallbackAdapter = false, architecture = "" } = found?.info ?? {};
  const software = isFallbackAdapter || architecture === "swiftshader";
  return { adapter: found ? (software ? "software" : "hardware") : "none", isolated: crossOriginIsolated, cores: hardwareConcurrency ?? 1 };
}
