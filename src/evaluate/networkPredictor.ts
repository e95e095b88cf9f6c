import { depthMap } from "../image/depthMap.ts";
import { createNodeSession } from "../network/node/onnxSession.ts";
import type { Size } from "../image/image.ts";
import { crop, packPictures, paddedSize } from "../network/pad.ts";
import type { Session, Value } from "../network/session.ts";
import { SIZE_MULTIPLE } from "../model/encoder.ts";
import { recordGraph, type GraphSize } from "../model/graph.ts";
import type { Model } from "../network/weightsFile.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import type { Estimate, Predictor } from "./predictor.ts";

/** DFV's coarsest pooling divides by half its side: 64 pixels at least. */
export const DFV_LEAST = 64;

export interface NetworkOptions {
  readonly name: string;
  readonly fingerprint: string;
  /** Of ONNX Runtime; 0 for every core. */
  readonly threads?: number;
  /** Loads the network for stacks of this size, of any where it is empty; into ONNX Runtime on the CPU if left out. */
  readonly open?: (size: GraphSize) => Promise<Session>;
}

/**
 * A network in a runtime. Pictures are reflected at the right and bottom to multiples of 32 and the answer cropped back. One graph
 * serves every size, except where the network itself depends on the size: then the graph of the last size is kept.
 */
export function networkPredictor(model: Model, { name, fingerprint, threads = 0, open }: NetworkOptions): Predictor {
  const { config, weights, facts } = model;
  const load = open ?? ((size: GraphSize) => createNodeSession(recordGraph({ config, weights, size }), { threads }));
  const fixed = config.kind === "dfv" || config.surface?.grid === "native";
  const least = config.kind === "dfv" ? DFV_LEAST : SIZE_MULTIPLE;
  let loaded: { readonly key: string; readonly session: Session } | undefined;

  const sessionFor = async (planes: number, { width, height }: Size): Promise<Session> => {
    const size = fixed ? { batch: 1, planes, height, width } : {};
    const key = JSON.stringify(size);
    if (loaded?.key !== key) {
      await loaded?.session.dispose();
      loaded = undefined;
      loaded = { key, session: await load(size) };
    }
    return loaded.session;
  };
  return {
    name,
    fingerprint,
    async predict(stack) {
      const padded = paddedSize(sizeOf(stack), { least });
      const session = await sessionFor(stack.images.length, padded);
      const reciprocal = facts.average === "dioptres" && stack.space === "depth";
      return runNetwork(session, stack, { padded, reciprocal });
    },
    async dispose() {
      await loaded?.session.dispose();
      loaded = undefined;
    },
  };
}

/** With `reciprocal` the network averages dioptres (eq. 6 with 1 / f), as weights were trained that say so: PAPER.md 34. */
async function runNetwork(
  session: Session,
  stack: FocalStack,
  { padded, reciprocal }: { readonly padded: Size; readonly reciprocal: boolean },
): Promise<Estimate> {
  const planes = stack.images.length;
  const turned = (value: number): number => (reciprocal ? 1 / value : value);
  const images = { data: packPictures(stack.images, padded), shape: [1, planes, 3, padded.height, padded.width] };
  const focusDistances = { data: Float32Array.from(stack.focusDistances, turned), shape: [1, planes] };
  const { depth, probability } = await session.run({ images, focusDistances });
  const size = sizeOf(stack);
  return {
    depth: depthMap({ ...size, values: crop(floats(depth), { from: padded, to: size, maps: 1 }).map(turned), space: stack.space }),
    focusProbability: { ...size, planes, values: crop(floats(probability), { from: padded, to: size, maps: planes }) },
  };
}

function floats(value: Value | undefined): Float32Array {
  if (!(value?.data instanceof Float32Array)) throw new Error("evaluate: the graph gave no depth or probability in 32-bit floats");
  return value.data;
}

function sizeOf({ images }: FocalStack): Size {
  const { width = 0, height = 0 } = images[0] ?? {};
  return { width, height };
}
