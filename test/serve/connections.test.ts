import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { sendRaw, withServer } from "./server.ts";

/** Connects from one of this machine's loopback addresses and sends nothing. */
function silent(port: number, localAddress: string): { socket: Socket; heard: () => string; closed: Promise<unknown> } {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  let text = "";
  socket.on("data", (data) => (text += data.toString("latin1"))).on("error", () => undefined);
  return { socket, heard: () => text, closed: once(socket, "close") };
}

// Elsewhere than on Linux a machine has one loopback address only.
const skip = process.platform !== "linux";

test("silent connections of one address take only its own share; others are served meanwhile", { skip }, async () => {
  await withServer({ host: "127.0.0.1", limits: { connections: 60, connectionsPerClient: 10 } }, async ({ port, url }) => {
    const many = Array.from({ length: 200 }, () => silent(port, "127.0.0.2"));
    const refused = many.slice(10); // in the order they came
    await Promise.all(refused.map(({ closed }) => closed));
    assert.ok(refused.every(({ heard }) => /^HTTP\/1\.1 429 [^]*more than 10 connections from one address/.test(heard())));
    const open = many.slice(0, 10);
    assert.ok(open.every(({ socket }) => !socket.destroyed));
    for (let n = 0; n < 20; n++) assert.equal((await fetch(`${url}/v1/health/live`)).status, 200, "127.0.0.1 is another client");
    assert.match(await (await fetch(`${url}/metrics`)).text(), /^dualfocus_refused_connections_total 190$/m);
    open[0]?.socket.destroy();
    await open[0]?.closed;
    const request = "GET /v1/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    const ask = async (): Promise<string> => {
      const { socket, heard, closed } = silent(port, "127.0.0.2");
      socket.write(request);
      await closed;
      return heard();
    };
    while (!(await ask()).startsWith("HTTP/1.1 200 ")); // a place that is free again is given again
    for (const { socket } of open) socket.destroy();
  });
});

test("behind a proxy, whose connections are everyone's, they are not counted", async () => {
  await withServer({ behindProxy: true, limits: { connectionsPerClient: 1 } }, async ({ port }) => {
    const held = [1, 2, 3].map(() => silent(port, "127.0.0.1"));
    assert.match(await sendRaw(port, ["GET /v1/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]), /^HTTP\/1\.1 200/);
    for (const { socket } of held) socket.destroy();
  });
});

test("a connection that stays silent is closed after the time for headers", async () => {
  await withServer({ limits: { headerSeconds: 0.4 } }, async ({ port }) => {
    const { heard, closed } = silent(port, "127.0.0.1");
    await closed;
    assert.match(heard(), /^HTTP\/1\.1 408 /);
  });
});
