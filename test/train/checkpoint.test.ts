import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { after, test } from "node:test";
import { readModel } from "../../src/network/weightsFile.ts";
import { writeAtomically } from "../../src/system/atomicFile.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { DualFocusError } from "../../src/errors.ts";
import { FormatError } from "../../src/io/formatError.ts";
import { decodeSafetensors, encodeSafetensors } from "../../src/io/safetensors.ts";
import { generateTextures } from "../../src/optics/texture/texture.ts";
import {
  averagedWeights,
  checkInitial,
  readCheckpoint,
  readInitial,
  restoreCheckpoint,
  saveCheckpoint,
  type Checkpoint,
} from "../../src/train/checkpoint.ts";
import { ConfigError, overrideConfig, type TrainConfig } from "../../src/train/config.ts";
import { openLog, readLog } from "../../src/train/log.ts";
import { smoke } from "../../src/train/presets.ts";
import { DivergedError } from "../../src/train/loop.ts";
import { runFiles, runTraining, type TrainRequest } from "../../src/train/run.ts";
import { createTrainer } from "../../src/train/trainer.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-checkpoint-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const config: TrainConfig = { ...smoke, budget: { steps: 9 }, logEvery: 1, evaluateEvery: 100 };
const bytesOf = ({ tensors }: Checkpoint): Map<string, string> =>
  new Map([...tensors].map(([name, { bytes }]) => [name, Buffer.from(bytes).toString("base64")]));

/** Runs in a folder of its own; `stopAt` ends it early, as SIGTERM does. */
async function run(name: string, { stopAt, checkpoint }: { stopAt?: number; checkpoint?: Checkpoint } = {}) {
  const stop = new AbortController();
  const progress = (line: string): void => {
    if (stopAt !== undefined && line.startsWith(`step ${stopAt} `)) stop.abort();
  };
  return runTraining({ config, folder: join(folder, name), device: "cpu", threads: 1, checkpoint, stop: stop.signal, progress });
}

test("a run that stops and resumes ends with the very weights, averages and moments of one that never stopped", async () => {
  const whole = await run("whole");
  const first = await run("parts", { stopAt: 5 });
  assert.deepEqual([first.step, first.stopped], [5, true]);
  const second = await run("parts", { checkpoint: await readCheckpoint(first.files.checkpoint) });
  assert.deepEqual([second.step, second.stopped], [9, false]);
  const [a, b] = [await readCheckpoint(whole.files.checkpoint), await readCheckpoint(second.files.checkpoint)];
  assert.deepEqual(bytesOf(b), bytesOf(a));
  assert.deepEqual(second.metrics, whole.metrics);
  const steps = readLog(second.files.log).map(({ step }) => step);
  assert.deepEqual([...new Set(steps)], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const shipped = readModel(readFileSync(second.files.weights), "weights");
  assert.deepEqual(shipped.config, config.model);
  const { average, planes, training } = shipped.facts;
  assert.deepEqual([average, planes, training?.[0]?.steps], ["dioptres", [3, 4], 9]);
});

test("a full disk is an error that leaves the file before whole", async () => {
  const file = join(folder, "full.safetensors");
  writeFileSync(file, "old");
  symlinkSync("/dev/full", `${file}.partial`); // every byte written there fails as on a full disk
  await assert.rejects(writeAtomically(file, new Uint8Array(100_000)), /cannot be written: the disk is full/);
  assert.equal(readFileSync(file, "utf8"), "old");
  assert.ok(!existsSync(`${file}.partial`));
  await writeAtomically(file, Buffer.from("new"));
  assert.equal(readFileSync(file, "utf8"), "new");
});

test("a cut-off or foreign file is refused by name", async () => {
  const { checkpoint, weights } = runFiles(join(folder, "whole"));
  await assert.rejects(readCheckpoint(weights), /weights\.safetensors: holds weights, but is not a checkpoint/);
  const cut = join(folder, "cut.safetensors");
  writeFileSync(cut, readFileSync(checkpoint));
  truncateSync(cut, 100_000);
  await assert.rejects(readCheckpoint(cut), /cut\.safetensors: truncated/);
});

test("one flipped bit anywhere is refused; a checkpoint of an older version, which has no checksum, is not", async () => {
  const { checkpoint } = runFiles(join(folder, "whole"));
  const good = readFileSync(checkpoint);
  const file = join(folder, "flipped.safetensors");
  for (const share of [0.0001, 0.02, 0.3, 0.6, 0.999999]) {
    const bytes = Buffer.from(good);
    const at = Math.floor(share * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ 4;
    writeFileSync(file, bytes);
    await assert.rejects(readCheckpoint(file), (error) => error instanceof FormatError && error.message.startsWith(`${file}: `));
  }
  const { tensors, metadata } = decodeSafetensors(good);
  const { kind = "", position = "" } = metadata;
  writeFileSync(file, encodeSafetensors({ tensors, metadata: { kind, position } }));
  assert.equal((await readCheckpoint(file)).step, 9);
});

test("a disk that is full when a line is logged is reported as such", () => {
  const file = join(folder, "log.jsonl");
  const log = openLog(file, { from: 0 });
  rmSync(file);
  symlinkSync("/dev/full", file); // not before it is opened: it can be read without end
  const write = (): void => {
    log({ step: 1, seconds: 1 });
  };
  assert.throws(write, (error) => error instanceof DualFocusError && /log\.jsonl: cannot be written: the disk is full/.test(error.message));
});

/** The lines of a run that is told to stop before it begins: it opens its data, saves and ends. */
async function opened(name: string, request: Pick<TrainRequest, "before" | "checkpoint" | "textures">): Promise<string[]> {
  const lines: string[] = [];
  const stop = AbortSignal.abort();
  const progress = (line: string): void => void lines.push(line);
  await runTraining({ config, folder: join(folder, name), device: "cpu", threads: 1, stop, progress, ...request });
  return lines;
}

test("a resumed run finds the data it was trained on, and refuses other data unless told to use it", async () => {
  const { count, size } = generateTextures();
  const textures = join(folder, "textures.bin");
  writeFileSync(textures, Buffer.alloc(3 * size * size));
  assert.deepEqual(await opened("textured", { textures }), [`${count + 1} textures`]);
  const read = (): Promise<Checkpoint> => readCheckpoint(runFiles(join(folder, "textured")).checkpoint);
  const checkpoint = await read();
  assert.deepEqual(checkpoint.trainedOn, { textures, textureCount: count + 1 });

  assert.deepEqual(await opened("textured", { checkpoint }), [`${count + 1} textures`]);
  assert.deepEqual((await read()).trainedOn, checkpoint.trainedOn);

  writeFileSync(textures, Buffer.alloc(2 * 3 * size * size));
  const both = new RegExp(`${count + 1} textures \\(.*textures\\.bin\\), but there are ${count + 2} now; .* name .*textures`);
  await assert.rejects(opened("textured", { checkpoint }), both);
  const [, warning = ""] = await opened("textured", { checkpoint, textures });
  assert.match(warning, new RegExp(`^warning: trained on ${count + 1} textures .* from now on ${count + 2}`));

  rmSync(textures);
  await assert.rejects(
    opened("textured", { checkpoint }),
    (error) =>
      error instanceof DualFocusError &&
      /textures\.bin: there is no such file or folder, where the textures of the run were/.test(error.message),
  );
  const { trainedOn, ...old } = checkpoint; // as older versions wrote it
  assert.ok(trainedOn);
  assert.deepEqual(await opened("old", { checkpoint: old }), [`${count} textures`]);
});

test("the weights of a run, resumed or not, say which runs led to them", async () => {
  const earlier = { data: "render", steps: 7, minutes: 0.1, seed: 3 };
  const { checkpoint, weights } = runFiles(join(folder, "history"));
  const training = async (file: string): Promise<readonly string[]> =>
    ((await readInitial(file)).facts.training ?? []).map(({ steps, seed }) => `${steps} of seed ${seed}`);
  await opened("history", { before: [earlier] });
  assert.deepEqual(await training(weights), ["7 of seed 3", `0 of seed ${config.seed}`]);
  await opened("history", { checkpoint: await readCheckpoint(checkpoint) });
  assert.deepEqual(await training(weights), ["7 of seed 3", `0 of seed ${config.seed}`]);
  assert.deepEqual(await training(checkpoint), await training(weights));
});

test("weights that the last update spoilt do not replace a good checkpoint", async () => {
  const { checkpoint: file, weights } = runFiles(join(folder, "parts"));
  const before = [readFileSync(file), readFileSync(weights)];
  const wild = { ...config, budget: { steps: 10 }, learningRate: { from: 1e37, to: 1e37, warmUpSteps: 0 } };
  const request = { config: wild, folder: join(folder, "parts"), device: "cpu", threads: 1, checkpoint: await readCheckpoint(file) };
  await assert.rejects(
    runTraining({ ...request, stop: new AbortController().signal, progress: () => undefined }),
    (error) => error instanceof DivergedError && /weights\..* holds .*e\+3\d after step 10/.test(error.message),
  );
  assert.deepEqual([readFileSync(file), readFileSync(weights)], before);
});

test("a moment that is no number is never written", async () => {
  const engine = createTorchEngine({ threads: 1 });
  const trainer = createTrainer({ engine, config });
  const file = join(folder, "moment.safetensors");
  const state = { engine, trainer, config, step: 4, seconds: 1 };
  const moment = [...trainer.adam.moments.values()].at(-1)?.second;
  assert.ok(moment);
  engine.compute("aten::fill_.Scalar", moment, 1e30).dispose(); // large, but Adam can go on from it
  await saveCheckpoint(file, state);
  const before = readFileSync(file);
  for (const spoilt of [NaN, Infinity]) {
    engine.compute("aten::fill_.Scalar", moment, spoilt).dispose();
    await assert.rejects(saveCheckpoint(file, state), new RegExp(`adam\\.second\\..* holds ${spoilt} after step 4`));
    assert.deepEqual(readFileSync(file), before);
  }
});

test("a checkpoint of another network is refused by the setting that was changed, or by its tensors", async () => {
  const engine = createTorchEngine({ threads: 1 });
  const checkpoint = await readCheckpoint(runFiles(join(folder, "whole")).checkpoint);
  const other = overrideConfig(config, ["model.head.width=16", "model.surface.solver=dense"]);
  const state = { engine, trainer: createTrainer({ engine, config: other }) };
  assert.throws(
    () => {
      restoreCheckpoint(checkpoint, { ...state, config: other });
    },
    (error) => error instanceof ConfigError && /model\.head\.width.*cannot change.* is \[8.*\], not \[16/.test(error.message),
  );
  assert.throws(
    () => {
      restoreCheckpoint(checkpoint, state);
    },
    (error) => error instanceof FormatError && /checkpoint\.safetensors: belongs to another network: weights\..* more$/.test(error.message),
  );
});

test("another run may start from a checkpoint's averaged weights, or from a weights file", async () => {
  const engine = createTorchEngine({ threads: 1 });
  const files = runFiles(join(folder, "whole"));
  const trainer = createTrainer({ engine, config });
  restoreCheckpoint(await readCheckpoint(files.checkpoint), { engine, trainer });
  const initial = await readInitial(files.checkpoint);
  assert.deepEqual(initial.weights, averagedWeights(engine, trainer.ema.averages));
  assert.deepEqual([...(await readInitial(files.weights)).weights.keys()].sort(), [...initial.weights.keys()].sort());
  checkInitial(initial.weights, config.model, "start.safetensors");
  assert.throws(
    () => {
      checkInitial(initial.weights, overrideConfig(config, ["model.encoder.widths=[16,16,32,32]"]).model, "start.safetensors");
    },
    (error) => error instanceof FormatError && /^start\.safetensors: .*(?: is \[.*){5}; and \d+ more$/.test(error.message),
  );
});

test("kill -9 at any moment leaves a checkpoint that loads", { timeout: 300_000 }, async () => {
  const where = join(folder, "killed");
  const program = `
    import { runTraining } from ${JSON.stringify(join(import.meta.dirname, "../../src/train/run.ts"))};
    import { smoke } from ${JSON.stringify(join(import.meta.dirname, "../../src/train/presets.ts"))};
    const config = { ...smoke, budget: { steps: 100000 }, saveEveryMinutes: 1e-6, logEvery: 1000, evaluateEvery: 100000 };
    await runTraining({ config, folder: ${JSON.stringify(where)}, device: "cpu", threads: 1, stop: new AbortController().signal, progress: () => {} });
  `;
  const child = spawn(process.execPath, [...process.execArgv, "--input-type=module", "-e", program], { stdio: "inherit" });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const { checkpoint } = runFiles(where);
  while (!existsSync(checkpoint) && child.exitCode === null) await setTimeout(50);
  await setTimeout(200 + 700 * Math.random()); // it saves after every step, so this falls into a save as often as not
  child.kill("SIGKILL");
  await ended;
  const { step, tensors } = await readCheckpoint(checkpoint);
  assert.ok(step >= 1 && tensors.size > 100);
});
