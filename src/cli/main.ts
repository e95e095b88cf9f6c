#!/usr/bin/env node
import { run } from "./run.ts";

// Whoever reads our output may go away (`| head`) or have no room left; without this, Node would print a stack trace.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.stderr.write(`dualfocus: standard output: ${error.message}\n`);
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

// Progress that nobody reads any more (`2>&1 | head`) is no reason to give up the work.
process.stderr.on("error", () => undefined);

// Ctrl-C in a command that does not stop by itself: its progress may be in the middle of a line, behind the terminal's ^C.
process.on("SIGINT", () => {
  if (process.listenerCount("SIGINT") > 1) return;
  if (process.stderr.isTTY) process.stderr.write("\n");
  process.exit(130);
});

process.exitCode = await run(process.argv.slice(2));
