import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { cannotWrite } from "../system/errno.ts";
import { duration } from "../output/duration.ts";
import type { LogEntry } from "./loop.ts";

/** One JSON object a line. A resumed run drops what a killed one logged after its last checkpoint. */
export function openLog(file: string, { from }: { readonly from: number }): (entry: LogEntry) => void {
  const kept = existsSync(file) ? readLog(file).filter(({ step }) => step <= from && from > 0) : [];
  const writing = (write: () => void): void => {
    try {
      write();
    } catch (cause) {
      throw cannotWrite(file, cause);
    }
  };
  writing(() => {
    writeFileSync(file, kept.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  });
  return (entry) => {
    writing(() => {
      appendFileSync(file, `${JSON.stringify(entry)}\n`);
    });
  };
}

/** The entries of a log, without an incomplete last line. */
export function readLog(file: string): LogEntry[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as LogEntry];
      } catch {
        return [];
      }
    });
}

/** A line of text: loss and its parts, speed, time left; or the metrics of an evaluation. */
export function describeEntry({ step, seconds, progress, stacksPerSecond, ...values }: LogEntry): string {
  const named = Object.entries(values)
    .filter(([name]) => name !== "rate")
    .map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`);
  const left = progress === undefined || progress === 0 ? undefined : (seconds * (1 - progress)) / progress;
  return [
    `step ${step}`,
    ...(progress === undefined ? [] : [`${(100 * progress).toFixed(1)} %`]),
    ...named,
    ...(stacksPerSecond === undefined ? [] : [`${stacksPerSecond.toPrecision(4)} stacks/s`]),
    ...(left === undefined ? [] : [`${duration(left)} left`]),
  ].join("  ");
}
