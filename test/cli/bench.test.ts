import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import type { Bench } from "../../src/bench/run.ts";
import { benchCases, withAdapter } from "../../src/cli/bench.ts";
import type { BenchRuntime } from "../../src/bench/runtime.ts";
import { UserError } from "../../src/system/userError.ts";
import { runCommand } from "../helpers/command.ts";

const main = join(import.meta.dirname, "../../src/cli/main.ts");

test("a tiny real run prints one JSON document with everything measured", () => {
  const args = [
    "bench",
    "--size",
    "64x64",
    "--planes",
    "2,3",
    "--grid",
    "10",
    "--batch-size",
    "2",
    "--repeats",
    "1",
    "--threads",
    "1",
    "--json",
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, main, ...args], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const { device, ceilings, rows, growth } = JSON.parse(stdout) as Bench;
  assert.equal(device, "cpu");
  assert.ok(ceilings.products > 1e8 && ceilings.copy > 1e7, JSON.stringify(ceilings));
  assert.deepEqual(
    rows.map(({ batch, planes, height, width, grid }) => [batch, planes, height, width, grid]),
    [
      [2, 2, 64, 64, undefined],
      [2, 3, 64, 64, undefined],
      [2, 2, 64, 64, 10],
    ],
  );
  for (const { median, p90, ofLimit, peakMemory, grid, stacksPerSecond } of rows) {
    assert.equal(stacksPerSecond, 2 / median);
    assert.ok(median > 0 && p90 >= median && ofLimit > 0, JSON.stringify(rows));
    assert.equal(grid === undefined ? (peakMemory ?? 0) > 1e6 : peakMemory, grid === undefined ? true : undefined);
  }
  assert.ok(Number.isFinite(growth[0]?.planes) && growth[0]?.pixels === undefined);
  assert.match(stderr, /bench: the machine's limits\nbench: 1 of 3, small 2 of 2×64×64/);
});

test("every model meets every size and number of planes; grids vary at the first, and not in dfv", () => {
  const sizes = [
    [32, 32],
    [64, 96],
  ] as const;
  const cases = benchCases({ model: ["small", "dfv"], size: sizes, planes: [3, 5], grid: [10, 14], batchSize: [1] });
  assert.equal(cases.length, 4 + 1 + 4); // 14 is small's own
  assert.deepEqual(cases[4], { model: "small", batch: 1, planes: 3, height: 32, width: 32, grid: 10 });
  const together = benchCases({ model: ["small"], size: sizes, planes: [3], grid: [10], batchSize: [2, 8] });
  assert.deepEqual(together.map(({ batch, height, grid }) => [batch, height, grid]), [[2, 32, undefined], [8, 32, undefined], [2, 64, undefined], [8, 64, undefined], [2, 32, 10]]); // prettier-ignore
});

test("wrong usage is refused with what is right", async (context) => {
  const cases: [args: string[], message: RegExp][] = [
    [["--size", "100x100"], /such as 384x576, multiples of 32/],
    [["--size", "big"], /such as 384x576/],
    [["--model", "huge"], /small, fine, base, dfv/],
    [["--planes", "1"], /2 or more/],
    [["--batch-size", "0"], /1 or more/],
    [["--model", "small,dfv", "--size", "64x96,64x32"], /--size 64x32: dfv takes images of 64x64 and more/],
    [["--repeats", "0"], /1 or more/],
    [["--device", "abacus"], /cpu, webgpu, cuda or cuda:N/],
    [["--device", "cuda:99"], /--device cuda:99: [^]*use --device cpu/],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await runCommand(context, "bench", ...args);
    assert.equal(code, 2);
    assert.match(err, message);
  }
});

test("WebGPU without an adapter is refused with what to do, not with the runtime's source files", async () => {
  const said = "loading the graph on webgpu: ONNX Runtime: /onnxruntime_src/a.cc:136 was false. Failed to get a WebGPU adapter";
  const failing = (message: string): BenchRuntime => ({
    device: "webgpu",
    description: "",
    planeByPlane: false,
    network: () => Promise.reject(new Error("should not be asked")),
    products: () => Promise.reject(new Error(message)),
    copy: () => Promise.reject(new Error("should not be asked")),
  });
  await assert.rejects(withAdapter(failing(said)), (error) => {
    assert.ok(error instanceof UserError && error.exitCode === 2);
    assert.equal(error.message, "--device webgpu: ONNX Runtime finds no graphics adapter");
    assert.match(error.remedy ?? "", /use --device cpu$/);
    return true;
  });
  await assert.rejects(withAdapter(failing("out of memory")), /^UserError: --device webgpu: out of memory$/);
});
