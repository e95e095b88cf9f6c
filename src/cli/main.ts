#!/usr/bin/env node
import { run } from "./run.ts";

// Whoever reads our output may go away (`| head`) or have no room left; without this, Node would print a stack trace.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") process.stderr.write(`dualfocus: standard output: ${error.message}\n`);
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

// Progress that nobody reads any more (`2>&1 | head`) is no reason to give up the work.
process.stderr.on("error", () => undefined);

process.exitCode = await run(process.argv.slice(2));
