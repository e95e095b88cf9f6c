import { packPictures, paddedSize } from "../../../src/network/pad.ts";
import type { Session, Value } from "../../../src/network/session.ts";
import type { Image } from "../../../src/image/image.ts";
import { WORKING_SIDE } from "../../../src/depth/options.ts";
import { choosePlanes, selectPlanes, type FocalStack } from "../../../src/stack/focalStack.ts";
import { shrinkImage, sizeWithin } from "../shrink.ts";
import type { Figures } from "./protocol.ts";

/** Most planes per run of the network. */
const MOST_PLANES = 10;

type Outputs = Awaited<ReturnType<Session["run"]>>;

/** The same session; if the whole stack is processed in one run, its figures are kept. */
export function watchedSession(session: Session): { readonly session: Session; readonly figures: () => Figures | undefined } {
  const seen: Outputs[] = [];
  return {
    session: {
      ...session,
      run: async (inputs) => {
        const outputs = await session.run(inputs);
        seen.push(fieldsOf(outputs));
        return outputs;
      },
    },
    figures: () => {
      const [only, ...others] = seen;
      const planes = only?.["surface"]?.shape[2] ?? 0;
      return only && others.length === 0
        ? figuresOf(
            only,
            Array.from({ length: planes }, (_, n) => n),
          )
        : undefined;
    },
  };
}

/** Runs the network again, for stacks that needed several runs, and returns its intermediate fields. */
export async function paperFigures(session: Session, stack: FocalStack): Promise<Figures> {
  const planes = choosePlanes(stack.images.length, Math.min(stack.images.length, MOST_PLANES), "round");
  const { images: seen } = selectPlanes(stack, planes);
  const size = sizeWithin(seen[0] as Image, WORKING_SIDE); // the fields are coarse; a larger size is not needed
  const images = seen.map((image) => shrinkImage(image, size));
  const padded = paddedSize(images[0] as Image);
  const outputs = await session.run({
    images: { data: packPictures(images, padded), shape: [1, planes.length, 3, padded.height, padded.width] },
    focusDistances: { data: Float32Array.from(planes, (_, n) => n), shape: [1, planes.length] },
  });
  return figuresOf(outputs, planes);
}

const FIELDS = ["gradientX", "gradientY", "surface", "surfaceGradientX", "surfaceGradientY"] as const;

const fieldsOf = (outputs: Outputs): Outputs => Object.fromEntries(FIELDS.map((name) => [name, fieldOf(outputs, name)]));

function fieldOf(outputs: Outputs, name: (typeof FIELDS)[number]): Value {
  const value = outputs[name];
  if (!value) throw new Error(`the network has no output ${name}`);
  return value;
}

/** Γ, z* and θ_grad(z*) (eqs. 2–5) as maps for display. */
function figuresOf(outputs: Outputs, planes: readonly number[]): Figures {
  const field = (name: (typeof FIELDS)[number]): Value => fieldOf(outputs, name);
  return {
    planes,
    grid: field("surface").shape.at(-1) as number,
    gradient: channelMean(magnitude(field("gradientX"), field("gradientY"))),
    surface: firstChannel(field("surface")),
    surfaceGradient: magnitude(field("surfaceGradientX"), field("surfaceGradientY")).data as Float32Array,
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
