// Training under faults: kills at random moments, a full disk, damaged checkpoints, the loss of one of two processes. Every run that went on
// after a fault is compared, bit for bit, with one that had none.
//   nice node --import tsx bench/trainFaults.ts [--kills 50] [--steps 20] [--damages 200] [--losses 5] [--disk yes] [--seed 1]
// Needs the native addon and /dev/full, a device of Linux on which every write fails as on a full disk. Exits with 1 if anything was lost.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { DualFocusError } from "../src/errors.ts";
import { createRandom } from "../src/random.ts";
import { readCheckpoint } from "../src/train/checkpoint.ts";
import { runFiles } from "../src/train/run.ts";
import { option } from "./timing.ts";

const [kills, steps, damages, losses, seed] = [
  option("kills", "50"),
  option("steps", "20"),
  option("damages", "200"),
  option("losses", "5"),
  option("seed", "1"),
].map(Number) as [number, number, number, number, number];
const hasDiskFull = option("disk", "yes") === "yes";
const random = createRandom(seed);
const folder = mkdtempSync(join(tmpdir(), "dualfocus-faults-"));
const main = join(import.meta.dirname, "../src/cli/main.ts");
/** Saved after every step, so that a fault falls into a save as often as not. */
const SETTINGS = ["--threads", "1", "--set", "saveEveryMinutes=1e-6", "--set", "logEvery=1", "--set", "evaluateEvery=1000000"];

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly err: string;
}

interface Running {
  readonly ended: Promise<Ended>;
  readonly pid: number;
  /** Resolves when the run has logged a step, or has ended. */
  readonly started: Promise<void>;
}

/** `dualfocus train`, from nothing, or from the checkpoint in the folder. */
function train(name: string, extra: readonly string[] = []): Running {
  const resumes = existsSync(runFiles(join(folder, name)).checkpoint);
  const start = resumes ? ["--resume"] : ["--preset", "smoke"];
  const args = [main, "train", ...start, "--steps", String(steps), ...SETTINGS, ...extra, "-o", join(folder, name)];
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  let err = "";
  let onStart: () => void;
  const started = new Promise<void>((resolve) => (onStart = resolve));
  child.stderr.on("data", (text: Buffer) => {
    err += text.toString();
    if (/^step \d/m.test(err)) onStart();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code, signal) => {
      onStart();
      resolve({ code, signal, err });
    }),
  );
  return { ended, pid: child.pid ?? 0, started };
}

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Every tensor and the step of a finished run. */
async function stateOf(name: string): Promise<string> {
  const { tensors, step } = await readCheckpoint(runFiles(join(folder, name)).checkpoint);
  const parts = [...tensors]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { bytes }]) => `${key} ${Buffer.from(bytes).toString("base64")}`);
  return `${step}\n${parts.join("\n")}`;
}

async function finish(name: string, extra: readonly string[] = []): Promise<string> {
  const { code, err } = await train(name, extra).ended;
  if (code !== 0) throw new Error(`${name}: the run did not finish: ${err}`);
  return stateOf(name);
}

interface Row {
  readonly fault: string;
  readonly tried: number;
  readonly good: number;
  readonly what: string;
}

const rows: Row[] = [];
function report(row: Row): void {
  rows.push(row);
  process.stdout.write(`${row.fault}: ${row.good} of ${row.tried} ${row.what}\n`);
}

/** Kills runs until there were enough kills; a run that comes to its end is compared, and another begins. */
async function killRuns(expected: string): Promise<void> {
  let [killed, loadable, finished, equal, withCheckpoint, drafts] = [0, 0, 0, 0, 0, 0];
  for (let run = 0; killed < kills || finished === 0; run++) {
    const name = `killed${run}`;
    for (let last = -1; ;) {
      const running = train(name);
      if (killed < kills) {
        const early = random.uniform() < 0.15; // while it still loads and has nothing to save
        if (!early) await running.started;
        await wait(early ? 1500 * random.uniform() : 700 * random.uniform());
        try {
          process.kill(running.pid, "SIGKILL");
        } catch {
          // it had ended
        }
      }
      const { signal, code, err } = await running.ended;
      if (signal === null) {
        if (code !== 0) throw new Error(err);
        finished += 1;
        if ((await stateOf(name)) === expected) equal += 1;
        break;
      }
      killed += 1;
      if (killed % 10 === 0) process.stderr.write(`${killed} kills\n`);
      const { checkpoint } = runFiles(join(folder, name));
      if (existsSync(`${checkpoint}.partial`)) drafts += 1;
      if (!existsSync(checkpoint)) {
        if (last >= 0) throw new Error("a checkpoint has disappeared");
        loadable += 1; // nothing was promised yet
        continue;
      }
      withCheckpoint += 1;
      const { step } = await readCheckpoint(checkpoint);
      if (step >= last) loadable += 1;
      last = step;
    }
    rmSync(join(folder, name), { recursive: true });
  }
  const within = `${withCheckpoint} with a checkpoint to lose, ${drafts} within a save`;
  report({ fault: "kill -9 at a random moment", tried: killed, good: loadable, what: `left the last checkpoint whole (${within})` });
  report({ fault: "runs resumed after the kills", tried: finished, good: equal, what: "ended bit for bit as the run without faults" });
}

/** The disk is full when this file is written; afterwards there is room again. */
async function fillDisk(expected: string): Promise<void> {
  const files = ["checkpoint.safetensors.partial", "weights.safetensors.partial", "report.html.partial"];
  let [clear, equal] = [0, 0];
  for (const [n, file] of files.entries()) {
    const name = `full${n}`;
    const first = train(name);
    await first.started;
    process.kill(first.pid, "SIGKILL"); // a run of fewer steps would have had another schedule of its learning rate
    if ((await first.ended).signal === null)
      throw new Error(`${name}: the run came to its end before the disk was full; give it more --steps`);
    const place = join(folder, name, file);
    const before = existsSync(place) ? readFileSync(place) : undefined;
    rmSync(place, { force: true });
    symlinkSync("/dev/full", place);
    const { code, err } = await train(name).ended;
    const last = err.trim().split("\n").at(-2) ?? "";
    if (code === 2 && /disk is full/.test(err) && !/\n\s+at /.test(err)) clear += 1;
    else process.stdout.write(`  ${file}: exit code ${code}, ${last}\n`);
    rmSync(place, { force: true });
    if (before) writeFileSync(place, before);
    if ((await finish(name)) === expected) equal += 1;
  }
  report({ fault: "disk full", tried: files.length, good: clear, what: `ended with a message that says so (${files.join(", ")})` });
  report({ fault: "runs resumed with room again", tried: files.length, good: equal, what: "ended bit for bit as the run without faults" });
}

/** Each damage to a whole checkpoint must be refused by its name. */
async function damage(): Promise<void> {
  const good = readFileSync(runFiles(join(folder, "whole")).checkpoint);
  const file = join(folder, "damaged.safetensors");
  const kinds: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    "one bit flipped": (bytes) => {
      const at = random.integer(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(8));
      return bytes;
    },
    "cut off": (bytes) => bytes.subarray(0, random.integer(bytes.length)),
    "a sector of zeros": (bytes) => {
      const at = 4096 * random.integer(bytes.length >> 12);
      return bytes.fill(0, at, at + 4096);
    },
    "two sectors exchanged": (bytes) => {
      const [a, b] = [4096 * random.integer(bytes.length >> 12), 4096 * random.integer(bytes.length >> 12)];
      const kept = Buffer.from(bytes.subarray(a, a + 4096));
      bytes.copy(bytes, a, b, b + 4096);
      kept.copy(bytes, b);
      return bytes;
    },
  };
  for (const [kind, change] of Object.entries(kinds)) {
    let [tried, refused] = [0, 0];
    for (let n = 0; n < Math.ceil(damages / Object.keys(kinds).length); n++) {
      const bytes = change(Buffer.from(good));
      if (bytes.equals(good)) continue; // sectors of equal contents
      tried += 1;
      writeFileSync(file, bytes);
      const error: unknown = await readCheckpoint(file).then(
        () => undefined,
        (cause: unknown) => cause,
      );
      if (error instanceof DualFocusError && error.message.includes(file)) refused += 1;
    }
    report({ fault: `damaged checkpoint: ${kind}`, tried, good: refused, what: "refused by name" });
  }
}

/** The processes that train together with `parent`: its children. */
function membersOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return new RegExp(`^\\d+ \\(.*\\) \\S ${parent} `).test(readFileSync(`/proc/${pid}/stat`, "utf8"));
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function loseMembers(): Promise<void> {
  const pair = ["--processes", "2"];
  const expected = await finish("pair", pair);
  let [ended, loadable, equal, longest] = [0, 0, 0, 0];
  for (let n = 0; n < losses; n++) {
    const name = `lost${n}`;
    const running = train(name, pair);
    await running.started;
    await wait(500 * random.uniform());
    const members = membersOf(running.pid);
    const victim = members[n % Math.max(1, members.length)];
    const from = performance.now();
    if (victim !== undefined) process.kill(victim, "SIGKILL");
    const { code, err } = await running.ended;
    longest = Math.max(longest, (performance.now() - from) / 1000);
    if (code === 137 && /was ended by SIGKILL/.test(err)) ended += 1;
    else process.stdout.write(`  exit code ${code}: ${err.trim().split("\n").slice(-3).join(" | ")}\n`);
    const { checkpoint } = runFiles(join(folder, name));
    if (existsSync(checkpoint)) await readCheckpoint(checkpoint);
    loadable += 1;
    if ((await finish(name, pair)) === expected) equal += 1;
  }
  report({
    fault: "one of two processes killed",
    tried: losses,
    good: ended,
    what: `ended all and said which (${longest.toFixed(1)} s at most)`,
  });
  report({ fault: "its checkpoint", tried: losses, good: loadable, what: "loads" });
  report({ fault: "two processes resumed", tried: losses, good: equal, what: "ended bit for bit as two without faults" });
}

try {
  const expected = await finish("whole");
  if (damages > 0) await damage();
  if (hasDiskFull) await fillDisk(expected);
  if (losses > 0) await loseMembers();
  if (kills > 0) await killRuns(expected);
  const table = rows.map(({ fault, tried, good, what }) => `| ${fault} | ${tried} | ${good} ${what} |`);
  process.stdout.write(`\n| fault | times | outcome |\n|---|---|---|\n${table.join("\n")}\n`);
  process.exitCode = rows.every(({ tried, good }) => tried === good) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
