// Removes from node_modules what ONNX Runtime brings and this machine cannot use: binaries for other systems, and builds of its browser runtime
// that nothing here loads. Two thirds of an installation. `npm ci` brings everything back. KEEP_RUNTIMES=1 keeps it.
import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Of onnxruntime-web: WebGL, JSEP, JSPI and everything at once; builds that are not minified; source maps. */
const UNUSED = [/\.map$/, /\.(jsep|jspi)\./, /^ort\.(all|webgl)\./, /^ort(\.wasm|\.webgpu)?\.m?js$/];

/** @param {string} modules the folder node_modules @param {{ platform: string, arch: string }} machine as Node names them */
export function pruneRuntimes(modules, { platform, arch }) {
  if (!existsSync(modules) || lstatSync(modules).isSymbolicLink()) return; // someone else's
  const remove = (path) => rmSync(path, { recursive: true, force: true });
  const binaries = join(modules, "onnxruntime-node", "bin");
  for (const api of namesIn(binaries))
    for (const system of namesIn(join(binaries, api)))
      for (const processor of namesIn(join(binaries, api, system)))
        if (system !== platform || processor !== arch) remove(join(binaries, api, system, processor));
  const web = join(modules, "onnxruntime-web", "dist");
  for (const name of namesIn(web)) if (UNUSED.some((pattern) => pattern.test(name))) remove(join(web, name));
}

const namesIn = (folder) => (existsSync(folder) ? readdirSync(folder) : []);
