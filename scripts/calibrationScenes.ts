import { renderHost } from "../src/cli/renderHost.ts";
import { depthMaps } from "../src/depth/maps.ts";
import type { FocusProbability } from "../src/network/focusProbability.ts";
import type { DepthNetwork } from "../src/network/depthNetwork.ts";
import { randomScene } from "../src/optics/scene/random.ts";
import { generateTextures, splitTextures } from "../src/optics/texture/texture.ts";
import type { FocalStack } from "../src/stack/focalStack.ts";

/** One pixel of a rendered scene with the network's result. */
export interface Finding {
  /** Standard deviation of p, in planes. */
  readonly spread: number;
  /** |depth − truth| in planes: divided by the distance between the planes there. */
  readonly off: number;
  /** Its claimed error, in planes. */
  readonly claimed: number;
  readonly beyond: number;
  /** Plane index of the true depth, interpolated in dioptres: below 0 and above planes − 1 it lies beyond. */
  readonly truePlane: number;
  readonly planes: number;
  /** |depth − truth| / truth, with the mean taken in dioptres and in metres. */
  readonly relative: number;
  readonly relativeInMetres: number;
}

export interface SceneOptions {
  readonly networks: Readonly<Record<string, DepthNetwork>>;
  readonly side: number;
  readonly samples: number;
}

const PLANES = [5, 6, 8, 10] as const;
/** One of this many pixels is kept; a prime, so that they do not form columns. */
const STRIDE = 7;

/** Renders held-out scenes (textures not used in training, half of the stacks with the flaws of real ones) and runs networks on them. */
export function createScenes({ networks, side, samples }: SceneOptions) {
  const textures = generateTextures();
  const { test } = splitTextures(textures.count);
  const host = renderHost("auto", textures);
  return async (seed: number): Promise<Record<string, Finding[]>> => {
    const planes = PLANES[seed % PLANES.length] as number;
    const scene = randomScene(seed, { planes, width: side, height: side, textures: test, imperfect: 0.5 });
    const { stack, depth } = host.render(scene, samples);
    const found: Record<string, Finding[]> = {};
    for (const [name, network] of Object.entries(networks)) {
      const probability = await network.predict(stack);
      const look = pixelFinder(stack, { probability, network });
      found[name] = [];
      for (let i = seed % STRIDE; i < side * side; i += STRIDE) if (depth.valid[i]) found[name].push(look(i, depth.values[i] as number));
    }
    return found;
  };
}

/** An error of one plane, whatever the spread: divides errors by the distance between the planes. */
const ONE_PLANE = { spread: [1e9], error: [1] };

function pixelFinder(
  { focusDistances, space }: FocalStack,
  { probability, network: { average, errorTable } }: { probability: FocusProbability; network: DepthNetwork },
): (i: number, truth: number) => Finding {
  const { planes, width, height, values } = probability;
  const pixels = width * height;
  const stack = { focusDistances, space };
  const maps = depthMaps(probability, stack, { average, errorTable });
  const step = depthMaps(probability, stack, { average, errorTable: ONE_PLANE }).error;
  const dioptres = focusDistances.map((distance) => 1 / distance);
  const expectation = (i: number, at: (n: number) => number): number =>
    focusDistances.reduce((sum, _, n) => sum + at(n) * (values[n * pixels + i] as number), 0);
  return (i, truth) => {
    const depth = maps.depth[i] as number;
    const plane = expectation(i, (n) => n);
    const metres = expectation(i, (n) => focusDistances[n] as number);
    return {
      spread: Math.sqrt(expectation(i, (n) => (n - plane) ** 2)),
      off: Math.abs(depth - truth) / (step[i] as number),
      claimed: (maps.error[i] as number) / (step[i] as number),
      beyond: maps.beyond[i] as number,
      truePlane: planeNumber(dioptres, 1 / truth),
      planes,
      relative: Math.abs(depth - truth) / truth,
      relativeInMetres: Math.abs(metres - truth) / truth,
    };
  };
}

function planeNumber(dioptres: readonly number[], value: number): number {
  let n = 0;
  while (n < dioptres.length - 2 && value < (dioptres[n + 1] as number)) n += 1;
  const [from, to] = [dioptres[n] as number, dioptres[n + 1] as number];
  return n + (value - from) / (to - from);
}

/** Pixels the error is claimed for: not marked as beyond, and truly within half a plane of the stack's range. */
export const isClaimed = ({ beyond, truePlane, planes }: Finding): boolean => beyond === 0 && isWithin({ truePlane, planes });

export const isWithin = ({ truePlane, planes }: Pick<Finding, "truePlane" | "planes">): boolean =>
  truePlane >= -0.5 && truePlane <= planes - 0.5;
