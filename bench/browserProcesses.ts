import { readdirSync, readFileSync } from "node:fs";

/** Process ids of this process's Chromium and everything it started (Linux). */
export function browserProcesses(): string[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = new Map(all.map((id) => [id, statOf(id)?.[1]] as const));
  const isOurs = (id: string | undefined): boolean => id !== undefined && (id === String(process.pid) || isOurs(parents.get(id)));
  return all.filter((id) => id !== String(process.pid) && isOurs(id) && /chrom/i.test(read(id, "cmdline")));
}

/** Seconds that processors have worked for these processes so far: unlike time on the clock, a busy machine does not stretch it. */
export function processorSeconds(ids: readonly string[]): number {
  const ticks = ids.map((id) => {
    const fields = statOf(id) ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0); // user and system
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

/** The most memory each process has held [MB]. */
export const peakMegabytes = (ids: readonly string[]): number[] =>
  ids.map((id) => Number(/VmHWM:\s+(\d+)/.exec(read(id, "status"))?.[1] ?? 0) / 1024);

/** The numbers after the name in /proc/ID/stat; undefined if the process has ended. */
function statOf(id: string): string[] | undefined {
  const text = read(id, "stat");
  return text === "" ? undefined : text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function read(id: string, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, "utf8");
  } catch {
    return ""; // ended in the meantime
  }
}
