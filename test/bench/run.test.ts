import assert from "node:assert/strict";
import { test } from "node:test";
import type { Case } from "../../src/bench/case.ts";
import { formatBench } from "../../src/bench/report.ts";
import { bench, limitSeconds } from "../../src/bench/run.ts";
import type { BenchRuntime, Work } from "../../src/bench/runtime.ts";
import { summarize, timeRuns } from "../../src/bench/timing.ts";
import type { Session } from "../../src/network/session.ts";
import { small } from "../../src/model/config.ts";
import { countMultiplyAccumulates, countParameters } from "../../src/model/state.ts";

test("median, nine tenths and least of known times", () => {
  assert.deepEqual(summarize([5, 1, 3]), { median: 3, p90: 5, least: 1 });
  assert.deepEqual(summarize([4, 1, 3, 2]), { median: 2.5, p90: 4, least: 1 });
  assert.deepEqual(summarize([10, 1, 2, 3, 4, 5, 6, 7, 8, 9]), { median: 5.5, p90: 9, least: 1 });
  assert.deepEqual(summarize([2]), { median: 2, p90: 2, least: 2 });
});

test("warm-ups run and do not count", async () => {
  let clock = 0;
  const seconds = [100, 1, 2, 3];
  const run = (): Promise<void> => {
    clock += seconds.shift() ?? NaN;
    return Promise.resolve();
  };
  assert.deepEqual(await timeRuns(run, { repeats: 3, now: () => clock }), { median: 2, p90: 3, least: 1 });
});

test("runs that are over in no time are repeated for half a second", async () => {
  let clock = 0;
  let runs = 0;
  const run = (): Promise<void> => {
    clock += ++runs === 3 ? 2 ** -4 : 2 ** -8; // the second that counts is disturbed
    return Promise.resolve();
  };
  const timing = await timeRuns(run, { repeats: 3, now: () => clock });
  assert.equal(runs, 1 + 113); // 2⁻⁴ + 112 · 2⁻⁸ = ½
  assert.deepEqual(timing, { median: 2 ** -8, p90: 2 ** -8, least: 2 ** -8 });
});

test("the limit is the slower of computing and moving, by hand", () => {
  const size = { batch: 1, planes: 2, height: 10, width: 10 };
  const work = { ...size, parameters: 1000, multiplyAccumulates: 500 };
  // 1000 operations at 100/s are 10 s; 4 · (1000 + 100 · (6 + 2 + 2)) = 8000 bytes at 4000/s are 2 s, at 400/s 20 s
  assert.equal(limitSeconds(work, { products: 100, copy: 4000 }), 10);
  assert.equal(limitSeconds(work, { products: 100, copy: 400 }), 20);
  // three stacks: 3000 operations; the weights move once, 4 · (1000 + 3 · 1000) = 16000 bytes
  const three = { ...work, batch: 3 };
  assert.equal(limitSeconds(three, { products: 100, copy: 4000 }), 30);
  assert.equal(limitSeconds(three, { products: 100, copy: 400 }), 40);
});

/** A machine whose networks take a microsecond for each plane and pixel, of all stacks of a run; products run at 1000 operations a second, sums at 50 MB. */
function fakeMachine() {
  let clock = 0;
  let open = 0;
  const work = (amount: number, seconds: number): Promise<Work> => {
    open += 1;
    const run = (): Promise<void> => ((clock += seconds), Promise.resolve());
    return Promise.resolve({ amount, run, dispose: () => ((open -= 1), Promise.resolve()) });
  };
  const runtime: BenchRuntime = {
    device: "cpu",
    description: "a clock",
    planeByPlane: false,
    products: () => work(2000, 2),
    copy: () => work(1e8, 2),
    network: (_, { batch, planes, height, width }) => {
      open += 1;
      const run: Session["run"] = ({ images }) => {
        assert.deepEqual(images?.shape, [batch, planes, 3, height, width]);
        clock += 1e-6 * batch * planes * height * width;
        return Promise.resolve({});
      };
      const dispose = (): Promise<void> => ((open -= 1), Promise.resolve());
      return Promise.resolve({ device: "cpu", inputNames: [], outputNames: [], run, dispose });
    },
  };
  return { runtime, now: () => clock, open: () => open };
}

const cases: readonly Case[] = [
  ...[32, 64].flatMap((side) => [3, 6].map((planes): Case => ({ model: "small", batch: 1, planes, height: side, width: side }))),
  { model: "small", batch: 1, planes: 3, height: 32, width: 32, grid: 28 },
];

test("rates, limits and growth follow from the clock, and everything loaded is freed", async () => {
  const { runtime, now, open } = fakeMachine();
  const lines: string[] = [];
  const memory = ({ grid }: Case): Promise<number | undefined> => Promise.resolve(grid === undefined ? 5e6 : undefined);
  const result = await bench(runtime, cases, { repeats: 3, now, progress: (line) => lines.push(line), memory });
  assert.deepEqual(result.ceilings, { products: 1000, copy: 5e7 });
  const [first] = result.rows;
  assert.ok(first);
  const seconds = 3e-6 * 32 * 32;
  const macs = countMultiplyAccumulates(small, { planes: 3, height: 32, width: 32 });
  assert.deepEqual([first.parameters, first.multiplyAccumulates, first.peakMemory], [countParameters(small), macs, 5e6]);
  const near = (got: number, want: number): boolean => Math.abs(got / want - 1) < 1e-9;
  assert.ok(near(first.median, seconds) && near(first.stacksPerSecond, 1 / seconds) && near(first.rate, (2 * macs) / seconds));
  assert.ok(near(first.limit, (2 * macs) / 1000) && near(first.ofLimit, first.limit / seconds));
  const [growth] = result.growth;
  assert.ok(near(growth?.planes ?? NaN, 1) && near(growth?.pixels ?? NaN, 1) && Math.abs(growth?.grid ?? NaN) < 1e-9);
  assert.equal(open(), 0);
  assert.deepEqual(lines.slice(0, 2), ["bench: the machine's limits", "bench: 1 of 5, small 3×32×32"]);
  const text = formatBench(result);
  assert.match(text, /^a clock\. Large products run at 0\.00000100 GFLOP\/s/);
  assert.match(text, /\| small \| 6 \| 64×64 \| – \| 1 \| 3\.14 \|/);
  assert.match(text, /\| small \| 3 \| 32×32 \| 28 \| 1 \| .* \| – \|/);
  assert.match(text, /small: time grows as planes\^1\.00, pixels\^1\.00, grid\^-?0\.00/);
});

test("what a graph recorded plane by plane leaves out is no work of the runtime, but the network's count stays", async () => {
  const { runtime, now } = fakeMachine();
  const size = { planes: 3, height: 32, width: 32 };
  const options = { repeats: 1, now, progress: () => undefined, memory: () => Promise.resolve(undefined) };
  const { rows } = await bench({ ...runtime, planeByPlane: true }, [{ model: "small", batch: 1, ...size }], options);
  const done = countMultiplyAccumulates(small, size, { planeByPlane: true });
  assert.equal(rows[0]?.multiplyAccumulates, countMultiplyAccumulates(small, size));
  assert.equal(rows[0].limit, (2 * done) / 1000);
  // One third of each 3×3×3 kernel at the first plane and at the last, whatever lies between.
  const left = [3, 6].map((planes) => {
    const [all, own] = [false, true].map((planeByPlane) => countMultiplyAccumulates(small, { ...size, planes }, { planeByPlane }));
    return (all as number) - (own as number);
  });
  assert.ok((left[0] as number) > 0.05 * done);
  assert.equal(left[0], left[1]);
});

test("stacks that run together are counted together: rate, limit and memory of all, growth among equal numbers alone", async () => {
  const { runtime, now } = fakeMachine();
  const [one, both] = [1, 4].map((batch): Case => ({ model: "small", batch, planes: 3, height: 32, width: 32 })) as [Case, Case];
  const lines: string[] = [];
  const memory = ({ batch }: Case): Promise<number> => Promise.resolve(1e6 * batch);
  const result = await bench(runtime, [one, both], { repeats: 3, now, progress: (line) => lines.push(line), memory });
  const [single, four] = result.rows;
  assert.ok(single && four);
  const near = (got: number, want: number): boolean => Math.abs(got / want - 1) < 1e-9;
  assert.ok(near(four.median, 4 * single.median), "this machine gains nothing by running them together");
  assert.ok(near(four.stacksPerSecond, single.stacksPerSecond) && near(four.rate, single.rate));
  assert.ok(near(four.limit, 4 * single.limit) && near(four.ofLimit, single.ofLimit));
  assert.deepEqual([four.multiplyAccumulates, four.peakMemory], [single.multiplyAccumulates, 4e6]);
  assert.deepEqual(result.growth, [{ model: "small", planes: undefined, pixels: undefined, grid: undefined }]);
  assert.equal(lines[2], "bench: 2 of 2, small 4 of 3×32×32");
  assert.match(formatBench(result), /\| small \| 3 \| 32×32 \| – \| 4 \| 3\.14 \|/);
});
