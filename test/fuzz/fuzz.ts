import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inputOf } from "./input.ts";
import { READERS, type Reader } from "./readers.ts";

/** Inputs that went wrong; test/fuzz/regressions.test.ts reads them again. */
export const REGRESSIONS = fileURLToPath(new URL("./regressions/", import.meta.url));

const MEMORY = 1200 << 20;
/** Seconds after which an input that has not come back counts as endless; generous, for busy machines. */
const PATIENCE = 60;

export interface Finding {
  readonly reader: string;
  readonly file: string;
  readonly trouble: string;
}

export interface Outcome {
  readonly reader: string;
  readonly inputs: number;
  readonly findings: readonly Finding[];
}

interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Where bad inputs go. */
  readonly keep?: string;
}

/** Feeds one reader for some seconds, in processes of their own: a crash, an endless loop or a gigabyte ends them, and is kept. */
export async function fuzzReader(name: string, { seconds, seed, keep = REGRESSIONS }: FuzzOptions): Promise<Outcome> {
  const reader = READERS[name] as Reader;
  const folder = mkdtempSync(join(tmpdir(), "dualfocus-fuzz-"));
  const place = join(folder, "index");
  const findings: Finding[] = [];
  const end = performance.now() + 1000 * seconds;
  let index = 0;
  try {
    for (let left = seconds; left > 0; left = (end - performance.now()) / 1000) {
      rmSync(place, { force: true });
      const member = await runMember([name, seed, index, left, MEMORY, place, keep].map(String), place);
      for (const { file, trouble } of member.found) findings.push({ reader: name, file, trouble });
      if (member.how === undefined) {
        index = member.index;
        continue;
      }
      const at = readQuietly(place);
      if (at === "") throw new Error(`${name}: the process did not come to its first input: ${member.how}`);
      index = Number(at);
      const bytes = inputOf(reader, { name, seeds: await reader.seeds(), seed, index });
      mkdirSync(join(keep, name), { recursive: true });
      const file = join(keep, name, `${member.kind}-${seed}-${index}.bin`);
      writeFileSync(file, bytes);
      findings.push({ reader: name, file, trouble: member.how });
      index += 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { reader: name, inputs: index, findings };
}

interface Member {
  readonly index: number;
  readonly found: readonly { readonly file: string; readonly trouble: string }[];
  /** How it ended, if not by itself. */
  readonly how?: string;
  readonly kind?: "crash" | "endless";
}

function runMember(args: readonly string[], place: string): Promise<Member> {
  const child = fork(fileURLToPath(new URL("./member.ts", import.meta.url)), args, { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  const found: { file: string; trouble: string }[] = [];
  let [index, errors, endless, last, since] = [-1, "", false, "", performance.now()];
  const watch = setInterval(() => {
    const now = readQuietly(place);
    if (now !== last) [last, since] = [now, performance.now()];
    else if (now !== "" && performance.now() - since > 1000 * PATIENCE) {
      endless = true;
      child.kill("SIGKILL");
    }
  }, 1000);
  child.stderr?.on("data", (text: Buffer) => (errors = (errors + text.toString()).slice(-2000)));
  child.on("message", (message: { index?: number; file?: string; trouble?: string }) => {
    if (message.index !== undefined) index = message.index;
    else found.push(message as { file: string; trouble: string });
  });
  return new Promise((resolve) =>
    child.on("close", (code, signal) => {
      clearInterval(watch);
      if (index >= 0) resolve({ index, found });
      else if (endless) resolve({ index, found, how: `took longer than ${PATIENCE} s`, kind: "endless" });
      else resolve({ index, found, how: `ended its process (${signal ?? `exit code ${code}`}) ${errors.trim()}`, kind: "crash" });
    }),
  );
}

function readQuietly(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
