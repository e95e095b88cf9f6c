import assert from "node:assert/strict";
import { test } from "node:test";
import { createGuard } from "../../src/serve/guard.ts";
import { sendRaw, withServer } from "./server.ts";

const refuses = (guard: ReturnType<typeof createGuard>, headers: { host?: string; origin?: string }, reason: RegExp): void => {
  assert.throws(
    () => {
      guard(headers);
    },
    reason,
    JSON.stringify(headers),
  );
};

test("a server answers to loopback names, to its own address and to the names it was given, however it listens", () => {
  const local = createGuard({ host: "127.0.0.1", hosts: [], origins: [] });
  for (const host of ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080", "127.0.0.2"]) local({ host });
  for (const host of ["example.org", "127.0.0.1.example.org", "localhost.example.org:80", "192.168.1.7", "", "[::2]"])
    refuses(local, { host }, /Host header/);

  const named = createGuard({ host: "192.0.2.7", hosts: ["Depth.example"], origins: [] });
  for (const host of ["192.0.2.7:80", "depth.example", "DEPTH.EXAMPLE:443", "localhost:8080"]) named({ host });
  for (const host of ["192.0.2.8", "sub.depth.example", "depth.example.evil.example", "evil.example"])
    refuses(named, { host }, /Host header/);

  for (const every of ["0.0.0.0", "::"]) {
    const open = createGuard({ host: every, hosts: [], origins: [] });
    for (const host of ["192.0.2.8:8080", "[2001:db8::1]:8080", "localhost"]) open({ host }); // an address cannot be rebound
    for (const host of ["evil.example", "evil.example:8080", "192.0.2.8.evil.example", ""]) refuses(open, { host }, /Host header/);
  }
});

test("a page needs to be of the server's own origin, under a name that the server answers to, or be let in", () => {
  const local = createGuard({ host: "127.0.0.1", hosts: [], origins: [] });
  local({ host: "localhost:8080", origin: "http://localhost:8080" });
  for (const origin of ["http://localhost:9090", "https://example.org", "null", "", "nonsense"])
    refuses(local, { host: "localhost:8080", origin }, /another site/);

  const open = createGuard({ host: "0.0.0.0", hosts: ["depth.example"], origins: ["https://shop.example"] });
  open({ host: "depth.example", origin: "https://shop.example" });
  open({ host: "depth.example", origin: "https://depth.example" });
  refuses(open, { host: "depth.example", origin: "https://shop.example.evil" }, /another site/);
  refuses(open, { host: "evil.example", origin: "http://evil.example" }, /Host header/); // rebound: “the same origin”, but not our name
});

test("a rebound name gets 421 on every route, of a server on every address, too", async () => {
  await withServer({ host: "0.0.0.0" }, async ({ port, log }) => {
    const job = "/v1/jobs/0b1c2d3e-0000-4000-8000-123456789abc";
    const routes = ["/v1/health", "/v1/health/live", "/docs", "/openapi.json", "/metrics", "/v1/quota", job, `${job}/events`];
    const requests = [
      ...[...routes, `${job}/results/npy`, "/nothing", "/"].map((path) => `GET ${path}`),
      ...["POST /v1/depth", `DELETE ${job}`, "OPTIONS /v1/depth", "HEAD /v1/health"],
    ];
    for (const request of requests)
      for (const origin of ["", "Origin: http://evil.example:8080\r\n"]) {
        const answer = await sendRaw(port, [`${request} HTTP/1.1\r\nHost: evil.example:8080\r\n${origin}Connection: close\r\n\r\n`]);
        assert.match(answer, /^HTTP\/1\.1 421 /, request);
        assert.ok(request.startsWith("HEAD") || answer.includes('"code":"misdirected"'), answer);
        assert.ok(!/access-control-allow-origin/i.test(answer));
      }
    assert.match(await sendRaw(port, ["GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"]), /^HTTP\/1\.1 200 /);
    assert.ok(!JSON.stringify(log).includes("evil"));
  });
});
