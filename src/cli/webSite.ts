import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

import { UserError } from "../system/userError.ts";
import { makeFolder } from "../system/outputFolder.ts";
import { packageFolder } from "../system/packageFolder.ts";
import { compress, ENCODINGS, isCompressible } from "./webCompression.ts";

/** Every file of the page: its path below the page's address → where it lies on disk. Nothing else can be asked for. */
export type Site = ReadonlyMap<string, string>;

/** The built page, and beside it the weights and examples, which the package holds only once. */
export function openSite(root = packageFolder()): Site {
  const page = join(root, "dist", "web");
  if (!existsSync(join(page, "index.html")))
    throw new UserError(`${page}: the page has not been built`, { exitCode: 3, remedy: "run npm run build in the package's folder" });
  return new Map([
    ...filesBelow(join(root, "models"), "models", /\.safetensors$/),
    ...filesBelow(join(root, "examples"), "examples", /(^|\/)(plane_\d+\.png|stack\.json)$/),
    ...filesBelow(page, "", /./),
  ]);
}

function filesBelow(folder: string, prefix: string, wanted: RegExp): [string, string][] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry): [string, string] => {
      const file = join(entry.parentPath, entry.name);
      return [[...(prefix ? [prefix] : []), ...relative(folder, file).split(sep)].join("/"), file];
    })
    .filter(([path]) => wanted.test(path))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

const ENDINGS = { br: ".br", gzip: ".gz" } as const;

/**
 * Writes every file of the page into a folder that any web server can serve; `.br` and `.gz` beside the WebAssembly are for servers that send
 * compressed copies where there are some. The larger network stays out: the page does not need it.
 */
export async function copySite(site: Site, folder: string): Promise<number> {
  await makeFolder(folder);
  if (readdirSync(folder).length > 0) throw new UserError(`${folder} is not empty`, { exitCode: 2, remedy: "name a new folder" });
  const files = [...site].filter(([path]) => !/^models\/(?!small\.)/.test(path));
  for (const [path, file] of files) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(file, target);
    if (isCompressible(path) && path.endsWith(".wasm"))
      for (const encoding of ENCODINGS) writeFileSync(target + ENDINGS[encoding], await compress(readFileSync(file), encoding));
  }
  return files.length;
}
