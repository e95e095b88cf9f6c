import type { Tensor } from "../engine/engine.ts";
import { keep, scope } from "../engine/scope.ts";
import type { TorchEngine } from "../engine/torch/torchEngine.ts";
import { BASIS, CHROMA, LUMINANCE_WEIGHTS, quantisation } from "../optics/render/jpeg.ts";
import { DENOISE_RADIUS, SHARPEN_TAPS } from "../optics/render/phone.ts";
import type { Phone } from "../optics/scene/scene.ts";

/** What the images need besides their own settings, on the device. */
interface Constants {
  /** [1, 3, 1, 1]. */
  readonly luminance: Tensor;
  /** Of sharpening's blur, [1, 1, 5, 5]. */
  readonly blur: Tensor;
  /** From the pixels of a block to its frequencies, [64, 64]. */
  readonly transform: Tensor;
}

/**
 * What optics/render/phone.ts does to one frame, on the device, for whole stacks: shading, denoising, sharpening, tone, JPEG.
 * Takes u8 [B, N, 3, H, W] and one entry of `phones` per stack; returns the same shape.
 */
export function createPhoneImages(engine: TorchEngine): (images: Tensor, phones: readonly Phone[]) => Tensor {
  const taps = SHARPEN_TAPS.flatMap((down) => SHARPEN_TAPS.map((across) => down * across));
  const constants: Constants = {
    luminance: keep(engine.constant([...LUMINANCE_WEIGHTS], { shape: [1, 3, 1, 1] })),
    blur: keep(engine.constant(taps, { shape: [1, 1, SHARPEN_TAPS.length, SHARPEN_TAPS.length] })),
    transform: keep(engine.constant(BLOCK_TRANSFORM, { shape: [64, 64] })),
  };
  return (images, phones) =>
    scope(() => {
      const [B, N, , H, W] = images.shape as [number, number, number, number, number];
      const settings = frameSettings(engine, phones, N);
      const light = images
        .reshape([B * N, 3, H, W])
        .cast("f32")
        .mul(1 / 255)
        .mul(shading(engine, settings, { H, W }));
      const smooth = scope(() => denoised(light, settings.noise));
      const sharp = scope(() => smooth.add(detail(engine, smooth, constants).mul(settings.sharpen)));
      const toned = scope(() => toneCurve(engine, sharp, settings));
      const compressed = jpeg(engine, toned.mul(255), { ...constants, ...settings });
      return compressed.add(0.5).clamp({ min: 0, max: 255 }).cast("u8").reshape(images.shape);
    });
}

type Settings = ReturnType<typeof frameSettings>;

/** The settings of every frame, [B·N, 1, 1, 1] each, and the steps of its frequencies, [B·N, 1, 1, 64]: one transfer to the device. */
function frameSettings(engine: TorchEngine, phones: readonly Phone[], planes: number) {
  const rows = phones.flatMap(({ shading: [right, down, corner], denoise, sharpen, tone, jpegQuality }) => {
    const steps = quantisation(jpegQuality);
    return Array.from({ length: planes }, (_, plane) => {
      const { black, gamma, contrast } = tone[plane] as Phone["tone"][number];
      return [right, down, corner / 2, denoise ** 2, sharpen, black, gamma, contrast, ...steps.luminance, ...steps.chroma];
    });
  });
  const table = engine.constant(rows.flat(), { shape: [rows.length, 1, 1, 8 + 2 * 64] });
  const columns = (start: number, count = 1): Tensor => table.slice(3, { start, end: start + count });
  return {
    ...{ right: columns(0), down: columns(1), corner: columns(2), noise: columns(3), sharpen: columns(4) },
    ...{ black: columns(5), gamma: columns(6), contrast: columns(7) },
    ...{ luminanceSteps: columns(8, 64), chromaSteps: columns(72, 64) },
  };
}

/** 1 + right·x + down·y − corner·(x² + y²)/2, [B·N, 1, H, W]. */
function shading(engine: TorchEngine, { right, down, corner }: Settings, { H, W }: { readonly H: number; readonly W: number }): Tensor {
  const centres = (count: number, shape: readonly number[]): Tensor =>
    engine
      .range(count)
      .mul(2)
      .add(1)
      .mul(1 / count)
      .sub(1)
      .reshape(shape);
  const [x, y] = [centres(W, [1, 1, 1, W]), centres(H, [1, 1, H, 1])];
  return x.mul(right).add(y.mul(down)).sub(x.square().add(y.square()).mul(corner)).add(1).relu();
}

/** The guided filter by each channel itself; `noise` is ε², [B·N, 1, 1, 1]. */
function denoised(images: Tensor, noise: Tensor): Tensor {
  const side = 2 * DENOISE_RADIUS + 1;
  const window = { kernel: [side, side], stride: [1, 1], padding: [DENOISE_RADIUS, DENOISE_RADIUS] };
  const mean = images.avgPool(window);
  const variance = images.square().avgPool(window).sub(mean.square()).relu();
  const a = variance.div(variance.add(noise).add(1e-12)); // without noise and variance 0 / 0
  const b = mean.mul(a.neg().add(1));
  return a.avgPool(window).mul(images).add(b.avgPool(window));
}

/** Luminance without what a blur leaves of it, [B·N, 1, H, W]. */
function detail(engine: TorchEngine, images: Tensor, { luminance: weights, blur }: Constants): Tensor {
  const luminance = images.mul(weights).sum([1], { keepAxes: true });
  const reach = SHARPEN_TAPS.length >> 1;
  const padded = engine.compute("aten::replication_pad2d", luminance, [reach, reach, reach, reach]);
  return luminance.sub(padded.conv2d(blur));
}

function toneCurve(engine: TorchEngine, images: Tensor, { black, gamma, contrast }: Settings): Tensor {
  const light = images.sub(black).div(black.neg().add(1)).clamp({ min: 0, max: 1 });
  const t = engine.compute("aten::pow.Tensor_Tensor", light, gamma);
  const curve = t.mul(t.neg().add(1)).mul(t.mul(2).sub(1));
  return t.add(curve.mul(contrast));
}

/** JPEG of images [M, 3, H, W] in levels, chroma at half resolution. */
function jpeg(engine: TorchEngine, images: Tensor, { luminance: weights, transform, ...steps }: Constants & Settings): Tensor {
  const channel = (c: number): Tensor => images.slice(1, { start: c, end: c + 1 });
  const luminance = images.mul(weights).sum([1], { keepAxes: true });
  const chroma = engine.concat([channel(2).sub(luminance).mul(CHROMA.blue), channel(0).sub(luminance).mul(CHROMA.red)], 1);
  const half = chroma.avgPool({ kernel: [2, 2], stride: [2, 2] });
  const [H, W] = images.shape.slice(2) as [number, number];
  const y = rounded(engine, luminance.sub(128), { transform, steps: steps.luminanceSteps }).add(128);
  const decoded = rounded(engine, half, { transform, steps: steps.chromaSteps }).resize2d([H, W], "bilinear");
  const blue = y.add(decoded.slice(1, { end: 1 }).mul(1 / CHROMA.blue));
  const red = y.add(decoded.slice(1, { start: 1 }).mul(1 / CHROMA.red));
  const [r, g, b] = LUMINANCE_WEIGHTS;
  const green = y
    .sub(red.mul(r))
    .sub(blue.mul(b))
    .mul(1 / g);
  return engine.concat([red, green, blue], 1);
}

/** The 8×8 blocks of [M, C, H, W] with their frequencies quantised: a block is a row of 64 values, its DCT one product with a 64×64 matrix. */
function rounded(
  engine: TorchEngine,
  planes: Tensor,
  { transform, steps }: { readonly transform: Tensor; readonly steps: Tensor },
): Tensor {
  return scope(() => {
    const [M, C, H, W] = planes.shape as [number, number, number, number];
    const [rows, columns] = [H / 8, W / 8];
    const blocks = planes
      .reshape([M, C, rows, 8, columns, 8])
      .permute([0, 1, 2, 4, 3, 5])
      .reshape([M, C, rows * columns, 64]);
    const frequencies = engine.compute("aten::round", blocks.matmul(transform).div(steps)).mul(steps);
    const back = frequencies.matmul(transform.permute([1, 0]));
    return back.reshape([M, C, rows, columns, 8, 8]).permute([0, 1, 2, 4, 3, 5]).reshape(planes.shape);
  });
}

/** Entry [8 y + x, 8 v + u]: what pixel (x, y) of a block contributes to frequency (u, v). */
const BLOCK_TRANSFORM = Float64Array.from({ length: 64 * 64 }, (_, i) => {
  const [y, x, v, u] = [i >> 9, (i >> 6) & 7, (i >> 3) & 7, i & 7];
  return (BASIS[8 * v + y] as number) * (BASIS[8 * u + x] as number);
});
