import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, test } from "node:test";

import { SECURITY_HEADERS } from "../../src/cli/webServer.ts";
import { copySite, openSite } from "../../src/cli/webSite.ts";
import { TEST_IDS } from "../../web/src/contract.ts";
import { drop, find, finished, openStand, ready, smallStack } from "../helpers/webPage.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-host-"));
await copySite(openSite(), join(folder, "some", "path"));

/** A host that knows nothing of us: files by their names, no headers but the type. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
};
const host = createServer((request, response) => {
  try {
    const path = new URL(request.url ?? "/", "http://host").pathname.replace(/\/$/, "/index.html");
    response.setHeader("Content-Type", TYPES[extname(path)] ?? (path.endsWith(".wasm") ? "application/wasm" : "application/octet-stream"));
    response.end(readFileSync(join(folder, path)));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise<void>((resolve) => host.listen(0, "localhost", resolve));
const plain = `http://localhost:${(host.address() as AddressInfo).port}/some/path/`;
const stand = await openStand();
after(async () => {
  await stand.close();
  host.closeAllConnections();
  host.close();
  rmSync(folder, { recursive: true });
});

test(
  "hosted as plain files under any path it works with one thread, says why, and names its policy itself",
  { timeout: 300_000 },
  async (t) => {
    const { page, problems, close } = await stand.visit({ url: plain, query: "", serviceWorkers: "allow" });
    t.after(close);
    const first = await ready(page);
    assert.equal(first.threads, "1");
    assert.match(first.reason, /headers that allow threads/);
    const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
    assert.equal(`${policy}; frame-ancestors 'none'`, SECURITY_HEADERS["Content-Security-Policy"]); // the last counts in headers only
    await drop(page, smallStack());
    await find(page, TEST_IDS.run).click();
    await finished(page);
    assert.deepEqual(problems, []);

    await t.test("after that visit it opens without a network, with the headers its service worker brings", async () => {
      await page.waitForFunction(() => navigator.serviceWorker.controller !== null, undefined);
      await page.context().setOffline(true);
      host.closeAllConnections();
      await page.reload();
      assert.equal((await ready(page)).device, "wasm");
      assert.equal(await page.evaluate(() => crossOriginIsolated), true);
      const startOver = find(page, TEST_IDS.startOver); // the last result is shown, where it was stored before the reload
      await startOver.or(find(page, TEST_IDS.dropZone)).first().waitFor();
      if (await startOver.isVisible()) await startOver.click();
      await find(page, `${TEST_IDS.example}macro`).click();
      await finished(page);
    });
  },
);

test("a second start takes the weights from the browser's own store", { timeout: 300_000 }, async (t) => {
  const { page, requests, close } = await stand.visit({ serviceWorkers: "allow" });
  t.after(close);
  await ready(page);
  assert.ok(requests.some((url) => url.includes("models/")));
  requests.length = 0;
  const begin = performance.now();
  await page.reload();
  await ready(page);
  t.diagnostic(`ready after ${((performance.now() - begin) / 1000).toFixed(2)} s`); // bench/web.ts measures it on a quiet machine
  assert.deepEqual(
    requests.filter((url) => url.includes("models/")),
    [],
  );
});

test("the runtime is started while the weights are on their way", { timeout: 300_000 }, async (t) => {
  const { page, close } = await stand.visit();
  t.after(close);
  await ready(page);
  await page.evaluate(() => caches.delete("dualfocus-weights"));
  const runtime = page.context().waitForEvent("request", (request) => request.url().endsWith("/ort-wasm-simd-threaded.mjs"));
  await page.context().route("**/*.safetensors*", async (route) => {
    await runtime; // the weights do not come before
    await route.continue();
  });
  await page.reload();
  await ready(page);
});

test("WebGPU, here computed by the processor, gives a result on a small stack", { timeout: 300_000 }, async (t) => {
  const gpu = await openStand({ gpu: "software" });
  t.after(() => gpu.close());
  const { page, problems } = await gpu.visit({ query: "?device=webgpu" });
  const { device, reason } = await ready(page);
  assert.equal(device, "webgpu", reason);
  // Three planes, as the page's own check of the device has: more would have their shaders compiled, which takes most of the time.
  await drop(
    page,
    smallStack()
      .filter(({ name }) => name.endsWith(".png"))
      .slice(0, 3),
  );
  await find(page, TEST_IDS.run).click();
  await finished(page);
  assert.deepEqual(problems, []);
});

test("the page holds nothing of Node and names no other host", () => {
  const page = join(folder, "some", "path");
  const scripts = readdirSync(join(page, "assets")).filter((name) => /\.(js|css)$/.test(name));
  assert.ok(scripts.length > 1);
  for (const name of scripts) {
    const code = readFileSync(join(page, "assets", name), "utf8");
    assert.doesNotMatch(code, /onnxruntime-node|node:(fs|path|os)["']/, name);
    assert.doesNotMatch(code, /(fetch|import|src|href)\s*[(=:]\s*["'`]https?:/, name);
  }
});
