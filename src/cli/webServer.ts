import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import { pipeline } from "node:stream/promises";

import { listen } from "../system/listen.ts";
import { acceptedEncoding, createCompressor, isCompressible, type Compressor } from "./webCompression.ts";
import type { Site } from "./webSite.ts";

export interface WebServer {
  readonly url: string;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".wasm": "application/wasm",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".svg": "image/svg+xml",
  ".ico": "image/x-icon",
};

/**
 * Scripts, styles and requests of this origin only. Images may also come from memory: that is where the user's photos are. The page
 * says the same about itself (web/index.html), for hosts that send no headers.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The worker that develops raw files: LibRaw's bindings compile functions from text, of its own and not of any file. */
const RAW_POLICY = "default-src 'none'; script-src 'self' 'unsafe-eval'; worker-src 'self'; connect-src 'self'";

/** Sent with every answer. The first three let the page use threads: without them a browser gives it no shared memory. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": CONTENT_POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/** Serves the files of the page, and nothing else, until closed. */
export async function startWebServer(site: Site, { host, port }: { host: string; port: number }): Promise<WebServer> {
  const compressor = createCompressor();
  const server = createServer((request, response) => {
    answer({ site, compressor }, request, response).catch(() => response.destroy()); // the reader went away, or the file did
  });
  await listen(server, { host, port });
  const shown = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shown}:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

interface Served {
  readonly site: Site;
  readonly compressor: Compressor;
}

async function answer({ site, compressor }: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const refuse = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(status, { ...SECURITY_HEADERS, ...headers, "Content-Type": "text/plain; charset=utf-8" }).end(`${text}\n`);
  };
  if (request.method !== "GET" && request.method !== "HEAD") {
    refuse(405, "this server only serves files", { Allow: "GET, HEAD" });
    return;
  }
  const path = pathOf(request.url ?? "/");
  const file = path === undefined ? undefined : site.get(path);
  if (path === undefined || file === undefined) {
    refuse(404, "no such file");
    return;
  }
  const { size, mtimeMs } = await stat(file);
  const encoding = isCompressible(path) ? acceptedEncoding(request.headers["accept-encoding"]) : undefined;
  const tag = `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}${encoding ? `-${encoding}` : ""}"`;
  const headers = {
    ...SECURITY_HEADERS,
    ...(path.startsWith("libraw/") ? { "Content-Security-Policy": RAW_POLICY } : {}),
    ...(isCompressible(path) ? { Vary: "Accept-Encoding" } : {}),
    ...(encoding ? { "Content-Encoding": encoding } : {}),
    "Content-Type": TYPES[extname(path)] ?? "application/octet-stream",
    "Cache-Control": path.startsWith("assets/") ? "max-age=31536000, immutable" : "no-cache", // assets have their hash in the name
    ETag: tag,
  };
  if (request.headers["if-none-match"] === tag) {
    response.writeHead(304, headers).end();
    return;
  }
  const copy = encoding ? await compressor(file, { encoding, tag }) : undefined;
  response.writeHead(200, { ...headers, "Content-Length": copy?.length ?? size });
  if (request.method === "HEAD") response.end();
  else if (copy) response.end(copy);
  else await pipeline(createReadStream(file), response);
}

/** The path below the page's address; undefined if it cannot be read. */
function pathOf(url: string): string | undefined {
  try {
    const path = decodeURIComponent(new URL(`http://localhost${url}`).pathname).slice(1);
    return path === "" ? "index.html" : path;
  } catch {
    return undefined;
  }
}
