// Runs the tests: `node scripts/runTests.js --help` says which.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compiled } from "./typescript/hooks.js";

const HELP = `npm test [-- [--processors] WORD...]

  npm test                     every test: about 12 minutes of processor time
  npm test -- unit             the fast half: no commands, no server, no browser, no other processes; 3 minutes on two cores
  npm test -- model losses     test files whose path holds one of these words
  npm test -- unit losses      those of them that belong to the fast half
  npm test -- --processors     what computes with libtorch, once for each processor that libtorch, oneDNN and OpenBLAS can be made to
                               believe they run on; with words, those files only

One file with another runner's options: node --import tsx --test test/losses/losses.test.ts
`;

/** `unit` leaves out these folders, and files anywhere that start a browser or other processes. */
const LARGE = /^test\/(cli|queue|serve|reproduce|web\/(?!unit\/))/;
const STARTS_OTHERS = /child_process|withPage|createProcessRunner|spawnProcesses/;

/** What test files hold whose numbers come from libtorch. */
const ON_LIBTORCH = /torch\/|runTraining|trainCommand|"train"|smoke/;

/** Kernels as processors without AVX-512, or from other makers, get them. oneDNN read DNNL_… up to 2.x, and reads ONEDNN_… since. */
const oneDnn = (isa) => ({ ONEDNN_MAX_CPU_ISA: isa, DNNL_MAX_CPU_ISA: isa });
const PROCESSORS = {
  "this one": {},
  "ATen without vectors": { ATEN_CPU_CAPABILITY: "default" },
  "ATen AVX2": { ATEN_CPU_CAPABILITY: "avx2" },
  "oneDNN AVX2": oneDnn("AVX2"),
  "OpenBLAS Haswell": { OPENBLAS_CORETYPE: "HASWELL" },
  "OpenBLAS Zen": { OPENBLAS_CORETYPE: "ZEN" },
  "all AVX2": { ATEN_CPU_CAPABILITY: "avx2", ...oneDnn("AVX2"), OPENBLAS_CORETYPE: "HASWELL" },
};

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const options = process.argv.slice(2).filter((word) => word.startsWith("--"));
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
if (options.includes("--help")) {
  process.stdout.write(HELP);
  process.exit(0);
}
const unknown = options.find((option) => option !== "--processors");
if (unknown) fail(`${unknown} is not an option; --help lists them`);

const everyProcessor = options.includes("--processors");
const files = chosenFiles();
if (files.length === 0) fail(`no test file matches ${words.join(", ")}`);
if (files.some((file) => /web/.test(file))) runOrExit(["scripts/build.js"]); // the page's tests look at the page as it is built
for (const folder of ["src", "test", "web", "bench", "scripts"]) await Promise.all(typescript(folder).map(compiled)); // once, not in every process

if (!everyProcessor) process.exitCode = runTests({});
else
  for (const [name, settings] of Object.entries(PROCESSORS)) {
    console.log(`\n== ${name}: ${Object.entries(settings).map((pair) => pair.join("=")).join(" ")}`); // prettier-ignore
    process.exitCode = Math.max(process.exitCode ?? 0, runTests(settings));
  }

function chosenFiles() {
  const [named, unit] = [words.filter((word) => word !== "unit"), words.includes("unit")];
  const chosen = filesBelow("test")
    .filter((file) => file.endsWith(".test.ts"))
    .filter((file) => named.length === 0 || named.some((word) => file.includes(word)))
    .filter((file) => !unit || !isLarge(file))
    .filter((file) => !everyProcessor || named.length > 0 || ON_LIBTORCH.test(textOf(file)));
  return [...chosen.filter(isLarge), ...chosen.filter((file) => !isLarge(file))]; // the long ones first: none runs alone at the end
}

function isLarge(file) {
  return LARGE.test(file) || STARTS_OTHERS.test(textOf(file));
}

function textOf(file) {
  return readFileSync(join(root, file), "utf8");
}

/** The exit status. */
function runTests(settings) {
  const [start, before] = [performance.now(), childSeconds()];
  const together = Math.min(8, Math.max(3, Math.floor(availableParallelism() / 2))); // on two processors three: some tests only wait
  const loader = pathToFileURL(join(root, "scripts", "typescript", "register.js")).href;
  const args = ["--import", loader, join(root, "scripts", "runFiles.js"), String(together), ...files];
  const env = { OMP_WAIT_POLICY: "passive", ...process.env, ...settings }; // threads that wait leave the processor to the tests beside them
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit", cwd: root, env });
  const minutes = (seconds) => `${(seconds / 60).toFixed(1)} minutes`;
  const used = before === undefined ? "" : `, ${minutes(childSeconds() - before)} of processor time`;
  console.log(`${files.length} test files: ${minutes((performance.now() - start) / 1000)}${used}`);
  return status ?? 1;
}

/** Processor time of all processes that this one started and waited for, and of theirs [s]; undefined where there is no /proc. */
function childSeconds() {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
    return (Number(fields[13]) + Number(fields[14])) / 100; // cutime and cstime, in hundredths on every Linux
  } catch {
    return undefined;
  }
}

function runOrExit(args) {
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit", cwd: root });
  if (status !== 0) process.exit(status ?? 1);
}

function typescript(folder) {
  return filesBelow(folder).filter((file) => /\.tsx?$/.test(file)).map((file) => join(root, file)); // prettier-ignore
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
