import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, mock, test } from "node:test";
import { CommanderError } from "commander";

import { UserError } from "../../src/system/userError.ts";
import { exportCommand } from "../../src/cli/export.ts";
import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import { dfv, type NetworkConfig } from "../../src/model/config.ts";
import { initialWeights } from "../../src/model/state.ts";
import { DEFAULT_ERROR_MODEL, type NetworkFacts } from "../../src/network/facts.ts";
import { readModel, writeModel } from "../../src/network/weightsFile.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { randomImages, tiny } from "../helpers/network.ts";
import { reported } from "../helpers/command.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-export-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
const at = (name: string): string => join(folder, name);

/** A weights file of this network. */
function modelFile(name: string, config: NetworkConfig, facts: NetworkFacts = { licence: "for a test" }): string {
  const model = { config, weights: initialWeights(config, createRandom(1)), facts };
  writeFileSync(at(name), writeModel(model, { storage: "f32" }));
  return at(name);
}

const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

/** The whole program, in a process of its own: a second or two. */
function dualfocus(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, main, "export", ...args], { encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

/** The command in this process; throws what the program would report. */
async function exporting(...args: string[]): Promise<void> {
  const quiet = { writeOut: () => undefined, writeErr: () => undefined };
  const write = process.stdout.write.bind(process.stdout);
  const print = mock.method(process.stdout, "write", (data: string | Uint8Array) => typeof data === "string" || write(data)); // bytes are the test runner's
  try {
    await exportCommand().exitOverride().configureOutput(quiet).parseAsync(args, { from: "user" }).catch(reported);
  } finally {
    print.mock.restore();
  }
}

/** The command must fail with this exit code and say this. */
async function refuses(exitCode: number, message: RegExp, ...args: string[]): Promise<void> {
  await assert.rejects(exporting(...args), (error) => {
    const code = error instanceof UserError ? error.exitCode : error instanceof CommanderError ? 2 : 1;
    const said = error instanceof UserError ? `${error.message}\n${error.remedy ?? ""}` : (error as Error).message;
    assert.equal(code, exitCode, said);
    assert.match(said, message);
    return true;
  });
}

/** Depth of a made-up stack from an exported file. */
async function depthOf(file: string, { N, H, W }: { N: number; H: number; W: number }): Promise<Float32Array> {
  const session = await createOnnxSession(readFileSync(file), { threads: 1 });
  const { depth } = await session.run({
    images: { data: randomImages({ B: 1, N, H, W }), shape: [1, N, 3, H, W] },
    focusDistances: { data: Float32Array.from({ length: N }, (_, n) => n + 1), shape: [1, N] },
  });
  await session.dispose();
  assert.deepEqual(depth?.shape, [1, 1, H, W]);
  return depth.data as Float32Array;
}

const weights = modelFile("tiny.safetensors", tiny);

test("an exported file loads in ONNX Runtime and runs at two sizes and plane counts; f16 halves it and changes little", async () => {
  const { code, out, err } = dualfocus("--model", weights, "-o", at("tiny.onnx"), "--json");
  assert.equal(code, 0, err);
  const bytes = readFileSync(at("tiny.onnx")).length;
  assert.deepEqual(JSON.parse(out), { file: at("tiny.onnx"), bytes, storage: "f32" });
  const depth = await depthOf(at("tiny.onnx"), { N: 3, H: 64, W: 96 });
  assert.ok(depth.every((value) => value >= 1 && value <= 3));
  await depthOf(at("tiny.onnx"), { N: 5, H: 96, W: 32 });

  await exporting("--model", weights, "-o", at("half.onnx"), "--storage", "f16");
  assert.ok(readFileSync(at("half.onnx")).length < 0.7 * bytes);
  assertClose(await depthOf(at("half.onnx"), { N: 3, H: 64, W: 96 }), depth, 0.01);
});

test("--fields adds Γ, z* and θ_grad(z*); --planes and --size fix the inputs", async () => {
  await exporting("--model", weights, "-o", at("fields.onnx"), "--fields", "--planes", "2", "--size", "64x32");
  const session = await createOnnxSession(readFileSync(at("fields.onnx")), { threads: 1 });
  assert.deepEqual(session.outputNames.slice(3), ["gradientX", "gradientY", "surface", "surfaceGradientX", "surfaceGradientY"]);
  await session.dispose();
  await depthOf(at("fields.onnx"), { N: 2, H: 32, W: 64 });
  await assert.rejects(depthOf(at("fields.onnx"), { N: 3, H: 32, W: 64 }), /ONNX Runtime/);
});

test("weights are stored anew as int8: about half of this small file, the same network", async () => {
  await exporting("--model", weights, "-o", at("small.safetensors"), "--storage", "int8");
  const stored = readFileSync(at("small.safetensors"));
  const model = readModel(stored, "small");
  assert.deepEqual(model.config, tiny);
  assert.equal(model.facts.licence, "for a test");
  assert.ok(stored.length < 0.6 * readFileSync(weights).length);
  await refuses(2, /f32 or f16\n.*--storage f16/, "--model", weights, "-o", at("int8.onnx"), "--storage", "int8");
});

test("--average-with writes the mean of two networks' weights, without their calibration and under the terms of both", async () => {
  const facts = {
    average: "dioptres",
    licence: "Apache-2.0",
    errorModel: DEFAULT_ERROR_MODEL,
    training: [{ data: "render", steps: 7, minutes: 1, seed: 0 }],
  } as const;
  const shifted = (name: string, by: number, own: NetworkFacts): string => {
    const initial = [...initialWeights(tiny, createRandom(1))].map(
      ([key, { shape, data }]) => [key, { shape, data: data.map((value) => value + by) }] as const,
    );
    writeFileSync(at(name), writeModel({ config: tiny, weights: new Map(initial), facts: own }, { storage: "f32" }));
    return at(name);
  };
  const before = shifted("before.safetensors", 0, facts);
  const further = shifted("further.safetensors", 0.5, {
    ...facts,
    licence: "terms of a set",
    training: [...facts.training, ...facts.training],
  });
  await exporting("--model", further, "--average-with", before, "-o", at("mean.safetensors"));
  const mean = readModel(readFileSync(at("mean.safetensors")), "mean");
  for (const [name, { data }] of readModel(readFileSync(before), "before").weights)
    assertClose(
      mean.weights.get(name)?.data as Float32Array,
      data.map((value) => value + 0.25),
      1e-6,
    );
  assert.deepEqual(mean.facts, {
    average: "dioptres",
    licence: "terms of a set and Apache-2.0",
    training: [...facts.training, ...facts.training],
  });

  await exporting(
    "--model",
    shifted("own.safetensors", 0.5, { average: "dioptres" }),
    "--average-with",
    before,
    "-o",
    at("mean.safetensors"),
  );
  assert.equal(readModel(readFileSync(at("mean.safetensors")), "mean").facts.licence, "Apache-2.0");
  const to = ["-o", at("never.safetensors")];
  await refuses(2, /different networks\n.*the same one/, "--model", before, "--average-with", modelFile("other.safetensors", dfv), ...to);
  await refuses(2, /different units/, "--model", before, "--average-with", shifted("metres.safetensors", 0, { average: "metres" }), ...to);
  assert.ok(!existsSync(at("never.safetensors")));
});

test("DFV's graph wants its sizes, and has them with --planes and --size", async () => {
  const file = modelFile("dfv.safetensors", dfv);
  await refuses(2, /dfv's pooling windows depend on the stack's size\n.*--planes N and --size WxH/, "--model", file, "-o", at("dfv.onnx"));
  const sized = ["--model", file, "-o", at("dfv.onnx"), "--planes", "2", "--size", "64x64"];
  await exporting(...sized);
  await depthOf(at("dfv.onnx"), { N: 2, H: 64, W: 64 });
  await refuses(2, /no spatial constraint/, ...sized, "--fields");
});

test("a network no graph can hold is refused in words", async () => {
  const surface = { ...(tiny.surface as NonNullable<typeof tiny.surface>), solver: "dense" } as const;
  const file = modelFile("dense.safetensors", { ...tiny, surface });
  await refuses(3, /cannot be an ONNX graph: solve\(.*\n.*torch engine only/s, "--model", file, "-o", at("dense.onnx"));
  assert.ok(!existsSync(at("dense.onnx")));
});

test("bad weights files exit with 3 and name the file", async () => {
  writeFileSync(at("broken.safetensors"), readFileSync(weights).subarray(0, 1000));
  writeFileSync(at("text.safetensors"), "not weights at all");
  await refuses(3, /missing\.safetensors: there is no such file or folder/, "--model", at("missing.safetensors"), "-o", at("never.onnx"));
  await refuses(3, /broken\.safetensors: truncated/, "--model", at("broken.safetensors"), "-o", at("never.onnx"));
  const { code, out, err } = dualfocus("--model", at("text.safetensors"), "-o", at("never.onnx"));
  assert.deepEqual([code, out], [3, ""], err);
  assert.match(err, /text\.safetensors: not a \.safetensors file/);
  assert.ok(!existsSync(at("never.onnx")));
});

test("an output that cannot be written exits with 2, as other wrong usage, and nothing is left behind", async () => {
  mkdirSync(at("folder.onnx"));
  for (const output of [at("no/such/folder/x.onnx"), at("folder.onnx")])
    await refuses(2, /cannot be written.*\n.*another -o/s, "--model", weights, "-o", output);
  const to = ["--model", weights, "-o", at("x.onnx")];
  await refuses(2, /--model/, "-o", at("x.onnx"));
  await refuses(2, /--output/, "--model", weights);
  await refuses(2, /neither \.onnx nor \.safetensors/, "--model", weights, "-o", at("x.pt"));
  await refuses(2, /multiples of 32/, ...to, "--size", "65x64");
  await refuses(2, /2 or more/, ...to, "--planes", "1");
  assert.equal(dualfocus(...to, "--storage", "f8").code, 2);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("x.") || name.endsWith(".partial")),
    [],
  );
});

test("a licence can be stated for weights that state none, and not changed", async () => {
  const own = modelFile("own.safetensors", tiny, { average: "dioptres" });
  await exporting("--model", own, "--licence", "Apache-2.0", "-o", at("licensed.safetensors"));
  const { facts } = readModel(readFileSync(at("licensed.safetensors")), "licensed");
  assert.deepEqual(facts, { average: "dioptres", licence: "Apache-2.0" });
  await exporting("--model", at("licensed.safetensors"), "--licence", "Apache-2.0", "-o", at("again.safetensors"));
  await assert.rejects(
    exporting("--model", modelFile("theirs.safetensors", tiny), "--licence", "Apache-2.0", "-o", at("taken.safetensors")),
    (error: unknown) => error instanceof UserError && error.exitCode === 2 && error.message.includes('states the licence "for a test"'),
  );
  assert.ok(!existsSync(at("taken.safetensors")));
  await assert.rejects(exporting("--model", own, "--licence", " ", "-o", at("taken.safetensors")), /--licence: the name is empty/);
  await exporting("--model", own, "--licence", "Apache-2.0", "-o", at("licensed.onnx"));
  assert.ok(readFileSync(at("licensed.onnx")).includes("Apache-2.0"));
});
