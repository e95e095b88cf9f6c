import type { Tensor } from "../engine/engine.ts";
import type { TorchEngine } from "../engine/torch/torchEngine.ts";
import type { Random } from "../random.ts";
import type { RenderData } from "./config.ts";
import { gatherBlurs } from "./deviceBlur.ts";

interface SensorPictures {
  /** u8 [B, 3, side, side]. */
  readonly rendered: Tensor;
  /** u8 [count, size, size, 4], of which `chosen` may be used. */
  readonly textures: Tensor;
  readonly chosen: readonly number[];
  readonly random: readonly Random[];
  readonly gather: RenderData["gather"];
}

/**
 * The sharp pictures of RGB-D sets, f32 [B, 3, side, side] in [0, 1]. Some are photographs under a depth that is not theirs, so that
 * nothing but blur tells depth. All have the grain of a sensor, which a gather blurs along with the scene.
 */
export function sensorPictures(engine: TorchEngine, { rendered, textures, chosen, random, gather }: SensorPictures): Tensor {
  const B = random.length;
  const side = rendered.shape[3] as number;
  const index = random.map((each) => chosen[each.split("photo").integer(chosen.length)] as number);
  const rows = engine.compute("aten::index_select", textures, 0, engine.constant(index, { shape: [B], dtype: "i64" }));
  const colours = rows
    .slice(3, { end: 3 })
    .permute([0, 3, 1, 2])
    .cast("f32")
    .mul(1 / 255);
  const photos = photosOf(engine, colours, side);
  const isPhoto = engine.constant(
    random.map((each) => Number(each.split("isPhoto").uniform() < gather.photos)),
    { shape: [B, 1, 1, 1], dtype: "bool" },
  );
  const grain = engine.concat(
    random.map((each) => {
      engine.seed(each.split("grain").integer(0x80000000)); // a scene is the same in whatever company it is made
      const deviation = each.split("deviation").uniform() ** 2 * gather.grain;
      return engine.compute("aten::randn", [1, 3, side, side], "f32", null, engine.device).mul(deviation);
    }),
    0,
  );
  const sharp = isPhoto.where(photos, rendered.cast("f32").mul(1 / 255));
  return softened(engine, sharp, { random, softness: gather.softness ?? 0 })
    .add(grain)
    .clamp({ min: 0, max: 1 });
}

/** Square photos of this side: where it is twice theirs, mirrored on both axes rather than enlarged, which would leave them without fine detail. */
function photosOf(engine: TorchEngine, photos: Tensor, side: number): Tensor {
  const own = photos.shape[3] as number;
  if (own === side) return photos;
  if (2 * own !== side) return photos.resize2d([side, side], "bilinear");
  const wide = engine.concat([photos, photos.flip(3)], 3);
  return engine.concat([wide, wide.flip(2)], 2);
}

const SOFT_WINDOW = 9;

/** Each picture blurred by a radius of its own up to `softness`: RGB-D cameras take softer pictures than the textures are (docs/datasets.md). */
function softened(engine: TorchEngine, pictures: Tensor, { random, softness }: { random: readonly Random[]; softness: number }): Tensor {
  if (softness === 0) return pictures;
  const [B, , H, W] = pictures.shape as [number, number, number, number];
  const radii = random.map((each) => each.split("softness").uniform() * softness);
  const blurRadius = engine.full([B, 1, H, W], 1).mul(engine.constant(radii, { shape: [B, 1, 1, 1] }));
  return gatherBlurs(engine, { picture: pictures, blurRadius, exponent: engine.full([B], 2) }, { window: SOFT_WINDOW }).squeeze(1);
}

/** [B, planes, 3, side, side], [B, side, side] and [B, planes]. */
export interface Batch {
  readonly images: Tensor;
  readonly depth: Tensor;
  readonly focusDistances: Tensor;
}

export interface Gathered {
  /** f32 [B, 3, side, side] in [0, 1], sharp everywhere. */
  readonly pictures: Tensor;
  readonly depth: Tensor;
  readonly planes: number;
  readonly random: readonly Random[];
  readonly kind: "gaussian" | "powerExponential";
}

const SHAPES = {
  /** HybridDepth's code: 7×7 Gaussian, planes evenly in metres from the nearest to the farthest depth; f/8, 50 mm, 12 µm give 2–16 px. */
  gaussian: { window: 7, exponent: [2, 2], spread: [1.5, 16], evenMetres: 1 },
  /** FOSSA's: 15×15, exponents 2 to 32, planes evenly in dioptres most of the time. */
  powerExponential: { window: 15, exponent: [2, 32], spread: [2, 20], evenMetres: 0.3 },
} as const;

/**
 * Stacks as RGB-D sets are turned into: one sharp picture blurred by its depth, plane by plane. With s the radius of the blur, in
 * pixels, of the farthest point when the nearest is in focus, c = s |1/S₁ − 1/S₂| / (1/near − 1/far).
 */
export function gathered(engine: TorchEngine, { pictures, depth, planes, random, kind }: Gathered): Batch {
  const { window, exponent, spread, evenMetres } = SHAPES[kind];
  const B = random.length;
  const perStack = (name: string, [low, high]: readonly [number, number]): Tensor => {
    const values = random.map((each) => low * (high / low) ** each.split(name).uniform()); // evenly in the logarithm
    return engine.constant(values, { shape: [B, 1, 1, 1] });
  };
  const metres = engine.constant(
    random.map((each) => Number(each.split("spacing").uniform() < evenMetres)),
    { shape: [B, 1], dtype: "bool" },
  );
  const known = depth.greater(0);
  const extreme = (name: "amin" | "amax", otherwise: number): Tensor =>
    engine.compute(`aten::${name}`, known.where(depth, otherwise), [1, 2]).reshape([B, 1]);
  const near = extreme("amin", 1e6);
  const far = extreme("amax", 0).maximum(near.mul(1.02)); // a picture of one depth still gets distinct planes
  const share = engine
    .range(planes)
    .mul(1 / (planes - 1))
    .reshape([1, planes]);
  const inMetres = near.add(far.sub(near).mul(share));
  const inDioptres = near
    .pow(-1)
    .add(far.pow(-1).sub(near.pow(-1)).mul(share))
    .pow(-1);
  const focusDistances = metres.where(inMetres, inDioptres); //                                       [B, planes]

  const farthest = far.reshape([B, 1, 1, 1]);
  const inverse = known.unsqueeze(1).where(depth.unsqueeze(1), farthest).pow(-1); //                   1 / S₂, [B, 1, H, W]
  const span = near.pow(-1).sub(far.pow(-1)).reshape([B, 1, 1, 1]);
  const away = focusDistances.pow(-1).reshape([B, planes, 1, 1]).sub(inverse).abs();
  const blurRadius = away.div(span).mul(perStack("spread", spread));
  const blurred = gatherBlurs(engine, { picture: pictures, blurRadius, exponent: perStack("exponent", exponent) }, { window });
  return { images: blurred.mul(255).add(0.5).clamp({ min: 0, max: 255 }).cast("u8"), depth, focusDistances };
}
