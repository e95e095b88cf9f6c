import type { Window } from "../../image/crop.ts";
import type { Tensor } from "../../engine/engine.ts";
import { scope } from "../../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../../engine/torch/torchEngine.ts";
import type { Camera } from "../../stack/stackFormat.ts";
import { blurPerDioptre } from "../../optics/lens/thinLens.ts";
import type { TrainBatch } from "../batch.ts";
import { gatherBlurs } from "../deviceBlur.ts";
import type { HeldStacks } from "./heldStacks.ts";

/** A part of a held stack, and how it is seen. */
export interface Cut {
  readonly slot: number;
  readonly window: Window;
  /** Left and right, or top and bottom, change places. */
  readonly mirrored: { readonly columns: boolean; readonly rows: boolean };
}

/** One stack of a batch. The windows of all have one size. */
export interface Choice extends Cut {
  /** Focus distances near to far, in the unit of the depth; of a focal stack those of `planes`. */
  readonly focusDistances: readonly number[];
  /** Of an RGB-D pair: its depth is multiplied by this before anything else; the focus distances are of the product. */
  readonly depthFactor?: number;
  /** Which pictures of a focal stack; not of a sharp picture, which is blurred for each distance. */
  readonly planes?: readonly number[];
  /** Near and far change places, every distance d → first + last − d. */
  readonly reversed: boolean;
  /** Another picture under this depth, so that nothing but blur tells it. */
  readonly picture?: Cut;
  /** Of a sharp picture, before it is blurred. */
  readonly tone?: { readonly gamma: number; readonly gains: readonly [number, number, number] };
}

export interface CutOptions {
  /** Multiplies depth and focus distances. */
  readonly unit: number;
  /** The lens that blurs sharp pictures. */
  readonly camera?: Camera | undefined;
  /** Only pixels whose depth lies between the first and the last focus distance count (DFV trains so). */
  readonly focusRangeOnly: boolean;
}

const WINDOW = 7; // HybridDepth's kernel
const HOLE_DIOPTRES = 1e8; // HybridDepth's holes of 0 m + 1e-8

/** The batch of these choices, made on the device: f32 images in [0, 1], crops of the stacks, or the A.2 synthesis of sharp pictures. */
export function cutBatch(engine: TorchEngine, held: HeldStacks, choices: readonly Choice[], options: CutOptions): TrainBatch {
  return engine.noGradient(() =>
    scope(() => {
      const { height: H, width: W } = (choices[0] as Choice).window;
      const B = choices.length;
      const here = locate(engine, held, choices, 0);
      const rows = (tensor: Tensor): Tensor => select(engine, tensor, here.index).reshape([B, 1, H, W]);
      const depth = scaledDepth(engine, rows(held.depth), choices);
      const known = rows(held.valid).greater(0);
      const images = options.camera ? blurPictures(engine, held, choices, options.camera) : cutPlanes(engine, held, choices);
      return { images, ...truth(engine, choices, { depth, known, options }) };
    }),
  );
}

function scaledDepth(engine: TorchEngine, depth: Tensor, choices: readonly Choice[]): Tensor {
  if (choices.every(({ depthFactor }) => depthFactor === undefined)) return depth;
  const factors = choices.map(({ depthFactor = 1 }) => depthFactor);
  return depth.mul(engine.constant(factors, { shape: [choices.length, 1, 1, 1] }));
}

/** D*, its mask and f, in the unit asked for. */
function truth(
  engine: TorchEngine,
  choices: readonly Choice[],
  { depth, known, options }: { depth: Tensor; known: Tensor; options: CutOptions },
): Pick<TrainBatch, "trueDepth" | "valid" | "focusDistances"> {
  const B = choices.length;
  const N = (choices[0] as Choice).focusDistances.length;
  const { unit, focusRangeOnly } = options;
  const each = (value: (choice: Choice) => number, dtype: "f32" | "f64" = "f32"): Tensor =>
    engine.constant(choices.map(value), { shape: [B, 1, 1, 1], dtype });
  const ends = choices.map(({ focusDistances: f }) => (f[0] as number) + (f.at(-1) as number));
  const least = each(({ focusDistances }) => Math.min(...focusDistances), "f64");
  const most = each(({ focusDistances }) => Math.max(...focusDistances), "f64");
  const valid = focusRangeOnly ? known.logicalAnd(depth.greaterEqual(least)).logicalAnd(depth.lessEqual(most)) : known;
  const turned = each(({ reversed }) => (reversed ? -1 : 1))
    .mul(depth)
    .add(
      engine.constant(
        choices.map(({ reversed }, b) => (reversed ? (ends[b] as number) : 0)),
        { shape: [B, 1, 1, 1] },
      ),
    );
  const focus = choices.flatMap(({ focusDistances, reversed }, b) =>
    reversed ? focusDistances.map((f) => (ends[b] as number) - f).reverse() : focusDistances,
  );
  return {
    trueDepth: valid.where(turned.mul(unit), 0),
    valid: valid.cast("f32"),
    focusDistances: engine.constant(
      focus.map((f) => f * unit),
      { shape: [B, N] },
    ),
  };
}

interface Places {
  /** i64 [B · h · w] into the rows of a held tensor, for windows grown by the margin. */
  readonly index: Tensor;
  /** Whether the place lies in the picture; bool [B, 1, h, w]. Places outside have the index of the nearest inside. */
  readonly inside: Tensor;
}

/** Where the pixels of the cuts lie among those of `held`, one picture a stack. */
function locate(engine: TorchEngine, held: HeldStacks, cuts: readonly Cut[], margin: number): Places {
  const B = cuts.length;
  const { window } = cuts[0] as Cut;
  const [h, w] = [window.height + 2 * margin, window.width + 2 * margin];
  const each = (value: (cut: Cut) => number): TorchTensor => engine.constant(cuts.map(value), { shape: [B, 1, 1], dtype: "i64" });
  const along = (
    length: number,
    {
      axis,
      from,
      size,
      mirrored,
    }: { axis: 1 | 2; from: (cut: Cut) => number; size: (cut: Cut) => number; mirrored: (cut: Cut) => boolean },
  ) => {
    const steps = engine.range(length, { dtype: "i64" }).reshape(axis === 1 ? [1, length, 1] : [1, 1, length]);
    const place = each((cut) => from(cut) - margin + (mirrored(cut) ? length - 1 : 0)).add(
      steps.mul(each((cut) => (mirrored(cut) ? -1 : 1))),
    );
    const last = each((cut) => size(cut) - 1);
    return { at: engine.compute("aten::minimum", place.maximum(0), last), inside: place.greaterEqual(0).logicalAnd(place.lessEqual(last)) };
  };
  const stackOf = ({ slot }: Cut) => held.at(slot);
  const y = along(h, {
    axis: 1,
    from: ({ window: { top } }) => top,
    size: (cut) => stackOf(cut).height,
    mirrored: (cut) => cut.mirrored.rows,
  });
  const x = along(w, {
    axis: 2,
    from: ({ window: { left } }) => left,
    size: (cut) => stackOf(cut).width,
    mirrored: (cut) => cut.mirrored.columns,
  });
  const index = each(({ slot }) => slot * held.stride)
    .add(y.at.mul(each((cut) => stackOf(cut).width)))
    .add(x.at);
  return { index: index.reshape([B * h * w]), inside: y.inside.logicalAnd(x.inside).unsqueeze(1) };
}

const select = (engine: TorchEngine, tensor: Tensor, index: Tensor): TorchTensor => engine.compute("aten::index_select", tensor, 0, index);

/** [count · h · w, 3] → f32 [count, 3, h, w] in [0, 1]. */
function toPictures(rows: Tensor, { count, h, w }: { count: number; h: number; w: number }): Tensor {
  const planar = rows.reshape([count, h, w, 3]).permute([0, 3, 1, 2]);
  return planar.dtype === "u8" ? planar.cast("f32").mul(1 / 255) : planar;
}

/** The planes of focal stacks, [B, N, 3, H, W]. */
function cutPlanes(engine: TorchEngine, held: HeldStacks, choices: readonly Choice[]): Tensor {
  const { height: H, width: W } = (choices[0] as Choice).window;
  const [B, N] = [choices.length, (choices[0] as Choice).focusDistances.length];
  const { index } = locate(engine, held, choices, 0);
  const first = choices.map(({ slot }) => slot * held.stride * (held.pictures - 1)); // `index` counts one picture a stack
  const shifts = choices.flatMap(({ planes = [], reversed }, b) =>
    (reversed ? planes.toReversed() : planes).map((plane) => (first[b] as number) + plane * held.stride),
  );
  const all = index.reshape([B, 1, H * W]).add(engine.constant(shifts, { shape: [B, N, 1], dtype: "i64" }));
  return toPictures(select(engine, held.pixels, all.reshape([B * N * H * W])), { count: B * N, h: H, w: W }).reshape([B, N, 3, H, W]);
}

/**
 * Focal stacks of sharp pictures and their depth (A.2), [B, N, 3, H, W]: a window with the reach of the kernel around it is blurred, so
 * that its pixels are those of the whole picture. The radius of the blur is computed in f64, as on the CPU: it decides at 1 pixel
 * whether a pixel is copied.
 */
function blurPictures(engine: TorchEngine, held: HeldStacks, choices: readonly Choice[], camera: Camera): Tensor {
  const { height: H, width: W } = (choices[0] as Choice).window;
  const [B, N] = [choices.length, (choices[0] as Choice).focusDistances.length];
  const margin = (WINDOW - 1) / 2;
  const [h, w] = [H + 2 * margin, W + 2 * margin];
  const here = locate(engine, held, choices, margin);
  const pictured = choices.some(({ picture }) => picture)
    ? locate(
        engine,
        held,
        choices.map((choice) => choice.picture ?? choice),
        margin,
      )
    : here;
  const sharp = toned(engine, toPictures(select(engine, held.pixels, pictured.index), { count: B, h, w }), choices);

  const rows = (tensor: Tensor): Tensor => select(engine, tensor, here.index).reshape([B, 1, h, w]);
  const known = rows(held.valid).greater(0);
  const dioptres = known.where(
    known
      .where(scaledDepth(engine, rows(held.depth), choices), 1)
      .cast("f64")
      .pow(-1),
    HOLE_DIOPTRES,
  ); //    1 / S₂
  const distances = choices.flatMap(({ focusDistances, reversed }) => (reversed ? focusDistances.toReversed() : focusDistances));
  const perPlane = (value: (distance: number) => number): Tensor =>
    engine.constant(distances.map(value), { shape: [B, N, 1, 1], dtype: "f64" });
  const radius = dioptres
    .sub(perPlane((distance) => 1 / distance))
    .mul(perPlane((distance) => blurPerDioptre(camera, distance) / 2))
    .abs()
    .cast("f32");
  const blurRadius = here.inside.where(radius, 0); // what lies outside the picture gives nothing to its blur
  const blurred = gatherBlurs(engine, { picture: sharp, blurRadius, exponent: engine.full([B], 2) }, { window: WINDOW });
  const middle = blurred.slice(3, { start: margin, end: margin + H }).slice(4, { start: margin, end: margin + W });
  return engine.compute("aten::contiguous", middle);
}

/** Gamma and gain of each picture, then what a sensor clips. */
function toned(engine: TorchEngine, pictures: Tensor, choices: readonly Choice[]): Tensor {
  if (choices.every(({ tone }) => tone === undefined)) return pictures;
  const B = choices.length;
  const gamma = engine.constant(
    choices.map(({ tone }) => tone?.gamma ?? 1),
    { shape: [B, 1, 1, 1] },
  );
  const gains = engine.constant(
    choices.flatMap(({ tone }) => tone?.gains ?? [1, 1, 1]),
    { shape: [B, 3, 1, 1] },
  );
  return engine.compute("aten::pow.Tensor_Tensor", pictures.maximum(1e-4), gamma).mul(gains).clamp({ min: 0, max: 1 });
}
