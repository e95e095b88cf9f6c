// One process of test/train/distributed.test.ts: peer.ts OUT STEPS [vanish|hang]. The group is in the environment.
import { writeFileSync } from "node:fs";
import { createTorchEngine, type TorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { joinGroup, membershipFrom, type Group } from "../../src/train/distributed.ts";
import { smoke } from "../../src/train/presets.ts";
import { createTrainer } from "../../src/train/trainer.ts";
import { syntheticBatches } from "./synthetic.ts";

/**
 * Frozen norms: with batch statistics each process would see its own, and two would not be one of twice the size.
 * A large ε: Adam's first steps are else the signs of the gradients, and the sign of a gradient near 0 is rounding.
 */
const config = { ...smoke, norms: "frozen", adam: { ...smoke.adam, epsilon: 1 } } as const;

/** Trains on this process's stacks of each batch of four; returns all weights. */
export async function trainShare(
  engine: TorchEngine,
  { group, steps }: { group: Group | undefined; steps: number },
): Promise<Float32Array> {
  const seed = group?.rank ?? 0; // the broadcast makes up for different starts
  const trainer = createTrainer({
    engine,
    config: { ...config, seed },
    reduce:
      group &&
      ((gradients) => {
        group.average(gradients);
      }),
  });
  group?.broadcast([...trainer.tree.state.values()]);
  const batches = syntheticBatches(engine, { stacks: 4 });
  const [start, end] = group ? [group.rank * 2, group.rank * 2 + 2] : [0, 4];
  for (let step = 1; step <= steps; step++) {
    const { images, focusDistances, trueDepth, valid } = await batches.batch(step);
    const own = [images, focusDistances, trueDepth, valid].map((tensor) => tensor.slice(0, { start, end }));
    trainer.step(
      { images: own[0] ?? images, focusDistances: own[1] ?? images, trueDepth: own[2] ?? images, valid: own[3] ?? images },
      { step, rate: 0.05 },
    );
    if (group?.rank === 1 && step === 2) misbehave(process.argv[4]);
  }
  return Float32Array.from([...trainer.tree.parameters.values()].flatMap((tensor) => [...(engine.read(tensor) as Float32Array)]));
}

function misbehave(how: string | undefined): void {
  if (how === "vanish") process.kill(process.pid, "SIGKILL");
  if (how === "hang") process.kill(process.pid, "SIGSTOP");
}

/** Short where the time is waited for, and long where it must not be. */
const TIMEOUTS: Readonly<Record<string, { readonly timeoutSeconds: number }>> = {
  hang: { timeoutSeconds: 3 },
  vanish: { timeoutSeconds: 3600 },
};

const membership = membershipFrom(process.env);
if (membership) {
  const engine = createTorchEngine({ threads: 1 });
  const group = joinGroup(engine, membership, TIMEOUTS[process.argv[4] ?? ""] ?? {});
  const weights = await trainShare(engine, { group, steps: Number(process.argv[3]) });
  writeFileSync(`${process.argv[2] ?? ""}.${group.rank}`, weights);
  group.leave();
}
