import type { Engine, Tensor } from "../engine/engine.ts";
import { keep, scope } from "../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch/torchEngine.ts";
import { BARE } from "../optics/render/bare.ts";
import { BLOTCH_CELLS, nodesOver } from "../optics/render/noise.ts";
import { createRandom, type Random } from "../random.ts";
import type { TrainBatch } from "./batch.ts";
import type { AugmentConfig, BatchConfig, Crop, TrainConfig } from "./config.ts";
import type { BatchSource } from "./loop.ts";
import type { StackPool } from "./renderPool.ts";

/** Stacks a step takes at this many planes and this side of the images: fewer of deeper and of larger ones, so that steps stay the same work. */
export const stacksFor = ({ size, planes: [first = 1], crop }: BatchConfig, planes: number, side = crop): number =>
  Math.max(2, Math.round(((size * first) / planes) * (crop / side) ** 2));

/**
 * Batches drawn from a pool by tensor operators alone: the host only launches them and never waits. Everything random comes from a
 * generator seeded by the step, so the batch of a step is always the same.
 */
export function createPoolBatches(
  engine: TorchEngine,
  pool: StackPool,
  { batch: sizes, augment, seed, share = 0 }: Pick<TrainConfig, "batch" | "augment" | "seed"> & { readonly share?: number },
): BatchSource {
  const root = createRandom(seed).split("batches");
  const subsets = new Map(
    [...new Set(sizes.planes)].map((planes) => [planes, planeSubsets(engine, root.split(planes), { of: pool.planes, planes })]),
  );
  const crops = sizes.crops ?? [{ side: sizes.crop, reduced: 1 }];
  return {
    async batch(step) {
      await pool.advance(step);
      const ofStep = root.split(step); // the same for every process
      const planes = sizes.planes[ofStep.integer(sizes.planes.length)] as number;
      const crop = crops[ofStep.integer(crops.length)] as Crop;
      engine.seed(root.split(`${step}.${share}`).integer(0x80000000));
      const count = stacksFor(sizes, planes, crop.side / crop.reduced);
      const options = { count, crop, subsets: subsets.get(planes) as TorchTensor };
      return engine.noGradient(() => scope(() => drawBatch(engine, pool, { ...options, augment })));
    },
  };
}

const SUBSETS = 1024;

/** A table [1024, planes] of plane choices: half of them evenly spaced, half any in order. */
function planeSubsets(engine: TorchEngine, random: Random, { of, planes }: { of: number; planes: number }): TorchTensor {
  const even = (): number[] => {
    const stride = 1 + random.integer(Math.floor((of - 1) / (planes - 1)));
    const first = random.integer(of - stride * (planes - 1));
    return Array.from({ length: planes }, (_, n) => first + stride * n);
  };
  const any = (): number[] => {
    const left = Array.from({ length: of }, (_, n) => n);
    const chosen = Array.from({ length: planes }, () => left.splice(random.integer(left.length), 1)[0] as number);
    return chosen.sort((a, b) => a - b);
  };
  const rows = Array.from({ length: SUBSETS }, (_, i) => (i % 2 === 0 ? even() : any()));
  return keep(engine.constant(rows.flat(), { shape: [SUBSETS, planes], dtype: "i64" }));
}

interface Draw {
  readonly count: number;
  readonly crop: Crop;
  readonly subsets: TorchTensor;
  readonly augment: AugmentConfig;
}

function drawBatch(engine: TorchEngine, pool: StackPool, { count: B, crop, subsets, augment }: Draw): TrainBatch {
  const N = subsets.shape[1] as number;
  const draw = randomTensors(engine);
  const stacks = draw.integers(pool.size, [B]);
  const inOrder = select(engine, subsets, draw.integers(SUBSETS, [B]));
  const planes = draw.chance(augment.reverse, [B, 1]).where(inOrder.flip(1), inOrder); // [B, N]
  const pictures = select(
    engine,
    pool.images,
    stacks
      .mul(pool.planes)
      .unsqueeze(1)
      .add(planes)
      .reshape([B * N]),
  ); // [B·N, 3, S, S]
  const focusDistances = engine.compute("aten::gather", select(engine, pool.focusDistances, stacks), 1, planes);

  const severalShots = select(engine, pool.onePicture, stacks).neg().add(1); // [B, 1]
  const frame = cropFrames(draw, { B, crop: crop.side, size: pool.side });
  const moved = misaligned(draw, frame, { N, augment, size: pool.side, severalShots });
  const images = reduced(sampled(engine, pictures.cast("f32").mul(1 / 255), moved, "bilinear"), crop.reduced);
  const depth = reducedDepth(sampled(engine, select(engine, pool.depth, stacks), frame, "nearest"), crop.reduced);
  const shown = crop.side / crop.reduced;
  const textured = images.reshape([B, N, 3, shown, shown]);
  const surfaces = augment.bare ? withBareParts(draw, textured, augment.bare) : textured;
  const coloured = exposed(draw, surfaces, { augment, severalShots });
  const dioptres = draw.chance(augment.dioptres, [B, 1]);
  return {
    images: coloured,
    ...planeCoordinates({ depth, focusDistances, dioptres }, { beyond: augment.beyond ?? 0, inner: augment.inner ?? 1 }),
  };
}

/** Images of a size smaller by this factor, [·, 3, H, W], as a camera with larger pixels takes them. */
const reduced = (images: TorchTensor, factor: number): TorchTensor =>
  factor === 1 ? images : images.avgPool({ kernel: [factor, factor], stride: [factor, factor] });

/** One pixel's depth of each square: their mean would lie between an object and what is behind it. */
function reducedDepth(depth: TorchTensor, factor: number): TorchTensor {
  if (factor === 1) return depth;
  const { engine } = depth;
  const every = (map: Tensor, axis: number): TorchTensor => engine.compute("aten::slice.Tensor", map, axis, factor >> 1, null, factor);
  return every(every(depth, -2), -1);
}

/** Near a depth edge: within a square of this side depth differs by more than this many planes. */
const EDGE = { square: 9, planes: 0.5 } as const;

/** 1 near the edges of a depth map in planes, [B, 1, H, W], and `inner` elsewhere; what is not known makes no edge. */
export function edgeWeight({ depth, known }: { depth: Tensor; known: Tensor }, { inner }: { readonly inner: number }): Tensor {
  const nothing = -1e6; // smaller than any plane and any negative one
  const largest = (map: Tensor): Tensor =>
    known
      .where(map, nothing)
      .maxPool2d({ kernel: [EDGE.square, EDGE.square], stride: [1, 1], padding: [EDGE.square >> 1, EDGE.square >> 1] });
  const isEdge = largest(depth).add(largest(depth.neg())).greater(EDGE.planes);
  return isEdge
    .cast("f32")
    .mul(1 - inner)
    .add(inner);
}

/**
 * Depth measured in planes: f_1 becomes 0 and f_N becomes N − 1, in metres or in dioptres. The network's output moves with f, so
 * this only fixes the unit of the losses. Depth is clamped to the planes; pixels more than half a plane outside count by `beyond`, those
 * away from depth edges by `inner`.
 */
export function planeCoordinates(
  { depth, focusDistances, dioptres }: { depth: Tensor; focusDistances: Tensor; dioptres: Tensor },
  { beyond = 0, inner = 1 }: { readonly beyond?: number; readonly inner?: number } = {},
) {
  const [B, N] = focusDistances.shape as [number, number];
  const known = depth.greater(0);
  const f = dioptres.where(focusDistances.pow(-1), focusDistances);
  const first = f.slice(1, { end: 1 });
  const perUnit = f
    .slice(1, { start: -1 })
    .sub(first)
    .pow(-1)
    .mul(N - 1);
  const map = (tensor: Tensor): Tensor => tensor.reshape([B, 1, 1, 1]);
  const positive = known.where(depth, 1);
  const value = map(dioptres).where(positive.pow(-1), positive).sub(map(first)).mul(map(perUnit));
  const near = value.greaterEqual(-0.5).logicalAnd(value.lessEqual(N - 0.5));
  const trueDepth = value.clamp({ min: 0, max: N - 1 });
  const valid = known.where(near.where(known.cast("f32"), beyond), 0);
  return {
    focusDistances: f.sub(first).mul(perUnit),
    trueDepth,
    valid: inner === 1 ? valid : valid.mul(edgeWeight({ depth: trueDepth, known }, { inner })),
  };
}

const select = (engine: TorchEngine, tensor: Tensor, indices: Tensor): TorchTensor =>
  engine.compute("aten::index_select", tensor, 0, indices);

function randomTensors(engine: TorchEngine) {
  const uniform = (shape: readonly number[]): TorchTensor => engine.compute("aten::rand", shape, "f32", null, engine.device);
  return {
    uniform,
    between: ([low, high]: readonly [number, number], shape: readonly number[]): TorchTensor =>
      uniform(shape)
        .mul(high - low)
        .add(low),
    normal: (shape: readonly number[]): TorchTensor => engine.compute("aten::randn", shape, "f32", null, engine.device),
    integers: (below: number, shape: readonly number[]): TorchTensor =>
      engine.compute("aten::randint", below, shape, "i64", null, engine.device),
    chance: (probability: number, shape: readonly number[]): TorchTensor => uniform(shape).less(probability),
  };
}
type Draws = ReturnType<typeof randomTensors>;

/** Source position of each pixel of an image, in [−1, 1] over the source (pixel centres at half integers); each [B, h, w]. */
interface Frame {
  readonly x: Tensor;
  readonly y: Tensor;
}

/** In [−1, 1]. */
const pixelCentres = (engine: Engine, count: number): Tensor =>
  engine
    .range(count)
    .mul(2)
    .add(1)
    .mul(1 / count)
    .sub(1);

/** Whole images of B stacks, unchanged. */
function wholeFrames(engine: Engine, { B, H, W }: { B: number; H: number; W: number }): Frame {
  const everywhere = engine.full([B, H, W], 0);
  return {
    x: everywhere.add(pixelCentres(engine, W).reshape([1, 1, W])),
    y: everywhere.add(pixelCentres(engine, H).reshape([1, H, 1])),
  };
}

/** A crop at whole pixels, flipped and turned on its diagonal half the time each. */
function cropFrames({ uniform, chance }: Draws, { B, crop, size }: { B: number; crop: number; size: number }): Frame {
  const steps = pixelCentres(uniform([1]).engine, crop);
  const [across, down] = [steps.reshape([1, 1, crop]), steps.reshape([1, crop, 1])];
  const shape = [B, 1, 1];
  const offset = (): Tensor =>
    floor(uniform(shape).mul(size - crop + 1))
      .mul(2)
      .add(crop)
      .mul(1 / size)
      .sub(1);
  const sign = (): Tensor => chance(0.5, shape).cast("f32").mul(2).sub(1);
  const turned = chance(0.5, shape);
  const axis = (along: Tensor, other: Tensor): Tensor =>
    turned
      .where(other, along)
      .mul(sign().mul(crop / size))
      .add(offset());
  return { x: axis(across, down), y: axis(down, across) };
}

const floor = (tensor: TorchTensor): TorchTensor => tensor.engine.compute("aten::floor", tensor);

/** The frame for each plane, with what an alignment leaves over: a shift and a scale for some of the stacks. [B·N, h, w]. */
function misaligned(
  { normal, chance }: Draws,
  frame: Frame,
  { N, augment, size, severalShots }: { N: number; augment: AugmentConfig; size: number; severalShots: Tensor },
): Frame {
  const [B, h, w] = frame.x.shape as [number, number, number];
  const moved = chance(augment.misalign, [B, 1, 1, 1])
    .cast("f32")
    .mul(severalShots.reshape([B, 1, 1, 1]));
  const each = (deviation: number): Tensor => normal([B, N, 1, 1]).mul(moved).mul(deviation);
  const scale = each(augment.scale).add(1);
  const along = (positions: Tensor): Tensor =>
    positions
      .unsqueeze(1)
      .mul(scale)
      .add(each((augment.shift * 2) / size))
      .reshape([B * N, h, w]);
  return { x: along(frame.x), y: along(frame.y) };
}

function sampled(engine: TorchEngine, pictures: Tensor, { x, y }: Frame, mode: "bilinear" | "nearest"): TorchTensor {
  const grid = engine.compute("aten::stack", [x, y], -1);
  const [interpolation, reflection] = [mode === "bilinear" ? 0 : 1, 2];
  return engine.compute("aten::grid_sampler", pictures, grid, interpolation, reflection, false);
}

/**
 * The stacks, of which this share have parts without texture: there the contrast around a slow picture, the same in every plane, falls
 * to nothing, anywhere between a corner and the whole image. Rendered surfaces show focus almost everywhere; photographed walls do not, and a
 * network that never saw this puts them anywhere and is sure of it. Depth stays what it was: it has to come from the surroundings.
 */
function withBareParts({ normal, chance, between }: Draws, images: TorchTensor, share: number): TorchTensor {
  const [B, , C, H, W] = images.shape as [number, number, number, number, number];
  const [h, w] = nodesOver([H, W], BARE.cell * Math.max(Math.round(W / 256), 1)); // a wall is as much of a large image as of a small one
  const field = normal([B, 1, h, w]).resize2d([H, W], "bilinear");
  const contrast = field
    .sub(between([-BARE.threshold, BARE.threshold], [B, 1, 1, 1]))
    .mul(BARE.steepness) // from all to nothing over about a third of a cell
    .clamp({ min: 0, max: 1 });
  const isWhole = chance(1 - share, [B, 1, 1, 1]);
  const mean = images.mean([1]); // [B, 3, H, W]
  const square = [BARE.square, BARE.square];
  const slow = mean.avgPool({ kernel: square, stride: square }).resize2d([H, W], "bilinear").reshape([B, 1, C, H, W]);
  const kept = isWhole.where(1, contrast).reshape([B, 1, 1, H, W]);
  return images.sub(slow).mul(kept).add(slow);
}

/** Gamma and colour of the whole stack; brightness and noise of each plane where each was a shot of its own; then what a sensor clips. */
function exposed(
  { uniform, between, normal }: Draws,
  images: TorchTensor,
  { augment, severalShots }: { augment: AugmentConfig; severalShots: Tensor },
): TorchTensor {
  const shape = images.shape as [number, number, number, number, number];
  const [B, N] = shape;
  const { engine } = images;
  const gamma = between(augment.gamma, [B, 1, 1, 1, 1]);
  const shots = severalShots.reshape([B, 1, 1, 1, 1]);
  const exposure = between(augment.exposure, [B, N, 1, 1, 1]).sub(1).mul(shots).add(1);
  const gain = between(augment.colour, [B, 1, 3, 1, 1]).mul(exposure);
  const noise = uniform([B, 1, 1, 1, 1]).square().mul(augment.noise).mul(shots);
  const light = engine.compute("aten::pow.Tensor_Tensor", images.maximum(1e-4), gamma);
  const noisy = light.mul(gain).add(normal(images.shape).mul(noise));
  if (!augment.blotches) return noisy.clamp({ min: 0, max: 1 });
  const deviation = uniform([B, 1, 1, 1, 1]).square().mul(augment.blotches).mul(shots);
  return noisy.add(slowNoise(normal, shape).mul(deviation)).clamp({ min: 0, max: 1 });
}

/**
 * Noise that averaging does not remove: normal deviates at nodes 8 and 32 pixels apart, bilinear between them, of each plane and the same for every channel; [B, N, 1, H, W]. Photographs have it
 * after denoising, and as the shading of the lens changes with focus: on a wall taken by a phone the deviation between frames falls from 0.0035 at
 * single pixels to 0.001 over 8×8 of them, and stays there up to 30×30. It hides what little a plain surface shows of focus.
 */
function slowNoise(normal: Draws["normal"], [B, N, , H, W]: readonly [number, number, number, number, number]): TorchTensor {
  const layer = (cell: number): TorchTensor => {
    const [h, w] = nodesOver([H, W], cell);
    return normal([B * N, 1, h, w]).resize2d([H, W], "bilinear");
  };
  const [finer, coarser] = BLOTCH_CELLS;
  return layer(finer).add(layer(coarser)).reshape([B, N, 1, H, W]);
}

interface Change {
  readonly augment: AugmentConfig;
  readonly random: Random;
}

/** The images with the misalignment, exposure and noise of rendered stacks, each plane as its own shot. Settings that are off cost nothing. */
export function changeImages(engine: TorchEngine, images: TorchTensor, { augment, random }: Change): TorchTensor {
  const { misalign, gamma, colour, exposure, noise, blotches = 0, bare = 0 } = augment;
  const isMoved = misalign > 0;
  const isToned = noise > 0 || blotches > 0 || [gamma, colour, exposure].some(([low, high]) => low !== 1 || high !== 1);
  if (!isMoved && !isToned && bare === 0) return images;
  const [B, N, C, H, W] = images.shape as [number, number, number, number, number];
  const severalShots = engine.full([B, 1], 1);
  engine.seed(random.integer(0x80000000));
  const draw = randomTensors(engine);
  const move = (): TorchTensor => {
    const frames = misaligned(draw, wholeFrames(engine, { B, H, W }), { N, augment, size: W, severalShots }); // crops are square
    return sampled(engine, images.reshape([B * N, C, H, W]), frames, "bilinear").reshape(images.shape);
  };
  const moved = isMoved ? move() : images;
  const surfaces = bare > 0 ? withBareParts(draw, moved, bare) : moved;
  return isToned ? exposed(draw, surfaces, { augment, severalShots }) : surfaces;
}
