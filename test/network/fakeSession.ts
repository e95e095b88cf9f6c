import { configs } from "../../src/model/config.ts";
import { createDepthNetwork, type DepthNetwork } from "../../src/network/depthNetwork.ts";
import type { NetworkFacts } from "../../src/network/facts.ts";
import type { Session } from "../../src/network/session.ts";

/**
 * A network that looks at one pixel at a time: p is large on planes whose red value is large, p_n = r_n^power / Σ r_m^power. A stack whose
 * pixel (x, y) has red values r then gives a p worked out by hand. `sizes` collects the shapes it was run with.
 */
export function fakeSession({ power = 1 }: { power?: number } = {}): Session & { readonly shapes: (readonly number[])[] } {
  const shapes: (readonly number[])[] = [];
  return {
    device: "cpu",
    inputNames: ["images", "focusDistances"],
    outputNames: ["probability"],
    shapes,
    run({ images }) {
      const [, planes, , height, width] = images?.shape as [number, number, number, number, number];
      shapes.push(images?.shape as readonly number[]);
      const area = width * height;
      const data = new Float32Array(planes * area);
      for (let i = 0; i < area; i++) {
        const sharpness = Array.from({ length: planes }, (_, n) => Number(images?.data[n * 3 * area + i]) ** power);
        const sum = sharpness.reduce((total, value) => total + value, 0);
        sharpness.forEach((value, n) => (data[n * area + i] = value / sum));
      }
      return Promise.resolve({ probability: { data, shape: [1, planes, height, width] } });
    },
    dispose: () => Promise.resolve(),
  };
}

/** A network around any session, as `openNetwork` would give it. */
export const networkOf = (session: Session, facts: NetworkFacts = {}): DepthNetwork =>
  createDepthNetwork({ config: configs.small, weights: new Map(), facts }, { session, reason: "a test" });
