import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** A Redis on which a job is on disk before it is acknowledged. */
export const startRedis = (port: number, folder: string): ChildProcess =>
  spawn("redis-server", ["--port", String(port), "--dir", folder, "--save", "", "--appendonly", "yes", "--appendfsync", "always"], {
    stdio: "ignore",
  });

export async function end(child: ChildProcess, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

const root = join(import.meta.dirname, "..");
const built = join(root, "dist", "src", "cli", "main.js");

/** What to start Node with for `dualfocus`: the build if there is one, else the sources. */
export const PROGRAM: readonly string[] = existsSync(built) ? [built] : ["--import", "tsx", join(root, "src", "cli", "main.ts")];
