// The least-squares surface at grids 10 … 56: our cosine solution and the paper's dense solve, 80 fields (5 planes × 16 channels).
//   node --import tsx bench/grid.ts [--device cpu|cuda]
import { createTorchEngine } from "../src/engine/torch/torchEngine.ts";
import { scope } from "../src/engine/scope.ts";
import { cosineSolver, denseSolver, type SurfaceSolver } from "../src/model/surface.ts";
import { createRandom } from "../src/random.ts";
import { medianSeconds, option } from "./timing.ts";

const device = option("device", "cpu");
const engine = createTorchEngine({ device, threads: 1 });
const FIELDS = 80;

const rows = [10, 14, 20, 28, 56].map((side) => {
  const random = createRandom(side);
  const field = () =>
    engine.constant(
      Float32Array.from({ length: FIELDS * side * side }, () => random.normal()),
      { shape: [FIELDS, side, side] },
    );
  const gradientField = { x: field(), y: field() };
  const time = (solver: SurfaceSolver, repeats: number): number =>
    engine.noGradient(() =>
      medianSeconds(
        engine,
        () => {
          scope(() => {
            solver.solve(gradientField);
          });
        },
        { repeats },
      ),
    );
  const cosine = time(cosineSolver(engine, { h: side, w: side }), 21);
  const dense = side > 28 ? undefined : time(denseSolver(engine, { h: side, w: side }), side > 20 ? 3 : 5); // 56: matrices of 3136², 3 GB
  return {
    grid: side,
    cosineMs: 1e3 * cosine,
    denseMs: dense === undefined ? undefined : 1e3 * dense,
    ratio: dense === undefined ? undefined : dense / cosine,
  };
});
console.log(JSON.stringify({ device, fields: FIELDS, rows }, undefined, 1));
