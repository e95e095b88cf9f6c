import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { TestContext } from "node:test";
import { freePort } from "../../helpers/freePort.ts";

export interface RedisServer {
  readonly url: string;
  /** Kills it without warning and starts it again on the same files. */
  restart(): Promise<void>;
}

/** A redis-server of the test's own that writes down every command before it answers. Ends with the test. */
export async function startRedis(context: TestContext): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), "dualfocus-redis-"));
  const port = await freePort();
  let server = await start(folder, port);
  context.after(async () => {
    await kill(server);
    await rm(folder, { recursive: true, force: true });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async restart() {
      await kill(server);
      server = await start(folder, port);
    },
  };
}

async function start(folder: string, port: number): Promise<ChildProcess> {
  const settings = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "yes"];
  const server = spawn("redis-server", [...settings, "--appendfsync", "always"], { stdio: "ignore" });
  const failed = new Promise<never>((_, reject) => {
    server.once("error", (cause) => {
      reject(new Error("these tests need redis-server: apt-get install redis-server", { cause }));
    });
    server.once("exit", (code) => {
      reject(new Error(`redis-server ended with ${code}`));
    });
  });
  failed.catch(() => undefined);
  await Promise.race([failed, answers(port)]);
  return server;
}

async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill("SIGKILL");
  await once(server, "exit");
}

async function answers(port: number): Promise<void> {
  for (;;) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
      socket.once("data", (data) => {
        socket.destroy();
        resolve(data.toString().startsWith("+PONG")); // while it reads its file it answers LOADING
      });
      socket.once("error", () => {
        resolve(false);
      });
    });
    if (isUp) return;
    await setTimeout(50);
  }
}
