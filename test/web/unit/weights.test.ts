import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { findWeights } from "../../../web/src/worker/weights.ts";

/** A browser with a store and a server that counts; `status` is what the server answers. */
function fakeBrowser(t: TestContext, { status = 200 } = {}): { fetched: string[]; kept: Map<string, Response> } {
  const fetched: string[] = [];
  const kept = new Map<string, Response>();
  const store = {
    match: (key: URL) => Promise.resolve(kept.get(key.href)?.clone()),
    put: (key: URL, response: Response) => Promise.resolve(void kept.set(key.href, response)),
    keys: () => Promise.resolve([...kept.keys()].map((url) => ({ url }))),
    delete: ({ url }: { url: string }) => Promise.resolve(kept.delete(url)),
  };
  t.mock.method(globalThis, "fetch", (url: string) => {
    fetched.push(url);
    return Promise.resolve(new Response(Uint8Array.of(1, 2, 3), { status, headers: { "Content-Length": "3" } }));
  });
  Object.defineProperty(globalThis, "caches", { value: { open: () => Promise.resolve(store) }, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, "caches"));
  return { fetched, kept };
}

const url = "http://localhost/models/small.safetensors";

test("weights come over the network once, and say how far they are", async (t) => {
  const { fetched } = fakeBrowser(t);
  const told: [number, number][] = [];
  const first = await findWeights(url, { version: "a" });
  assert.deepEqual([first.wereKept, fetched], [false, []]); // not before they are read
  assert.deepEqual([...(await first.read((done, of) => told.push([done, of])))], [1, 2, 3]);
  assert.deepEqual(told.at(-1), [3, 3]);
  const second = await findWeights(url, { version: "a" });
  assert.deepEqual([second.wereKept, [...(await second.read(() => undefined))]], [true, [1, 2, 3]]);
  assert.deepEqual(fetched, [`${url}?v=a`]);
});

test("new weights take the place of old ones", async (t) => {
  const { fetched, kept } = fakeBrowser(t);
  for (const version of ["a", "b"]) await (await findWeights(url, { version })).read(() => undefined);
  assert.equal(fetched.length, 2);
  assert.deepEqual([...kept.keys()], [`${url}?v=b`]);
});

test("a server that has no weights is named, and nothing is kept", async (t) => {
  const { kept } = fakeBrowser(t, { status: 404 });
  const { read } = await findWeights(url, { version: "a" });
  await assert.rejects(
    read(() => undefined),
    /small\.safetensors\?v=a cannot be loaded: .* 404/,
  );
  assert.equal(kept.size, 0);
});
