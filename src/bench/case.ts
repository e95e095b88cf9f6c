import { configs, type ConfigName, type NetworkConfig } from "../model/config.ts";
import { createRandom } from "../random.ts";
import type { StackSize } from "./runtime.ts";

/** One network on one size of stack, `batch` of them in one run. */
export interface Case extends StackSize {
  readonly model: ConfigName;
  /** Side of the grid of Γ and z*; default: the network's own. */
  readonly grid?: number | undefined;
}

export const describeCase = ({ model, batch, planes, height, width, grid }: Case): string =>
  `${model} ${batch === 1 ? "" : `${batch} of `}${planes}×${height}×${width}${grid === undefined ? "" : ` grid ${grid}`}`;

export function caseConfig({ model, grid }: Case): NetworkConfig {
  const config = configs[model];
  if (grid === undefined || config.kind === "dfv" || !config.surface) return config;
  return { ...config, surface: { ...config.surface, grid } };
}

/** Random images: times do not depend on their content. */
export function stacksOf({ batch, planes, height, width }: StackSize) {
  const random = createRandom(0);
  const pixels = new Float32Array(batch * planes * 3 * height * width);
  for (let i = 0; i < pixels.length; i++) pixels[i] = random.uniform();
  const distances = new Float32Array(batch * planes);
  for (let i = 0; i < distances.length; i++) distances[i] = i % planes;
  return {
    images: { data: pixels, shape: [batch, planes, 3, height, width] },
    focusDistances: { data: distances, shape: [batch, planes] },
  };
}
