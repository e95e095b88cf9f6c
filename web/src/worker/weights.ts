/** Called with the bytes received and the total. */
type OnBytes = (done: number, of: number) => void;

const KEPT = "dualfocus-weights";

/** Weights that have been found, not read yet. */
export interface FoundWeights {
  /** Whether the browser has them from an earlier visit. */
  readonly wereKept: boolean;
  readonly read: (onBytes: OnBytes) => Promise<Uint8Array>;
}

/** The weights, in the browser's cache if they were loaded before. `version` distinguishes new weights from old ones. */
export async function findWeights(url: string, { version }: { readonly version: string }): Promise<FoundWeights> {
  const address = new URL(url);
  address.searchParams.set("v", version);
  const store = "caches" in globalThis ? await caches.open(KEPT) : undefined; // only on https and localhost
  const kept = await store?.match(address);
  if (kept) return { wereKept: true, read: (onBytes) => readAll(kept, onBytes) };
  const read = async (onBytes: OnBytes): Promise<Uint8Array> => {
    const bytes = await download(address.href, { onBytes });
    await store?.keys().then((old) => Promise.all(old.map((request) => store.delete(request))));
    await store?.put(address, new Response(bytes)).catch(() => undefined); // no space: they are loaded again next time
    return bytes;
  };
  return { wereKept: false, read };
}

/** Downloads a whole file. `total`: its bytes, for servers that send it compressed. */
export async function download(
  url: string,
  { onBytes, total }: { onBytes: OnBytes; total?: number | undefined },
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new Error(`${url} cannot be loaded; is the server still running?`, { cause });
  });
  if (!response.ok) throw new Error(`${url} cannot be loaded: the server answers ${response.status}`);
  return readAll(response, onBytes, total);
}

async function readAll(
  response: Response,
  onBytes: OnBytes,
  total = Number(response.headers.get("Content-Length") ?? 0),
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let done = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    parts.push(next.value);
    done += next.value.length;
    onBytes(done, Math.max(total, done));
  }
  const bytes = new Uint8Array(done);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
