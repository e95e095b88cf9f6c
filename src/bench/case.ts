import { configs, type ConfigName, type NetworkConfig } from "../model/config.ts";
import { createRandom } from "../random.ts";
import type { StackSize } from "./runtime.ts";

/** One network on one size of stack. */
export interface Case extends StackSize {
  readonly model: ConfigName;
  /** Side of the grid of Γ and z*; the network's own if left out. */
  readonly grid?: number | undefined;
}

export const describeCase = ({ model, planes, height, width, grid }: Case): string =>
  `${model} ${planes}×${height}×${width}${grid === undefined ? "" : ` grid ${grid}`}`;

export function caseConfig({ model, grid }: Case): NetworkConfig {
  const config = configs[model];
  if (grid === undefined || config.kind === "dfv" || !config.surface) return config;
  return { ...config, surface: { ...config.surface, grid } };
}

/** Any pictures: times do not depend on what they show. */
export function stackOf({ planes, height, width }: StackSize) {
  const random = createRandom(0);
  const pixels = new Float32Array(planes * 3 * height * width);
  for (let i = 0; i < pixels.length; i++) pixels[i] = random.uniform();
  const distances = new Float32Array(planes);
  for (let n = 0; n < planes; n++) distances[n] = n;
  return {
    images: { data: pixels, shape: [1, planes, 3, height, width] },
    focusDistances: { data: distances, shape: [1, planes] },
  };
}
