import { duration } from "../output/duration.ts";

export type Stage = "frames" | "read" | "align" | "check" | "infer" | "fill" | "enlarge" | "write";

/** Called after each step of a stage; one of a single step is also reported before it. */
export type OnStage = (stage: Stage, done: number, of: number) => void;

interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Stages that may come in percent, where their steps take unequal times. */
const SHARES: ReadonlySet<Stage> = new Set<Stage>(["align", "infer"]);

/** Seconds between two lines about one stage if lines cannot be overwritten. */
const PLAIN_INTERVAL = 10;

/** One line that is overwritten on a terminal; elsewhere a line when a stage ends, and every ten seconds of a long one. */
export function createProgress(screen: Screen, { quiet = false, now = () => performance.now() / 1000 } = {}): OnStage {
  if (quiet) return () => undefined;
  let [current, began, printed, last] = ["", now(), now(), now()];
  return (stage, done, of) => {
    const time = now();
    if (stage !== current) [current, began, printed] = [stage, last, last]; // a stage begins when the previous one ends
    last = time;
    const share = of === 100 && SHARES.has(stage) ? `${done} %` : `${done} of ${of}`;
    const left = done > 0 ? `${share}, ${duration(((time - began) / done) * (of - done))} left` : share;
    if (screen.isTTY) screen.write(done < of ? `\r${stage}: ${left}\u001b[K` : `\r${stage}: ${duration(time - began)}\u001b[K\n`);
    else if (done >= of) screen.write(`${stage}: done in ${duration(time - began)}\n`);
    else if (time - printed >= PLAIN_INTERVAL) {
      printed = time;
      screen.write(`${stage}: ${left}\n`);
    }
  };
}
