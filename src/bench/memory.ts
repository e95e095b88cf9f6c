import { readFileSync, writeFileSync } from "node:fs";

import { caseConfig, stacksOf, type Case } from "./case.ts";
import type { BenchRuntime } from "./runtime.ts";

/**
 * Bytes that loading and running a case takes at most: of the device's memory, or of resident memory on top of what this process has.
 * Only a young process can tell: what earlier work has freed stays resident and hides what the case takes. NaN where the system does
 * not tell.
 */
export async function peakMemory(runtime: BenchRuntime, each: Case): Promise<number> {
  const [config, inputs] = [caseConfig(each), stacksOf(each)];
  const before = process.memoryUsage.rss();
  forgetPeak();
  const session = await runtime.network(config, each);
  try {
    await session.run(inputs);
    return runtime.deviceMemory?.() ?? Math.max(0, peakResident() - before);
  } finally {
    await session.dispose();
  }
}

/** Linux forgets the peak of a process on demand (proc(5), clear_refs). */
function forgetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // another system, or a container that forbids it: the peak may then be one of starting up
  }
}

function peakResident(): number {
  try {
    return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
  } catch {
    return NaN;
  }
}
