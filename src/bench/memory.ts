import { readFileSync, writeFileSync } from "node:fs";

import { caseConfig, stacksOf, type Case } from "./case.ts";
import type { BenchRuntime } from "./runtime.ts";

/**
 * Peak memory of loading and running a case, in bytes: on the device, or resident memory in addition to what this process had before.
 * Needs a fresh process: memory that earlier work has freed stays resident and hides what the case needs. NaN if the system does not
 * report it.
 */
export async function peakMemory(runtime: BenchRuntime, each: Case): Promise<number> {
  const [config, inputs] = [caseConfig(each), stacksOf(each)];
  const before = process.memoryUsage.rss();
  resetPeak();
  const session = await runtime.network(config, each);
  try {
    await session.run(inputs);
    return runtime.deviceMemory?.() ?? Math.max(0, peakResident() - before);
  } finally {
    await session.dispose();
  }
}

/** Linux can reset the recorded peak of a process (proc(5), clear_refs). */
function resetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // another system, or a container that forbids it: the peak may then be from the process's start
  }
}

function peakResident(): number {
  try {
    return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
  } catch {
    return NaN;
  }
}
