import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test, type TestContext } from "node:test";
import { createEmbeddedQueue } from "../../src/queue/embeddedQueue.ts";
import type { JobQueue } from "../../src/queue/queue.ts";
import { createRedisQueue } from "../../src/queue/redisQueue.ts";
import { startRedisWorker } from "../../src/queue/redisWorker.ts";
import { createTokenCheck, parseTokens } from "../../src/serve/tenants.ts";
import { problemSchema } from "../../src/serve/problem.ts";
import type { JobView } from "../../src/serve/schemas.ts";
import { startRedis } from "../queue/helpers/redisServer.ts";
import { filesIn, idleRunner, stackForm, stackPictures, withServer } from "./server.ts";

const [alice, bob, monitor] = ["alice-and-her-token-0123456789", "bob-and-his-token-9876543210", "monitor-token-13579-24680"];
const pictures = stackPictures();
const bearer = (token: string): { Authorization: string } => ({ Authorization: `Bearer ${token}` });

test("a token is right or wrong as a whole, and says whose it is", () => {
  const sha = createHash("sha256").update(bob).digest("hex");
  const text = `# tokens\n\nalice ${alice} jobs=2 megabytes=3 rate=40\r\nbob sha256:${sha} metrics # hashed\nalice ${alice}-new`;
  const tenantOf = createTokenCheck(parseTokens(text, "file"));
  assert.deepEqual(tenantOf(`Bearer ${alice}`), {
    name: "alice",
    quota: { jobs: 2, bytes: 3 * 2 ** 20, requestsPerMinute: 40 },
    metrics: false,
  });
  assert.equal(tenantOf(`bearer ${alice}-new`), tenantOf(`Bearer ${alice}`), "two tokens of one tenant, while one replaces the other");
  assert.deepEqual(tenantOf(`Bearer ${bob}`), {
    name: "bob",
    quota: { jobs: Infinity, bytes: Infinity, requestsPerMinute: Infinity },
    metrics: true,
  });
  for (const wrong of [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    alice,
    `Bearer ${alice.slice(0, -1)}`,
    `Bearer ${alice}2`,
    `Basic ${alice}`,
    `Bearer ${sha}`,
  ])
    assert.equal(tenantOf(wrong), undefined, String(wrong));
  assert.equal(createTokenCheck(parseTokens(`${alice}\n`, "file"))(`Bearer ${alice}`)?.name, "default");
  assert.equal(createTokenCheck(parseTokens(`a ${alice};b ${bob}`, "environment"))(`Bearer ${bob}`)?.name, "b", "on one line");
});

test("a list of tokens that is wrong, or holds placeholders, is refused without repeating a token", () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ["", /^file: holds no token$/],
    ["# nothing\n", /holds no token/],
    ["short", /line 1: a token has 16 or more/],
    [`alice ${alice}\nbob`, /line 2: a token has 16 or more/],
    ["change-me-to-something-long", /line 1: this is a placeholder/],
    ["api CHANGEME0123456789abcdef", /line 1: this is a placeholder/],
    ["aaaaaaaaaaaaaaaaaaaaaaaaaaaa", /line 1: this is a placeholder/],
    ["abababababababababababab", /line 1: this is a placeholder/],
    [`alice ${alice} jobs=0`, /line 1: after the token come jobs=N/],
    [`alice ${alice} jobs=2 jobs=3`, /each at most once/],
    [`alice ${alice} gigabytes=3`, /after the token come/],
    [`../alice ${alice}`, /line 1: a name has up to 32 letters/],
    [`alice ${alice}\nalice ${bob} jobs=2`, /line 2: alice has limits already/],
  ];
  for (const [text, message] of wrong)
    assert.throws(
      () => parseTokens(text, "file"),
      (error: Error & { code?: string }) => {
        assert.match(error.message, message);
        assert.equal(error.code, "bad-tokens");
        assert.ok(![alice, bob, "change-me", "CHANGEME"].some((secret) => error.message.includes(secret)));
        return true;
      },
      text,
    );
});

/** The same with the queue of one process and with Redis. */
const QUEUES: readonly (readonly [string, (context: TestContext) => Promise<JobQueue>])[] = [
  ["in this process", () => Promise.resolve(createEmbeddedQueue({ runner: idleRunner }))],
  ["in Redis", async (context) => createRedisQueue((await startRedis(context)).url)],
];

for (const [where, open] of QUEUES)
  test(`tenants see their own jobs only, and have quotas of their own (queue ${where})`, async (context) => {
    const body = stackForm(pictures);
    const bytes = (await new Response(body).arrayBuffer()).byteLength;
    const tokens = parseTokens(`alice ${alice} jobs=2\nbob ${bob} megabytes=1`, "test");
    await withServer({ tokens, queue: await open(context) }, async ({ url, queue, log, folder }) => {
      const ask = (path: string, token: string, method = "GET"): Promise<Response> => fetch(url + path, { method, headers: bearer(token) });
      const send = (token: string): Promise<Response> =>
        fetch(`${url}/v1/depth`, { method: "POST", body: stackForm(pictures), headers: bearer(token) });
      const job = (await (await send(alice)).json()) as JobView;
      for (const path of [job.links.self, job.links.events, `${job.links.self}/results/npy`]) {
        const refused = await ask(path, bob);
        assert.equal(refused.status, 404, path);
        assert.equal(problemSchema.parse(await refused.json()).detail, "there is no such job", "not even that it exists");
      }
      assert.equal((await ask(job.links.self, bob, "DELETE")).status, 404);
      assert.equal((await queue.get(job.id))?.tenant, "alice", "it is still there");
      assert.equal((await ask(job.links.self, alice)).status, 200);

      assert.equal((await send(alice)).status, 202);
      const third = await send(alice);
      assert.deepEqual([third.status, third.headers.get("Retry-After")], [429, "30"]);
      assert.equal(problemSchema.parse(await third.json()).code, "quota-exceeded");
      const own = (await (await ask("/v1/quota", alice)).json()) as { jobs: object; bytes: { used: number } };
      assert.deepEqual(own, { tenant: "alice", jobs: { used: 2, limit: 2 }, bytes: { used: own.bytes.used }, requestsPerMinute: {} });
      assert.ok(Math.abs(own.bytes.used - 2 * bytes) < 200, `${own.bytes.used} bytes of two requests of ${bytes}`);
      assert.equal((await send(bob)).status, 202, "one tenant's quota is not another's");
      assert.equal((await ask(job.links.self, alice, "DELETE")).status, 204);
      assert.equal((await send(alice)).status, 202, "there is room again");
      const stacks = new Set(filesIn(folder).map((file) => file.split("/jobs/")[1]?.split("/")[0]));
      assert.equal(stacks.size, 3, "nothing is left of what was refused");

      assert.deepEqual((await (await ask("/v1/quota", bob)).json()) as object, {
        ...{ tenant: "bob", jobs: { used: 1 }, requestsPerMinute: {} },
        bytes: { used: (await queue.usage("bob")).bytes, limit: 2 ** 20 },
      });
      const audit = log.filter(({ event }) => event === "audit").map(({ fields: { tenant, action, status } }) => [tenant, action, status]);
      assert.deepEqual(audit.slice(0, 3), [
        ["alice", "POST /v1/depth", 202],
        ["bob", "GET /v1/jobs/:id", 404],
        ["bob", "GET /v1/jobs/:id/events", 404],
      ]);
      assert.ok(log.some(({ event, fields }) => event === "audit" && fields["job"] === job.id && fields["tenant"] === "bob"));
      assert.ok(![alice, bob].some((token) => JSON.stringify(log).includes(token)), "the log holds no token");
    });
  });

test("bytes of images and requests per minute are limited for each tenant; a large request is refused before it is read", async () => {
  const tokens = parseTokens(`alice ${alice} megabytes=1\nbob ${bob} rate=2`, "test");
  await withServer({ tokens }, async ({ url, folder }) => {
    const large = [...pictures, new Uint8Array(2 ** 20)];
    const refused = await fetch(`${url}/v1/depth`, { method: "POST", body: stackForm(large), headers: bearer(alice) });
    const problem = problemSchema.parse(await refused.json());
    assert.deepEqual([refused.status, problem.code], [429, "quota-exceeded"]);
    assert.match(problem.detail, /its jobs may have 1048576 bytes of images, of which 1048576 are free/);
    assert.deepEqual(filesIn(folder), []);
    const statuses = await Promise.all([1, 2, 3].map(async () => (await fetch(`${url}/v1/quota`, { headers: bearer(bob) })).status));
    assert.deepEqual(statuses.sort(), [200, 200, 429]);
    assert.equal((await fetch(`${url}/v1/quota`, { headers: bearer(alice) })).status, 200);
  });
});

test("uploads at the same time count as jobs, so that a quota of one is one", async () => {
  const tokens = parseTokens(`alice ${alice} jobs=1`, "test");
  await withServer({ tokens }, async ({ url }) => {
    const send = async (): Promise<number> =>
      (await fetch(`${url}/v1/depth`, { method: "POST", body: stackForm(pictures), headers: bearer(alice) })).status;
    const statuses = await Promise.all(Array.from({ length: 6 }, send));
    assert.deepEqual(statuses.sort(), [202, 429, 429, 429, 429, 429]);
  });
});

test("the metrics count everyone's jobs, and only a token that may reads them", async () => {
  const tokens = parseTokens(`alice ${alice}\nmonitor ${monitor} metrics`, "test");
  await withServer({ tokens }, async ({ url }) => {
    const status = async (token: string): Promise<number> => (await fetch(`${url}/metrics`, { headers: bearer(token) })).status;
    assert.deepEqual([await status(alice), await status(monitor), await status(bob)], [403, 200, 401]);
  });
});

test("a tenant's quota in Redis is free again when its jobs have ended, and its bytes when they are removed", async (context) => {
  const { url } = await startRedis(context);
  const queue = createRedisQueue(url);
  const frames = [{ key: "jobs/tenant-job-1/frames/0.png", name: "0.png" }];
  const settings = { model: "small", align: "auto", size: 64, save: ["npy"] } as const;
  await queue.submit({ id: "tenant-job-1", frames, settings: { ...settings, save: ["npy"] }, tenant: "alice", bytes: 700 });
  assert.deepEqual(await queue.usage("alice"), { jobs: 1, bytes: 700 });
  assert.deepEqual(await queue.usage("bob"), { jobs: 0, bytes: 0 });
  const worker = startRedisWorker({ url, name: "one", runner: { slots: 1, run: () => Promise.resolve(), close: () => Promise.resolve() } });
  for await (const { state } of queue.subscribe("tenant-job-1", { signal: AbortSignal.timeout(30_000) })) if (state === "done") break;
  assert.deepEqual(await queue.usage("alice"), { jobs: 0, bytes: 700 });
  await queue.remove("tenant-job-1");
  assert.deepEqual(await queue.usage("alice"), { jobs: 0, bytes: 0 });
  await worker.stop(1000);
  await queue.close();
});
