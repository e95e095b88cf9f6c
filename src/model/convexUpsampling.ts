import { AXIS, dims, MAP_AXIS, over, times } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { Conv2d } from "../nn/conv.ts";
import { convNorm2d, type ConvNorm } from "../nn/convNorm.ts";
import { kaimingNormal, zeros } from "../nn/init.ts";
import type { Initialiser, ParameterSource } from "../nn/module.ts";
import { planeSize } from "./volume.ts";

/** From 1/4 of the image's size to all of it. */
const FACTOR = 4;

/** Logits at full size, each a convex combination of the 3×3 around it at 1/4 (as RAFT upsamples flow, Teed and Deng 2020). */
export class ConvexUpsampling {
  readonly mix: ConvNorm;
  readonly weigh: Conv2d;
  /** The logarithm of the weights where the features say nothing; bilinear at first. */
  readonly start: Tensor;

  /** `in`: channels of the features; `width`: of the hidden layer. */
  constructor(source: ParameterSource, { in: input, width }: { readonly in: number; readonly width: number }) {
    const picture = 3 * FACTOR ** 2;
    this.mix = convNorm2d(source.at("mix"), { in: input + picture, out: width, kernel: 3, activation: "relu", init: kaimingNormal("out") });
    this.weigh = new Conv2d(source.at("weigh"), { in: width, out: 9 * FACTOR ** 2, kernel: 1, init: zeros });
    this.start = source.parameter("start", [9 * FACTOR ** 2, 1, 1], bilinear);
  }

  /**
   * The weights, the same for all planes, follow from what is in focus at a place: its features and its 4×4 pixels, Σ_n p_n of either.
   * `logits` [B, 1, N, h, w], `features` [B, C, N, h, w], `images` [B, N, 3, 4h, 4w] → [B, 1, N, 4h, 4w].
   */
  forward({ logits, features, images }: { readonly logits: Tensor; readonly features: Tensor; readonly images: Tensor }): Tensor {
    dims(logits, "B 1 N h w", "convex upsampling");
    const p = logits.cast("f32").softmax(AXIS.plane);
    const scores = this.weigh.forward(this.mix.forward(inFocus({ features, images, p })));
    return convexUpsample({ logits: logits.squeeze(AXIS.channel).cast("f32"), scores, start: this.start });
  }
}

/** Σ_n p_n of the features and of the 4×4 pixels of each cell: p [B, 1, N, h, w] → [B, C + 48, h, w]. */
export function inFocus(maps: { readonly features: Tensor; readonly images: Tensor; readonly p: Tensor }): Tensor {
  const { features, images, p } = maps;
  const { engine } = features;
  const fused = engine.inFocus?.(maps);
  if (fused) return fused;
  const picture = images.mul(p.resize2d(planeSize(images), "nearest").permute([0, 2, 1, 3, 4])).sum([1]); // the sum first: N times less to fold
  return engine.concat([features.mul(p).sum([AXIS.plane]), folded(picture)], AXIS.channel);
}

/** Σ_k w_k of the 3×3 around each cell, w = softmax_k(scores + start): `logits` [B, N, h, w], `scores` [B, 9·16, h, w] → [B, 1, N, 4h, 4w]. */
export function convexUpsample(maps: { readonly logits: Tensor; readonly scores: Tensor; readonly start: Tensor }): Tensor {
  const { logits, scores, start } = maps;
  const fused = logits.engine.convexUpsample?.(maps);
  if (fused) return fused.unsqueeze(AXIS.channel);
  const { B, N, h, w } = dims(logits, "B N h w", "convex upsampling");
  const weights = scores
    .cast(logits.dtype)
    .add(start)
    .reshape([B, 9, FACTOR ** 2, h, w])
    .softmax(1);
  const parts = neighbourhood(logits).map((neighbour, k) => neighbour.unsqueeze(2).mul(weights.slice(1, { start: k, end: k + 1 }))); // [B, N, 16, h, w]
  return parts
    .reduce((sum, part) => sum.add(part))
    .reshape([B, N, FACTOR, FACTOR, h, w])
    .permute([0, 1, 4, 2, 5, 3])
    .reshape([B, 1, N, times(h, FACTOR), times(w, FACTOR)]);
}

/** [B, 3, H, W] → [B, 48, H/4, W/4]: the pixels of a cell as channels. */
function folded(picture: Tensor): Tensor {
  const { B, H, W } = dims(picture, "B 3 H W", "convex upsampling");
  const [h, w] = [over(H, FACTOR), over(W, FACTOR)];
  return picture
    .reshape([B, 3, h, FACTOR, w, FACTOR])
    .permute([0, 1, 3, 5, 2, 4])
    .reshape([B, 3 * FACTOR ** 2, h, w]);
}

/** The 3×3 around every place, row by row: nine maps of the size of `map`; those beyond the edge are those on it. */
function neighbourhood(map: Tensor): Tensor[] {
  const shifts = (tensor: Tensor, axis: number): Tensor[] => {
    const { engine } = tensor;
    const first = tensor.slice(axis, { end: 1 });
    const last = tensor.slice(axis, { start: -1 });
    return [
      engine.concat([first, tensor.slice(axis, { end: -1 })], axis),
      tensor,
      engine.concat([tensor.slice(axis, { start: 1 }), last], axis),
    ];
  };
  return shifts(map, MAP_AXIS.row).flatMap((row) => shifts(row, MAP_AXIS.column));
}

/** Logarithms of the bilinear weights of each of 4×4 pixels over the 3×3 cells around; nearly none is −7, so that it can grow. */
const bilinear: Initialiser = () => {
  const along = (sub: number): number[] => {
    const offset = (sub + 0.5) / FACTOR - 0.5;
    return [Math.max(0, -offset), 1 - Math.abs(offset), Math.max(0, offset)];
  };
  const subs = Array.from({ length: FACTOR }, (_, sub) => along(sub));
  const weight = (k: number, sub: number): number =>
    (subs[Math.floor(sub / FACTOR)]?.[Math.floor(k / 3)] as number) * (subs[sub % FACTOR]?.[k % 3] as number);
  return Float32Array.from({ length: 9 * FACTOR ** 2 }, (_, i) =>
    Math.log(Math.max(1e-3, weight(Math.floor(i / FACTOR ** 2), i % FACTOR ** 2))),
  );
};
