// One process of torchGroup.test.ts: `torchGroupMember.ts TASK RANK PORT`.
import type { Tensor } from "../../../src/engine/engine.ts";
import { createTorchEngine } from "../../../src/engine/torch/torchEngine.ts";
import { joinProcessGroup } from "../../../src/engine/torch/group.ts";

const [task, rank, port] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const engine = createTorchEngine({ threads: 1 });
const group = joinProcessGroup(engine, { host: "127.0.0.1", port, rank, size: 2, timeoutSeconds: 20 });

const values = (tensor: Tensor | undefined): number[] => (tensor ? [...(engine.read(tensor) as Float32Array)] : []);

if (task === "train") {
  const weights = engine.requireGradient(engine.constant(rank === 0 ? [1, 2, 3, 4] : [0, 0, 0, 0], { shape: [2, 2] }));
  const bias = engine.full([1], 10 * (rank + 1));
  group.broadcast([weights]);
  engine.backward(weights.mul(rank + 1).sum());
  const gradient = engine.gradient(weights);
  if (gradient) group.average([gradient.permute([1, 0]), bias]); // a view: its memory is not contiguous
  console.log(JSON.stringify({ weights: values(weights), gradient: values(engine.gradient(weights)), bias: values(bias) }));
  group.leave();
} else if (rank === 1) {
  process.exit(0);
} else {
  try {
    group.average([engine.full([1], 1)]);
  } catch (error) {
    console.log(String(error));
  }
  process.exit(0);
}
