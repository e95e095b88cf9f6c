// Builds build/dualfocus.node, the libtorch addon, from native/*.cc (and native/*.cu where CUDA's compiler is found).
// It takes the first libtorch it finds: $TORCH_PATH, then the PyTorch of `python3`, then Debian's libtorch-dev.
// Needs nothing from npm but the headers of node-api-headers ($NODE_API_HEADERS or .carry/node-api-headers/include do as well).
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { atOnce } from "./atOnce.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sources = join(root, "native");
const objects = join(root, "build", "native");
const compiledHeaders = join(objects, "headers"); // only while the build runs
const output = join(root, "build", "dualfocus.node");

class BuildError extends Error {}

const firstExisting = (paths) => paths.find((path) => path !== undefined && existsSync(path));

/** What a command prints, or undefined if it does not exist or fails. */
function ask(command, args) {
  const { status, stdout } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function nodeHeaders() {
  const include = firstExisting([
    process.env.NODE_API_HEADERS,
    join(root, "node_modules", "node-api-headers", "include"),
    join(root, ".carry", "node-api-headers", "include"),
    join(dirname(dirname(process.execPath)), "include", "node"),
  ]);
  if (include) return include;
  throw new BuildError("no Node-API headers: run `npm ci`, or set NODE_API_HEADERS to the include folder of node-api-headers");
}

/** A PyTorch installation's own headers and libraries. */
function pytorch(path) {
  const include = join(path, "include");
  const lib = join(path, "lib");
  if (!existsSync(join(include, "ATen", "ATen.h")) || !existsSync(join(lib, "libtorch_cpu.so"))) return undefined;
  return {
    name: `PyTorch in ${path}`,
    includes: [include, join(include, "torch", "csrc", "api", "include")],
    lib,
    linkFlags: [`-L${lib}`, `-Wl,-rpath,${lib}`],
    cuda: existsSync(join(lib, "libtorch_cuda.so")),
    packages: dirname(path),
  };
}

function debian() {
  const lib = "/usr/lib/x86_64-linux-gnu";
  if (!existsSync("/usr/include/ATen/ATen.h") || !existsSync(join(lib, "libtorch_cpu.so"))) return undefined;
  return { name: "Debian's libtorch", includes: ["/usr/include/torch/csrc/api/include"], lib, linkFlags: [], cuda: false };
}

function findTorch() {
  if (process.env.TORCH_PATH) {
    const found = pytorch(process.env.TORCH_PATH);
    if (!found) throw new BuildError(`TORCH_PATH=${process.env.TORCH_PATH} has no include/ATen/ATen.h and lib/libtorch_cpu.so`);
    return found;
  }
  const script = "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')";
  const path = ask("python3", ["-c", script]);
  const found = (path && pytorch(path)) || debian();
  if (found) return found;
  throw new BuildError(
    [
      "no libtorch found. Install it in one of these ways:",
      "  Debian/Ubuntu:  apt-get install g++ libtorch-dev libopenblas0-pthread libgloo-dev",
      "  PyTorch:        pip install torch, then run this again with its python3 on the PATH",
      "  elsewhere:      TORCH_PATH=/path/to/torch (the folder with include/ and lib/)",
      "Inference does not need it: `dualfocus depth` runs on ONNX Runtime.",
    ].join("\n"),
  );
}

const cudaFolders = () => [process.env.CUDA_HOME, process.env.CUDA_PATH, "/usr/local/cuda"].filter((path) => path && existsSync(path));

/** CUDA's headers come with the toolkit, or with the nvidia packages next to PyTorch. */
function cudaIncludes(torch) {
  const wheels = join(torch.packages ?? "", "nvidia");
  const fromWheels = existsSync(wheels) ? readdirSync(wheels).map((name) => join(wheels, name, "include")) : [];
  return [...cudaFolders().map((path) => join(path, "include")), ...fromWheels].filter((path) => existsSync(path));
}

const findNvcc = () => firstExisting(cudaFolders().map((path) => join(path, "bin", "nvcc"))) ?? ask("which", ["nvcc"]);

/** libtorch's std::string is the new one when its error class takes it. */
function newStrings(torch) {
  const library = readFileSync(join(torch.lib, "libc10.so"));
  return (
    library.includes("_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx11") ||
    library.includes("_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11")
  );
}

/**
 * The collectives this libtorch can be used with: Gloo where its own headers are (Debian's do not fit PyTorch's), NCCL with
 * CUDA (unless DUALFOCUS_NCCL=0).
 */
function collectives(torch, includes) {
  const has = (header) => [...includes, ...(torch.packages ? [] : ["/usr/include"])].some((path) => existsSync(join(path, header)));
  const flags = [];
  if (has("gloo/config.h") && has("torch/csrc/distributed/c10d/ProcessGroupGloo.hpp")) flags.push("-DUSE_C10D_GLOO");
  if (torch.cuda && has("nccl.h") && process.env.DUALFOCUS_NCCL !== "0") flags.push("-DUSE_C10D_NCCL");
  return flags;
}

function plan() {
  const torch = findTorch();
  const nvcc = torch.cuda ? findNvcc() : undefined;
  const includes = [...torch.includes, ...(torch.cuda ? cudaIncludes(torch) : [])];
  const defines = [
    `-D_GLIBCXX_USE_CXX11_ABI=${newStrings(torch) ? 1 : 0}`,
    "-DUSE_DISTRIBUTED",
    "-DUSE_C10D",
    ...(torch.cuda ? ["-DDUALFOCUS_CUDA"] : []),
    ...(nvcc ? ["-DDUALFOCUS_NVCC"] : []),
    ...collectives(torch, includes),
  ];
  const common = [...defines, `-I${nodeHeaders()}`, ...includes.flatMap((path) => ["-isystem", path])];
  const compiler = process.env.CXX ?? "g++";
  if (!ask(compiler, ["--version"])) throw new BuildError(`no C++ compiler: ${compiler} does not run (apt-get install g++, or set CXX)`);
  const cxx = ["-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-psabi", "-pthread", ...common];
  const architecture = process.env.DUALFOCUS_CUDA_ARCH ?? "native";
  const cuda = [
    "-std=c++20",
    "-O3",
    `-arch=${architecture}`,
    "--expt-relaxed-constexpr",
    "-Xcompiler",
    "-fPIC,-fvisibility=hidden",
    ...common,
  ];
  return { torch, compiler, nvcc, cxx, cuda };
}

const stamp = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

/**
 * An object is up to date if it is newer than all its inputs and was made by the same command. Where the compiler did not accept the compiled
 * header, it lists the file that stands for it, which is gone by now.
 */
function upToDate({ object, depfile, commandFile, command }) {
  if (!existsSync(object) || !existsSync(depfile) || !existsSync(commandFile)) return false;
  if (readFileSync(commandFile, "utf8") !== command.join(" ")) return false;
  const inputs = inputsOf(depfile).filter((input) => !input.startsWith(compiledHeaders + sep));
  return inputs.every((input) => existsSync(input) && stamp(input) <= stamp(object));
}

/** The files that a compiler's list of dependencies names. */
function inputsOf(depfile) {
  const [, list = ""] = readFileSync(depfile, "utf8").split(/:\s/, 2);
  return list.replaceAll("\\\n", " ").split(/\s+/).filter(Boolean);
}

function job(file, { compiler, nvcc, cxx, cuda }) {
  const object = join(objects, `${file}.o`);
  const depfile = join(objects, `${file}.d`);
  const tool = file.endsWith(".cu") ? [nvcc, ...cuda] : [compiler, ...cxx];
  const command = [...tool, "-MMD", "-MF", depfile, "-c", join(sources, file), "-o", object];
  return { file, object, depfile, commandFile: join(objects, `${file}.command`), command };
}

function run([tool, ...args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(tool, args, { stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new BuildError(`failed: ${[tool, ...args].join(" ")}`))));
  });
}

/** From this many C++ files on, compiling libtorch's headers once is faster than reading them for every file. */
const WORTH_PRECOMPILING = 6;

/**
 * Calls `body` with the flags by which a C++ file uses a precompiled native/precompiled.h, and with the files that went into it; with
 * undefined where that is not worth it. The compiled header takes 300 MB and is removed when `body` is done.
 */
async function withHeaders(jobs, { compiler, cxx }, body) {
  if (jobs.filter(({ file }) => file.endsWith(".cc")).length < WORTH_PRECOMPILING) return body(undefined);
  mkdirSync(compiledHeaders, { recursive: true });
  try {
    const [header, depfile] = [join(compiledHeaders, "precompiled.h"), join(compiledHeaders, "precompiled.d")];
    writeFileSync(header, `#include "${join(sources, "precompiled.h")}"\n`); // read where the compiler does not accept the compiled one
    console.error("  precompiled.h");
    await run([compiler, ...cxx, "-MMD", "-MF", depfile, "-x", "c++-header", join(sources, "precompiled.h"), "-o", `${header}.gch`]);
    return await body({ flags: ["-include", header], inputs: inputsOf(depfile) });
  } finally {
    rmSync(compiledHeaders, { recursive: true, force: true });
  }
}

async function compileOne({ file, depfile, commandFile, command }, headers) {
  console.error(`  ${file}`);
  if (headers && file.endsWith(".cc")) {
    await run([...command, ...headers.flags]);
    appendFileSync(depfile, ` ${headers.inputs.join(" ")}\n`); // the compiler does not list what was precompiled
  } else await run(command);
  writeFileSync(commandFile, command.join(" "));
}

/** Bytes that compiling one file takes at most, about. */
const JOB_MEMORY = 1.5e9;

/** After a failure no other file is begun; those that are being compiled still need the headers, so they are waited for. */
async function compile(jobs, headers) {
  const waiting = [...jobs];
  const failures = [];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      await compileOne(next, headers).catch((error) => {
        failures.push(error);
        waiting.length = 0;
      });
  };
  const count = Number(process.env.DUALFOCUS_JOBS ?? atOnce(JOB_MEMORY));
  await Promise.all(Array.from({ length: count }, worker));
  if (failures.length > 0) throw failures[0];
}

/** Linked under another name and renamed, so that a running process keeps the file it has open. */
async function link(all, { torch, compiler }) {
  const cuda = torch.cuda ? ["-ltorch_cuda", "-lc10_cuda"] : [];
  const libraries = ["-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", ...cuda, "-lc10"];
  const draft = `${output}.${process.pid}`;
  await run([compiler, "-shared", "-pthread", "-o", draft, ...all.map(({ object }) => object), ...torch.linkFlags, ...libraries]);
  renameSync(draft, output);
}

async function build() {
  const found = plan();
  mkdirSync(objects, { recursive: true });
  rmSync(compiledHeaders, { recursive: true, force: true }); // of a build that was interrupted
  const wanted = (file) => file.endsWith(".cc") || (file.endsWith(".cu") && found.nvcc !== undefined);
  const all = readdirSync(sources)
    .filter(wanted)
    .map((file) => job(file, found));
  const stale = all.filter((each) => !upToDate(each));
  console.error(`Building the addon against ${found.torch.name}${found.torch.cuda ? " with CUDA" : ""}`);
  await withHeaders(stale, found, (headers) => compile(stale, headers));
  if (stale.length > 0 || all.some(({ object }) => stamp(object) > stamp(output))) await link(all, found);
  console.error(`${output} is ${stale.length > 0 ? "built" : "up to date"}`);
}

try {
  await build();
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error);
  process.exitCode = 1;
}
