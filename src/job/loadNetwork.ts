import { createNodeSession } from "../infer/node.ts";
import { recordGraph } from "../model/graph.ts";
import { readingInput } from "./depthErrors.ts";
import type { DepthOptions } from "./depthOptions.ts";
import type { LoadedNetwork } from "./depthStack.ts";
import { UserError } from "./errors.ts";
import { loadModel } from "./loadModel.ts";

export async function loadNetwork({
  model: name,
  device,
  threads,
}: Pick<DepthOptions, "model" | "device" | "threads">): Promise<LoadedNetwork> {
  const start = performance.now();
  const remedy = "--model takes base, small, or a .safetensors file that dualfocus train or export wrote";
  const { config, weights } = await readingInput(name, remedy, () => loadModel(name));
  const chosen = device === "auto" ? "cpu" : device;
  const session = await createNodeSession(recordGraph({ config, weights }), { device: chosen, threads }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UserError(`--device ${device}: ${reason}`, { exitCode: 2, remedy: "use --device cpu", cause });
  });
  return { session, seconds: (performance.now() - start) / 1000 };
}
