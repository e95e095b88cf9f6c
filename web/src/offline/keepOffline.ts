import { PATHS } from "../contract.ts";
import type { EngineInfo } from "../contract.ts";

/**
 * Has the browser keep the page for visits without a network. Browsers offer that on https and on localhost only; elsewhere, and where
 * the user forbade it, the page works as long as its host answers.
 */
export async function keepOffline({ device }: Pick<EngineInfo, "device">): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  try {
    await navigator.serviceWorker.register(new URL("serviceWorker.js", document.baseURI));
    const { active } = await navigator.serviceWorker.ready;
    const stem = `${PATHS.runtime}ort-wasm-simd-threaded.asyncify`;
    if (device === "webgpu") active?.postMessage({ keep: [`${stem}.mjs`, `${stem}.wasm`] });
  } catch {
    // Private windows and full disks refuse: nothing is lost but the offline copy.
  }
}
