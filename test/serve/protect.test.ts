import assert from "node:assert/strict";
import { test } from "node:test";
import { createEmbeddedQueue } from "../../src/queue/embeddedQueue.ts";
import { problemSchema } from "../../src/serve/problem.ts";
import { parseTokens } from "../../src/serve/tenants.ts";
import { BOUNDARY, frame, multipart } from "./hostileFiles.ts";
import { filesIn, idleRunner, stackForm, stackPictures, withServer } from "./server.ts";

const token = "correct-horse-battery-staple";
const tokens = parseTokens(token, "test");
const pictures = stackPictures();

test("with a token, everything but health and the description asks for it", async () => {
  await withServer({ tokens }, async ({ url, folder }) => {
    const ask = async (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<number> =>
      (await fetch(url + path, { method, headers })).status;
    for (const path of ["/v1/health", "/v1/health/live", "/openapi.json", "/docs"]) assert.equal(await ask(path), 200, path);
    for (const path of ["/metrics", "/v1/jobs/no-such-job", "/nothing"]) assert.equal(await ask(path), 401, path);
    assert.equal(await ask("/v1/jobs/no-such-job", {}, "DELETE"), 401);
    const refused = await fetch(`${url}/v1/depth`, {
      method: "POST",
      body: stackForm(pictures),
      headers: { Authorization: "Bearer wrong" },
    });
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get("WWW-Authenticate"), 'Bearer realm="dualfocus"');
    assert.equal(problemSchema.parse(await refused.json()).code, "unauthorized");
    assert.deepEqual(filesIn(folder), []);
    const headers = { Authorization: `Bearer ${token}` };
    assert.equal(await ask("/metrics", headers), 200);
    const taken = await fetch(`${url}/v1/depth`, { method: "POST", body: stackForm(pictures), headers });
    assert.equal(taken.status, 202);
  });
});

test("a client that asks too often is told when to come back; monitors are not counted", async () => {
  await withServer({ limits: { requestsPerMinute: 3 } }, async ({ url }) => {
    for (let n = 0; n < 3; n++) assert.equal((await fetch(`${url}/v1/jobs/no-such-job`)).status, 404);
    const refused = await fetch(`${url}/v1/jobs/no-such-job`);
    assert.deepEqual([refused.status, refused.headers.get("Retry-After")], [429, "20"]);
    assert.equal(problemSchema.parse(await refused.json()).code, "rate-limited");
    assert.equal((await fetch(`${url}/v1/health`)).status, 200);
    const elsewhere = await fetch(`${url}/v1/jobs/no-such-job`, { headers: { "X-Forwarded-For": "203.0.113.9" } });
    assert.equal(elsewhere.status, 429, "nobody becomes another by saying so");
  });
  await withServer({ limits: { requestsPerMinute: 1 }, behindProxy: true }, async ({ url }) => {
    const from = async (address: string): Promise<number> =>
      (await fetch(`${url}/v1/jobs/no-such-job`, { headers: { "X-Forwarded-For": address } })).status;
    assert.deepEqual([await from("203.0.113.9"), await from("203.0.113.9"), await from("203.0.113.10")], [404, 429, 404]);
    assert.equal(await from("198.51.100.1, 203.0.113.10"), 429, "only what the proxy has added counts");
  });
});

test("pages of other origins are let in by name only", async () => {
  const origin = "https://shop.example";
  await withServer({}, async ({ url }) => {
    const refused = await fetch(`${url}/v1/health`, { headers: { Origin: origin } });
    assert.equal(refused.status, 403);
    assert.equal(refused.headers.get("Access-Control-Allow-Origin"), null);
  });
  await withServer({ origins: [origin], tokens }, async ({ url }) => {
    const asked = await fetch(`${url}/v1/depth`, {
      method: "OPTIONS",
      headers: { Origin: origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization" },
    });
    assert.equal(asked.status, 204, "the browser's question carries no token");
    assert.equal(asked.headers.get("Access-Control-Allow-Origin"), origin);
    assert.match(asked.headers.get("Access-Control-Allow-Headers") ?? "", /Authorization/);
    const failed = await fetch(`${url}/v1/jobs/no-such-job`, { headers: { Origin: origin } });
    assert.deepEqual([failed.status, failed.headers.get("Access-Control-Allow-Origin")], [401, origin], "the page may read why");
    assert.equal((await fetch(`${url}/v1/health`, { headers: { Origin: "https://evil.example" } })).status, 403);
  });
});

test("every answer, good or bad, carries the headers that keep browsers careful", async () => {
  await withServer({}, async ({ url }) => {
    for (const path of ["/v1/health", "/nothing", "/docs", "/v1/depth"]) {
      const { headers } = await fetch(url + path);
      assert.equal(headers.get("X-Content-Type-Options"), "nosniff", path);
      assert.equal(headers.get("X-Frame-Options"), "DENY");
      assert.equal(headers.get("Referrer-Policy"), "no-referrer");
      assert.match(headers.get("Content-Security-Policy") ?? "", /^default-src 'none'/);
      assert.equal(headers.get("Access-Control-Allow-Origin"), null);
      assert.equal(headers.get("X-Powered-By"), null);
      assert.match(headers.get("X-Request-Id") ?? "", /^[0-9a-f-]{36}$/);
    }
  });
});

test("a queue that cannot be reached is reported as such, and nothing of the upload is left", async () => {
  const queue = createEmbeddedQueue({ runner: idleRunner });
  const away = (): Promise<never> => Promise.reject(new Error("connect ECONNREFUSED 10.0.0.7:6379"));
  await withServer({ queue: { ...queue, ping: away, counts: away, get: away } }, async ({ url, folder, log }) => {
    const health = await fetch(`${url}/v1/health`);
    assert.equal(health.status, 503);
    assert.deepEqual(await health.json(), { live: true, ready: false, version: "0.1.0", reason: "the queue cannot be reached" });
    assert.equal((await fetch(`${url}/v1/health/live`)).status, 200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    assert.match(metrics, /^process_resident_memory_bytes \d+/m);
    assert.match(metrics, /^dualfocus_ready 0$/m);
    assert.doesNotMatch(metrics, /^dualfocus_workers /m, "better no number than an old one");
    for (const answer of [
      await fetch(`${url}/v1/jobs/no-such-job`),
      await fetch(`${url}/v1/depth`, { method: "POST", body: stackForm(pictures) }),
    ]) {
      assert.deepEqual([answer.status, answer.headers.get("Retry-After")], [503, "5"]);
      assert.ok(!(await answer.text()).includes("10.0.0.7"));
    }
    assert.ok(log.some(({ event, fields }) => event === "queue failed" && String(fields["cause"]).includes("10.0.0.7")));
    assert.deepEqual(filesIn(folder), []);
  });
  await withServer({ queue: { ...queue, submit: away } }, async ({ url, folder }) => {
    const answer = await fetch(`${url}/v1/depth`, { method: "POST", body: stackForm(pictures) });
    assert.equal(answer.status, 503);
    assert.deepEqual(filesIn(folder), [], "pictures that were in the store already are taken out again");
  });
});

test("the form may be what other clients make of it", async () => {
  const frames = pictures.map((bytes) => frame(bytes));
  const bare = pictures.map((body) => ({ headers: "content-disposition: form-data; name=frames", body }));
  const asFile = {
    headers: 'Content-Disposition: form-data; name="options"; filename="o.json"\r\nContent-Type: application/json',
    body: "{}",
  };
  const forms: Readonly<Record<string, Uint8Array>> = {
    "text before and after the parts": Buffer.concat([Buffer.from("preamble\r\n"), multipart(frames), Buffer.from("epilogue")]),
    "parts without file names and types": multipart(bare),
    "options as a file, before the pictures": multipart([asFile, ...frames]),
  };
  await withServer({}, async ({ url, queue }) => {
    for (const [name, body] of Object.entries(forms)) {
      const headers = { "Content-Type": `multipart/form-data; boundary="${BOUNDARY}"` };
      const response = await fetch(`${url}/v1/depth`, { method: "POST", headers, body: new Uint8Array(body) });
      assert.equal(response.status, 202, `${name}: ${await response.text()}`);
    }
    const { queued, running } = await queue.counts();
    assert.equal(queued + running, 3);
  });
});
