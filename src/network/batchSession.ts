import type { NumericArray } from "../engine/engine.ts";
import type { Session, Value } from "./session.ts";

type Values = Readonly<Record<string, Value>>;

interface Waiting {
  readonly inputs: Values;
  readonly resolve: (outputs: Record<string, Value>) => void;
  readonly reject: (cause: unknown) => void;
}

/** Milliseconds that the first run of a batch waits for others. */
const PATIENCE = 4;

/**
 * One session for jobs that run at the same time. Runs whose inputs have the same shapes go through the network as one batch of at most
 * `most`: a GPU needs little longer for several stacks than for one. Fewer are batches of powers of two, since a session prepares
 * itself for every size of a batch. Without `encode`, which keeps the planes of one job.
 */
export function batchSession(session: Session, { most }: { readonly most: number }): Session {
  const line: Waiting[] = [];
  let isRunning = false;
  const work = async (): Promise<void> => {
    isRunning = true;
    let isRest = false; // of a burst that was waited for
    while (line.length > 0) {
      if (line.length < most && !isRest) await new Promise((resolve) => setTimeout(resolve, PATIENCE));
      const kind = shapesOf((line[0] as Waiting).inputs);
      const alike = line.filter(({ inputs }) => shapesOf(inputs) === kind);
      const group = alike.slice(0, alike.length < most ? 2 ** Math.floor(Math.log2(alike.length)) : most);
      isRest = group.length < alike.length && alike.length < most;
      for (const each of group) line.splice(line.indexOf(each), 1);
      await runGroup(session, group);
    }
    isRunning = false;
  };
  return {
    device: session.device,
    inputNames: session.inputNames,
    outputNames: session.outputNames,
    dispose: () => session.dispose(),
    run: (inputs) =>
      new Promise((resolve, reject) => {
        line.push({ inputs, resolve, reject });
        if (!isRunning) void work();
      }),
  };
}

const shapesOf = (inputs: Values): string =>
  Object.entries(inputs)
    .map(([name, { shape, data, dtype }]) => `${name} ${shape.join("×")} ${dtype ?? data.constructor.name}`)
    .sort()
    .join();

/** If a batch fails, its runs are repeated one by one, so that only the faulty one fails. */
async function runGroup(session: Session, group: readonly Waiting[]): Promise<void> {
  const [first, ...others] = group as [Waiting, ...Waiting[]];
  try {
    const outputs = await session.run(others.length === 0 ? first.inputs : joined(group.map(({ inputs }) => inputs)));
    for (const [n, { resolve }] of group.entries()) resolve(others.length === 0 ? outputs : part(outputs, { n, of: group.length }));
  } catch (cause) {
    if (others.length === 0) first.reject(cause);
    else for (const each of group) await runGroup(session, [each]);
  }
}

/** Along the first axis, which is the batch. */
function joined(all: readonly Values[]): Record<string, Value> {
  const [first] = all as [Values];
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => {
      const parts = all.map((inputs) => (inputs[name] as Value).data);
      const data = new (value.data.constructor as new (length: number) => NumericArray)(value.data.length * all.length);
      parts.forEach((values, n) => {
        (data as Float32Array).set(values as Float32Array, n * value.data.length);
      });
      const [batch = 1, ...rest] = value.shape;
      return [name, { ...value, data, shape: [batch * all.length, ...rest] }];
    }),
  );
}

function part(outputs: Values, { n, of }: { readonly n: number; readonly of: number }): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => {
      const length = value.data.length / of;
      const [batch = of, ...rest] = value.shape;
      return [name, { ...value, data: value.data.slice(n * length, (n + 1) * length), shape: [batch / of, ...rest] }];
    }),
  );
}
