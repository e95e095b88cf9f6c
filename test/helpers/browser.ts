import { build } from "esbuild";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";

const root = join(import.meta.dirname, "..", "..");
const runtimeFolder = join(root, "node_modules", "onnxruntime-web", "dist");

export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
export const QUIET = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
export const GPU = {
  none: ["--disable-gpu"],
  software: ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"],
  graphics: ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
} as const;

/** A file for the page to fetch. */
export type Files = Readonly<Record<string, Uint8Array | string>>;

export interface PageOptions {
  /** TypeScript of the page, as if it lay in test/; its imports are bundled. Assign to `globalThis` what `body` is to call. */
  readonly script: string;
  readonly files?: Files;
  readonly gpu?: keyof typeof GPU;
}

/** Runs `body` with a real, headless Chromium at a page with this script. ONNX Runtime's files are under /runtime/. */
export async function withPage<T>({ script, files = {}, gpu = "none" }: PageOptions, body: (page: Page) => Promise<T>): Promise<T> {
  const bundle = await build({
    stdin: { contents: script, resolveDir: join(root, "test"), loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "error",
  });
  const page = { "/": `<!doctype html><meta charset="utf-8"><script type="module" src="/page.js"></script>` };
  const server = await serve({ ...files, ...page, "/page.js": bundle.outputFiles[0]?.contents ?? "" });
  const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: [...QUIET, ...GPU[gpu]] });
  try {
    const tab = await browser.newPage();
    const problems: string[] = [];
    tab.on("pageerror", (error) => problems.push(error.message));
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    if (problems.length > 0) throw new Error(`the page failed: ${problems.join("; ")}`);
    return await body(tab);
  } finally {
    await browser.close();
    server.close();
    server.closeAllConnections();
  }
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript",
  mjs: "text/javascript",
  wasm: "application/wasm",
  "/": "text/html",
};

/** Serves the files with the headers that let a page use threads. */
async function serve(files: Files): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    const runtimeFile = /^\/runtime\/([\w.-]+)$/.exec(pathname)?.[1];
    const find = runtimeFile === undefined ? Promise.resolve(files[pathname]) : readFile(join(runtimeFolder, runtimeFile));
    find.then(
      (content) => {
        response.writeHead(content === undefined ? 404 : 200, {
          "Content-Type": TYPES[pathname === "/" ? "/" : (pathname.split(".").at(-1) ?? "")] ?? "application/octet-stream",
          "Cross-Origin-Opener-Policy": "same-origin",
          "Cross-Origin-Embedder-Policy": "require-corp",
        });
        response.end(content);
      },
      () => {
        response.writeHead(404).end();
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
