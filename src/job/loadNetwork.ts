import { readingInput } from "./depthErrors.ts";
import type { DepthOptions } from "./depthOptions.ts";
import type { LoadedNetwork } from "./depthStack.ts";
import { loadModel } from "./loadModel.ts";
import { openSession } from "./openSession.ts";

export interface NetworkRequest extends Pick<DepthOptions, "model" | "device" | "threads"> {
  /** Many stacks are to come, see `openSession`. */
  readonly many?: boolean;
}

export async function loadNetwork({ model: name, ...request }: NetworkRequest): Promise<LoadedNetwork> {
  const start = performance.now();
  const remedy = "--model takes base, small, or a .safetensors file that dualfocus train or export wrote";
  const model = await readingInput(name, remedy, () => loadModel(name));
  const { session, reason } = await openSession({ model, ...request });
  return { session, reason, seconds: (performance.now() - start) / 1000 };
}
