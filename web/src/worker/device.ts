import type { EngineInfo } from "../contract.ts";
import type { EngineWish } from "./protocol.ts";

/** What this browser supports. */
export interface Offer {
  /** "none": the browser has no WebGPU; "refused": it has, but offers no adapter; "software": emulated on the processor, slower than WASM. */
  readonly adapter: "none" | "refused" | "software" | "hardware";
  /** Threads need a cross-origin isolated page. */
  readonly isolated: boolean;
  readonly cores: number;
}

/** More threads are not faster at this image size. */
const MOST_THREADS = 8;

/** WebGPU if there is a graphics card, else WASM with threads, else WASM with one thread; a request takes precedence. */
export function chooseDevice({ adapter, isolated, cores }: Offer, wish: EngineWish = {}): EngineInfo {
  if (wish.device === "webgpu" && (adapter === "software" || adapter === "hardware"))
    return { device: "webgpu", threads: 1, reason: "WebGPU, as requested in the address of this page." };
  if (wish.device !== "wasm" && adapter === "hardware")
    return { device: "webgpu", threads: 1, reason: "WebGPU: this browser can use the graphics card." };
  const why =
    wish.device === "wasm"
      ? "as requested in the address of this page"
      : adapter === "software"
        ? "this browser’s WebGPU has no graphics card to use"
        : adapter === "refused"
          ? "this browser’s WebGPU cannot use the graphics card (blocked, or no driver for it)"
          : "this browser has no WebGPU";
  const threads = isolated ? Math.max(1, Math.min(wish.threads ?? cores, MOST_THREADS)) : 1;
  if (threads > 1) return { device: "wasm", threads, reason: `Processor, ${threads} threads: ${why}.` };
  const single = isolated ? why : `${why}, and this server does not send the headers that allow threads`;
  return { device: "wasm", threads: 1, reason: `Processor, one thread: ${single}.` };
}

interface Gpu {
  requestAdapter(): Promise<{ readonly info?: { readonly isFallbackAdapter?: boolean; readonly architecture?: string } } | null>;
}

/** Queries the browser. */
export async function lookAround(): Promise<Offer> {
  const { gpu, hardwareConcurrency } = navigator as unknown as { readonly gpu?: Gpu; readonly hardwareConcurrency?: number };
  const found = await gpu?.requestAdapter().catch(() => null);
  const { isFallbackAdapter = false, architecture = "" } = found?.info ?? {};
  const software = isFallbackAdapter || architecture === "swiftshader";
  const without = gpu ? "refused" : "none";
  return {
    adapter: found ? (software ? "software" : "hardware") : without,
    isolated: crossOriginIsolated,
    cores: hardwareConcurrency ?? 1,
  };
}
