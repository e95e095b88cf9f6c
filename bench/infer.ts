// Inference: milliseconds per stack and how far that is from the machine's limit. On CUDA also where the time goes and what f16
// costs; the exit code is 1 where the shipped weights of fine or small are more than a hundredth of a plane from f32.
//   node --import tsx bench/infer.ts [--device cuda] [--models fine,base,small,dfv] [--planes 5] [--height 384] [--width 576] [--repeats N] [--threads 2]
import type { ConfigName } from "../src/model/config.ts";
import { benchCpu } from "./inferCpu.ts";
import { benchCuda } from "./inferCuda.ts";
import { deviationFaults } from "./inferDeviation.ts";
import { option } from "./timing.ts";

const number = (name: string, fallback: number): number => Number(option(name, String(fallback)));
const device = option("device", "cpu");
const bench = {
  device,
  models: option("models", "fine,base,small,dfv").split(",") as ConfigName[],
  planes: number("planes", 5),
  height: number("height", 384),
  width: number("width", 576),
  repeats: number("repeats", device === "cpu" ? 5 : 100),
};
const print = (result: object): void => {
  console.log(JSON.stringify(result, undefined, 1));
};
if (device === "cpu") {
  print(await benchCpu({ ...bench, threads: number("threads", 2) }));
} else {
  const result = await benchCuda(bench);
  print(result);
  for (const fault of deviationFaults(result.rows)) {
    console.error(`bench: ${fault}`);
    process.exitCode = 1;
  }
}
