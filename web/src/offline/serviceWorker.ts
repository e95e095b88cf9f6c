// Keeps the page for offline use, and adds the headers that threads need if the server does not send them.

/** Filled in by scripts/buildWeb.js: the files to keep, relative to the page, and a name that changes whenever one of them does. */
declare const __KEPT__: readonly string[];
declare const __VERSION__: string;

interface LifeEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface RequestEvent extends LifeEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface KeepEvent extends LifeEvent {
  /** Relative addresses of more files to keep. */
  readonly data: { readonly keep: readonly string[] };
}
interface Worker {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: LifeEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: RequestEvent) => void): void;
  addEventListener(type: "message", listener: (event: KeepEvent) => void): void;
}

const worker = globalThis as unknown as Worker;
const PREFIX = "dualfocus-page-";
const NAME = PREFIX + __VERSION__;

worker.addEventListener("install", (event) => {
  event.waitUntil(keep(__KEPT__).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(removeOthers().then(() => worker.clients.claim()));
});

worker.addEventListener("message", (event) => {
  event.waitUntil(keep(event.data.keep));
});

worker.addEventListener("fetch", (event) => {
  const { url, method } = event.request;
  if (method === "GET" && url.startsWith(worker.registration.scope)) event.respondWith(answer(event.request));
});

async function keep(paths: readonly string[]): Promise<void> {
  const cache = await caches.open(NAME);
  const missing: string[] = [];
  for (const path of paths) if (!(await cache.match(path))) missing.push(path);
  await cache.addAll(missing);
}

async function removeOthers(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== NAME).map((name) => caches.delete(name)));
}

/** From the network, so that a new version is used at once; offline, from the cache. */
async function answer(request: Request): Promise<Response> {
  try {
    return isolated(await fetch(request));
  } catch (cause) {
    const cache = await caches.open(NAME);
    const isPage = request.mode === "navigate";
    const kept = await cache.match(isPage ? "index.html" : request, { ignoreSearch: isPage });
    if (kept) return isolated(kept);
    throw cause;
  }
}

/**
 * With these headers a browser lets the page share memory between threads. `dualfocus web` sends them; static hosts often cannot. A
 * response that has them is passed on unchanged: only then does the browser reuse WebAssembly that it compiled earlier.
 */
function isolated(response: Response): Response {
  if (response.headers.has("Cross-Origin-Embedder-Policy") || response.type === "opaque" || response.redirected) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
