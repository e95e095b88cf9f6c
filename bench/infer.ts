// Inference: milliseconds per stack and how far that is from the machine's limit.
//   node --import tsx bench/infer.ts [--device cuda] [--models base,small,dfv] [--planes 5] [--height 384] [--width 576] [--repeats 100]
import type { ConfigName } from "../src/model/config.ts";
import { benchCuda } from "./inferCuda.ts";
import { option } from "./timing.ts";

const number = (name: string, fallback: number): number => Number(option(name, String(fallback)));
const bench = {
  device: option("device", "cpu"),
  models: option("models", "base,small,dfv").split(",") as ConfigName[],
  planes: number("planes", 5),
  height: number("height", 384),
  width: number("width", 576),
  repeats: number("repeats", 100),
};
console.log(JSON.stringify(await benchCuda(bench), undefined, 1));
