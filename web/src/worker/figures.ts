import type { DepthNetwork } from "../../../src/network/depthNetwork.ts";
import { MOST_PLANES, type Fields, type FocusProbability } from "../../../src/network/focusProbability.ts";
import type { Value } from "../../../src/network/session.ts";
import type { Image } from "../../../src/image/image.ts";
import { WORKING_SIDE } from "../../../src/depth/working.ts";
import { choosePlanes, selectPlanes, type FocalStack } from "../../../src/stack/focalStack.ts";
import { shrinkImage, sizeWithin } from "../../../src/image/shrink.ts";
import type { Figures } from "./protocol.ts";

/** The figures of a prediction in one run; the others have none of their own. */
export const figuresOf = ({ planes, fields }: FocusProbability): Figures | undefined =>
  fields && mapsOf(fields, Array.from({ length: planes }, (_, n) => n)); // prettier-ignore

/** Runs the network again, for stacks that needed several runs, and returns its intermediate fields. */
export async function paperFigures(network: DepthNetwork, stack: FocalStack): Promise<Figures> {
  const planes = choosePlanes(stack.images.length, Math.min(stack.images.length, MOST_PLANES), "round");
  const { images, ...rest } = selectPlanes(stack, planes);
  const size = sizeWithin(images[0] as Image, WORKING_SIDE); // the fields are coarse; a larger size is not needed
  const { fields } = await network.predict({ ...rest, images: images.map((image) => shrinkImage(image, size)) });
  if (!fields) throw new Error("the network gives no Γ and z*");
  return mapsOf(fields, planes);
}

/** Γ, z* and θ_grad(z*) (eqs. 2–5) as maps for display. */
function mapsOf({ gradientX, gradientY, surface, surfaceGradientX, surfaceGradientY }: Fields, planes: readonly number[]): Figures {
  return {
    planes,
    grid: surface.shape.at(-1) as number,
    gradient: channelMean(magnitude(gradientX, gradientY)),
    surface: firstChannel(surface),
    surfaceGradient: magnitude(surfaceGradientX, surfaceGradientY).data as Float32Array,
  };
}

function magnitude(x: Value, y: Value): Value {
  const [across, down] = [x.data as Float32Array, y.data as Float32Array];
  return { shape: x.shape, data: across.map((value, i) => Math.hypot(value, down[i] as number)) };
}

/** [1, C, N, h, w] → [N, h, w]. */
function channelMean({ shape, data }: Value): Float32Array {
  const channels = shape[1] as number;
  const mean = new Float32Array(data.length / channels);
  (data as Float32Array).forEach((value, i) => {
    mean[i % mean.length] = (mean[i % mean.length] as number) + value / channels;
  });
  return mean;
}

const firstChannel = ({ shape, data }: Value): Float32Array => (data as Float32Array).slice(0, data.length / (shape[1] as number));
