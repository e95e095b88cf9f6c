import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { shareShown, type Progress } from "../state/progress.ts";
import { timeLeftWords } from "../state/words.ts";

interface ProgressBarProps {
  readonly progress: Progress;
  readonly label: string;
  readonly testId: string;
}

/** Milliseconds between two movements within a step. */
const INTERVAL = 200;

/** A bar that also moves within a step, by the time the step is expected to take; it never moves back. */
export function ProgressBar({ progress, label, testId }: ProgressBarProps): VNode {
  const [now, setNow] = useState(progress.at);
  const furthest = useRef(0);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(performance.now() / 1000);
    }, INTERVAL);
    return () => {
      clearInterval(timer);
    };
  }, []);
  const passed = Math.max(0, now - progress.at);
  furthest.current = Math.max(furthest.current, shareShown(progress, passed));
  return (
    <div class="progress">
      <progress aria-label={label} max={1} value={furthest.current} data-testid={testId} data-stage={progress.stage} />
      <p class="quiet">{wordsOf(furthest.current, progress, passed)}</p>
    </div>
  );
}

function wordsOf(share: number, { secondsLeft }: Progress, passed: number): string {
  const left = secondsLeft === undefined ? undefined : Math.max(0, secondsLeft - passed);
  return [`${Math.floor(100 * share)} %`, timeLeftWords(left)].filter(Boolean).join(", ");
}
