import type { TorchEngine } from "../src/engine/torch/torchEngine.ts";

/** Median seconds of `body` over `repeats` runs after one warm-up; waits for the device before it looks at the clock. */
export function medianSeconds(engine: TorchEngine, body: () => void, { repeats = 9 }: { readonly repeats?: number } = {}): number {
  body();
  engine.synchronize();
  const times = Array.from({ length: repeats }, () => {
    const start = process.hrtime.bigint();
    body();
    engine.synchronize();
    return Number(process.hrtime.bigint() - start) / 1e9;
  });
  return times.sort((a, b) => a - b)[repeats >> 1] as number;
}

/** `--name value` from the command line. */
export function option(name: string, fallback: string): string {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : (process.argv[at + 1] ?? fallback);
}
