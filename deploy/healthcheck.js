// Exits with 0 if the container is healthy: a worker by the age of its heartbeat file (DUALFOCUS_HEARTBEAT), the API by its response.
import { statSync } from "node:fs";
import { get } from "node:http";
import process from "node:process";

const OLDEST = 60_000; // milliseconds since the last beat; it is set every five seconds
const heartbeat = process.env["DUALFOCUS_HEARTBEAT"];

if (heartbeat !== undefined) process.exit(isFresh(heartbeat) ? 0 : 1);
get({ host: "127.0.0.1", port: process.env["DUALFOCUS_PORT"] ?? 8080, path: "/v1/health/live", timeout: 4000 }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
}).on("error", () => process.exit(1));

function isFresh(file) {
  try {
    return Date.now() - statSync(file).mtimeMs < OLDEST;
  } catch {
    return false;
  }
}
