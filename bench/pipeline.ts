// The whole command `dualfocus depth`: processor time, wall time and peak memory of each of its phases, as shares of the whole, beside what
// the machine needs at least (decoding every file, the network alone) and beside focus-stack and enfuse where they are installed.
//   npm run build && nice node --import tsx bench/pipeline.ts [--cases desk,10x3.1,30x24,FOLDER] [--model small] [--threads 0] [--rounds 1]
//       [--before FOLDER]      another built version, run alternately: ratios of one run, and the largest difference of the depth in planes
//       [--fill off]           without filling, to compare with a version that fills otherwise
//       [--growth yes]         how the time grows with planes and pixels, instead of the cases
//       [--photos FOLDER]      what the stacks are made of: by default ../shared/data/real/pcb, or examples/macro if that is not there
//       [--batch 20]           that many stacks in one call against one call for each, instead of the cases
// Linux only, with GNU time (Debian: apt-get install time). Phases are read from the progress that the command prints; what it takes
// between two lines of progress belongs to the second.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import sharp from "sharp";
import { growthExponent } from "../src/bench/growth.ts";
import { decodeNpy } from "../src/io/npy.ts";
import { isLength, PER_METRE } from "../src/stack/quantity.ts";
import type { Unit } from "../src/stack/stackFormat.ts";
import { option } from "./timing.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PHOTOS = [option("photos", join(ROOT, "..", "shared", "data", "real", "pcb")), join(ROOT, "examples", "macro")];

/** The images of a folder, without what the renderer adds to its planes. */
const imagesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /\.(jpe?g|png)$/.test(name) && name !== "aif.png")
    .sort()
    .map((name) => join(folder, name));

interface Case {
  readonly planes: number;
  readonly megapixels: number;
}

/** Planes between those of the photos, brought to this size. */
async function makeStack(folder: string, { planes, megapixels }: Case): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const photos = imagesIn(PHOTOS.find((place) => existsSync(place)) as string);
  const { width, height } = await sharp(photos[0]).metadata();
  const factor = Math.sqrt((megapixels * 1e6) / (width * height));
  const size = { width: Math.round(width * factor), height: Math.round(height * factor), fit: "fill" } as const;
  const scaled = (photo: number): ReturnType<typeof sharp> => sharp(photos[photo]).removeAlpha().resize(size);
  for (let n = 0; n < planes; n++) {
    const at = (n * (photos.length - 1)) / (planes - 1);
    const [first, share] = [Math.min(Math.floor(at), photos.length - 2), at - Math.min(Math.floor(at), photos.length - 2)];
    const over = await scaled(first + 1).ensureAlpha(share).raw().toBuffer({ resolveWithObject: true }); // prettier-ignore
    const input = { input: over.data, raw: { width: over.info.width, height: over.info.height, channels: 4 } } as const;
    const under = await scaled(first).png({ compressionLevel: 0 }).toBuffer();
    const file = join(folder, `plane_${String(n).padStart(3, "0")}.jpg`);
    await sharp(under).composite([input]).removeAlpha().jpeg({ quality: 92 }).toFile(file);
  }
}

async function stackOf(name: string, root: string): Promise<string> {
  const folder = join(root, name);
  if (existsSync(folder)) return folder;
  if (name.includes("/")) return resolve(name);
  if (name === "desk") {
    cpSync(join(ROOT, "examples", "desk"), folder, { recursive: true });
    for (const extra of ["aif.png", "depth.npy", "scene.json"]) rmSync(join(folder, extra), { force: true });
  } else {
    const [planes = NaN, megapixels = NaN] = name.split("x").map(Number);
    if (!(planes >= 2 && megapixels > 0)) throw new Error(`a case is desk or PLANESxMEGAPIXELS, for instance 10x3.1; got ${name}`);
    await makeStack(folder, { planes, megapixels });
  }
  return folder;
}

interface Usage {
  readonly cpu: number;
  readonly wall: number;
  /** Bytes. */
  readonly peak: number;
}

interface Measured extends Usage {
  readonly phases: ReadonlyMap<string, Usage>;
}

/** Runs a command under GNU time; `onLine` is called with each line of its progress and the process's id. */
async function measured(command: readonly string[], onLine: (line: string, pid: number) => void = () => undefined): Promise<Usage> {
  const report = join(tmpdir(), `dualfocus-time-${process.pid}`);
  const child = spawn("/usr/bin/time", ["-q", "-o", report, "-f", "%U %S %e %M", ...command], { stdio: ["ignore", "ignore", "pipe"] });
  let [rest, errors] = ["", ""];
  const list = `/proc/${child.pid ?? 0}/task/${child.pid ?? 0}/children`;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop() as string;
    const pid = existsSync(list) ? Number(readFileSync(list, "utf8").trim().split(" ")[0]) : NaN;
    for (const line of lines) onLine(line, pid);
  });
  const status = await new Promise((done, fail) => child.on("close", done).on("error", fail));
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${String(status)}:\n${errors}`);
  const [user = NaN, system = NaN, wall = NaN, kilobytes = NaN] = readFileSync(report, "utf8").trim().split(" ").map(Number);
  rmSync(report);
  return { cpu: user + system, wall, peak: 1024 * kilobytes };
}

/** Processor time so far and the largest memory since it was last asked; undefined once the process has ended. */
function usageOf(pid: number): { readonly cpu: number; readonly peak: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    writeFileSync(`/proc/${pid}/clear_refs`, "5"); // the peak starts again
    return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, peak: 1024 * Number(peak) };
  } catch {
    return undefined;
  }
}

async function measureCommand(
  main: string,
  folder: string,
  { output = `${folder}-depth`, more = [] as readonly string[] } = {},
): Promise<Measured> {
  const phases = new Map<string, Usage>();
  let [cpu, wall] = [0, performance.now()];
  const start = wall;
  const note = (name: string, now: { readonly cpu: number; readonly peak: number }): void => {
    const { cpu: sum = 0, wall: waited = 0, peak = 0 } = phases.get(name) ?? {};
    const time = performance.now();
    phases.set(name, { cpu: sum + now.cpu - cpu, wall: waited + (time - wall) / 1000, peak: Math.max(peak, now.peak) });
    [cpu, wall] = [now.cpu, time];
  };
  const command = [process.execPath, main, "depth", folder, "-o", output, "--force", "--device", "cpu"];
  const options = ["--model", option("model", "small"), "--threads", option("threads", "0"), "--fill", option("fill", "on"), ...more];
  const total = await measured([...command, ...options], (line, pid) => {
    const name = line.startsWith("device:") ? "start" : /^(\w+): done in/.exec(line)?.[1];
    const now = name === undefined ? undefined : usageOf(pid);
    if (name !== undefined && now) note(name, now);
  });
  const peak = Math.max(total.peak, ...[...phases.values()].map((phase) => phase.peak)); // the last phase's, as each starts again
  const counted = [...phases.values()].reduce((sum, phase) => sum + phase.cpu, 0);
  phases.set("end", { cpu: Math.max(0, total.cpu - counted), wall: Math.max(0, total.wall - (wall - start) / 1000), peak: total.peak });
  return { cpu: total.cpu, wall: total.wall, peak, phases };
}

/** Decoding every file once with sharp, and nothing else. */
const decoded = (folder: string): Promise<Usage> => {
  const files = JSON.stringify(imagesIn(folder));
  const script = `const sharp = require(${JSON.stringify(join(ROOT, "node_modules", "sharp"))});
    (async () => { for (const file of ${files}) await sharp(file).removeAlpha().raw().toBuffer(); })();`;
  return measured([process.execPath, "-e", script]);
};

/** The stackers' own commands, with a depth map where they make one. */
async function stackers(folder: string): Promise<[string, Usage][]> {
  const files = imagesIn(folder);
  const out = mkdtempSync(join(tmpdir(), "dualfocus-stackers-"));
  const isThere = (name: string): boolean => spawnSync(name, ["--version"]).error === undefined;
  const found: [string, Usage][] = [];
  try {
    if (isThere("focus-stack")) {
      const outputs = [`--output=${join(out, "aif.png")}`, `--depthmap=${join(out, "depth.png")}`, "--no-opencl"];
      found.push(["focus-stack, with a depth map", await measured(["focus-stack", ...outputs, ...files])]);
    }
    if (isThere("enfuse")) {
      const weights = ["--exposure-weight=0", "--saturation-weight=0", "--contrast-weight=1", "--hard-mask"];
      found.push(["enfuse, without alignment and depth", await measured(["enfuse", ...weights, "-o", join(out, "aif.png"), ...files])]);
    }
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
  return found;
}

const middle = (runs: readonly Measured[]): Measured => runs.toSorted((a, b) => a.cpu - b.cpu)[runs.length >> 1] as Measured;

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(0)} %`;
const row = (...cells: (string | number)[]): string => `| ${cells.join(" | ")} |\n`;

function phaseTable(name: string, { cpu, wall, phases, peak }: Measured): string {
  const lines = [...phases].map(([phase, usage]) =>
    row(phase, usage.cpu.toFixed(2), percent(usage.cpu, cpu), usage.wall.toFixed(2), percent(usage.wall, wall), megabytes(usage.peak)),
  );
  return [
    `\n${name}\n\n`,
    row("phase", "CPU s", "share", "wall s", "share", "peak memory"),
    row("---", "---:", "---:", "---:", "---:", "---:"),
    ...lines,
    row("**whole**", cpu.toFixed(2), "", wall.toFixed(2), "", megabytes(peak)),
  ].join("");
}

/** What the command saves by itself, and depth as numbers, to compare two versions. */
const SAVE = ["--save", "depth16,depth,color,aif,confidence,npy"];

/** Over all pixels, in planes: a depth between two focus distances is a plane index between theirs. Infinite where only one is known. */
function largestDifference(outputs: readonly string[]): number {
  const [one, two] = outputs.map((folder) => decodeNpy(readFileSync(join(folder, "depth.npy"))).data) as [NumericData, NumericData];
  const { distances } = JSON.parse(readFileSync(join(outputs[0] as string, "result.json"), "utf8")) as {
    readonly distances: readonly { readonly value: number; readonly unit: Unit }[];
  };
  const planes = distances.map(({ value, unit }) => (isLength(unit) ? value / PER_METRE[unit] : value)); // as depth is: lengths in metres
  const planeOf = (depth: number): number => {
    let n = 0;
    while (n < planes.length - 2 && depth > (planes[n + 1] as number)) n++;
    const [from, to] = [planes[n] as number, planes[n + 1] as number];
    return n + (depth - from) / (to - from);
  };
  let most = 0;
  for (let i = 0; i < one.length; i++) {
    const [a, b] = [Number(one[i]), Number(two[i])];
    if (Number.isNaN(a) && Number.isNaN(b)) continue;
    most = Math.max(most, Number.isNaN(a) || Number.isNaN(b) ? Infinity : Math.abs(planeOf(a) - planeOf(b)));
  }
  return most;
}

type NumericData = ReturnType<typeof decodeNpy>["data"];

/** What package.json says is the command. */
function commandOf(root: string): string {
  const { bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly bin: { readonly dualfocus: string } };
  return join(root, bin.dualfocus);
}

const main = commandOf(ROOT);
const before = option("before", "");
const versions = [...(before === "" ? [] : [commandOf(resolve(before))]), main];

async function compareCases(root: string): Promise<void> {
  for (const name of option("cases", "desk,10x3.1").split(",")) {
    const folder = await stackOf(name, root);
    const runs = versions.map((): Measured[] => []);
    const outputs = versions.map((_, i) => `${root}/depth-${i}`);
    for (let round = 0; round < Number(option("rounds", "1")); round++)
      for (const [i, version] of versions.entries())
        runs[i]?.push(await measureCommand(version, folder, { output: outputs[i] as string, more: SAVE }));
    const [now, then] = [middle(runs.at(-1) as Measured[]), before === "" ? undefined : middle(runs[0] as Measured[])];
    if (then) process.stdout.write(phaseTable(`${name}, before`, then));
    process.stdout.write(phaseTable(name, now));
    if (then) process.stdout.write(`\nCPU time before / now ${(then.cpu / now.cpu).toFixed(2)}, wall ${(then.wall / now.wall).toFixed(2)}\n`); // prettier-ignore
    if (then) process.stdout.write(`largest difference of the depth ${largestDifference(outputs).toFixed(4)} planes\n`);
    const others: [string, Usage][] = [["sharp, every file decoded once", await decoded(folder)], ...(await stackers(folder))];
    for (const [what, { cpu, wall, peak }] of others)
      process.stdout.write(`${what}: ${cpu.toFixed(2)} CPU s, ${wall.toFixed(2)} s, ${megabytes(peak)}\n`);
  }
}

/** Time ∝ planesᵏ and pixelsᵏ; the time of the start, which is the same for all, is left out. */
async function growth(root: string): Promise<void> {
  const measure = async (given: Case): Promise<number> => {
    const { cpu, phases } = await measureCommand(main, await stackOf(`${given.planes}x${given.megapixels}`, root));
    const seconds = cpu - (phases.get("start")?.cpu ?? 0);
    process.stdout.write(`${given.planes} × ${given.megapixels} MP: ${seconds.toFixed(2)} CPU s\n`);
    return seconds;
  };
  const planes = [5, 10, 20, 40];
  const megapixels = [1, 3, 12, 24];
  const overPlanes = [];
  for (const x of planes) overPlanes.push({ x, seconds: await measure({ planes: x, megapixels: 1 }), group: "" });
  const overPixels = [];
  for (const x of megapixels) overPixels.push({ x, seconds: await measure({ planes: 6, megapixels: x }), group: "" });
  process.stdout.write(`CPU time grows with planes^${growthExponent(overPlanes)?.toFixed(2)}, pixels^${growthExponent(overPixels)?.toFixed(2)}\n`); // prettier-ignore
}

/** Many stacks in one call, which overlaps them, against one call for each. */
async function batch(root: string, count: number): Promise<void> {
  const whole = join(root, "batch");
  mkdirSync(whole);
  const [name = "desk"] = option("cases", "desk").split(",");
  const one = await stackOf(name, root);
  for (let n = 0; n < count; n++) cpSync(one, join(whole, `stack_${n}`), { recursive: true });
  const together = await measureCommand(main, whole, { more: ["--batch"] });
  const [single, older] = [await measureCommand(main, one), before === "" ? undefined : await measureCommand(versions[0] as string, whole, { more: ["--batch"] })]; // prettier-ignore
  process.stdout.write(`${count} × ${name} with --batch: ${together.wall.toFixed(1)} s, ${together.cpu.toFixed(1)} CPU s, ${megabytes(together.peak)}\n`); // prettier-ignore
  process.stdout.write(`one stack × ${count}: ${(count * single.wall).toFixed(1)} s, ${(count * single.cpu).toFixed(1)} CPU s\n`);
  if (older) process.stdout.write(`before, with --batch: ${older.wall.toFixed(1)} s, ${older.cpu.toFixed(1)} CPU s; wall before / now ${(older.wall / together.wall).toFixed(2)}\n`); // prettier-ignore
}

const root = mkdtempSync(join(tmpdir(), "dualfocus-pipeline-"));
try {
  if (option("growth", "") !== "") await growth(root);
  else if (option("batch", "") !== "") await batch(root, Number(option("batch", "")));
  else await compareCases(root);
} finally {
  rmSync(root, { recursive: true, force: true });
}
