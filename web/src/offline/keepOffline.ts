import { PATHS } from "../contract.ts";
import type { EngineInfo } from "../contract.ts";

/**
 * Makes the browser keep the page for offline use. Browsers allow that only on https and localhost; elsewhere, or if the user forbids it,
 * the page works while its server is reachable.
 */
export async function keepOffline({ device }: Pick<EngineInfo, "device">): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  try {
    await navigator.serviceWorker.register(new URL("serviceWorker.js", document.baseURI));
    const { active } = await navigator.serviceWorker.ready;
    const stem = `${PATHS.runtime}ort-wasm-simd-threaded.asyncify`;
    if (device === "webgpu") active?.postMessage({ keep: [`${stem}.mjs`, `${stem}.wasm`] });
  } catch {
    // Not possible in private windows or on a full disk; only the offline copy is missing.
  }
}
