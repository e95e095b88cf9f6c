import { AXIS, dims, times, type Dim } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { Conv2d } from "../nn/conv.ts";
import { zeroSum } from "../nn/init.ts";
import type { ParameterSource } from "../nn/module.ts";
import type { DualFocusConfig } from "./config.ts";
import { planeDifferences } from "./focusVolume.ts";
import { batchToPlanes } from "./volume.ts";

/** Sharpness at 1/4, 1/8 and 1/16 of the image, each [B, 3C, N, h, w]. */
export interface DetailPyramid {
  readonly quarter: Tensor;
  readonly eighth: Tensor;
  readonly sixteenth: Tensor;
}

type DetailConfig = NonNullable<DualFocusConfig["detail"]>;

/** Channels of each scale. */
export const detailChannels = ({ filters }: DetailConfig): number => 3 * filters;

/** Added to energies before the logarithm: a quarter of an 8-bit level, squared. Less than that is rounding. */
const FLOOR = 1e-6;

/** Brings log energies, −14 to 0, to about −2 to 2. */
const [CENTRE, SCALE] = [7, 1 / 3];

/**
 * Sharpness at the scale of the pixel, which the encoder's stem averages away and which is all that walls, fabric and skin have. A few 3×3
 * filters r over every plane at full resolution, then the logarithms of
 *
 *     e_n = mean of r_n²,    e_n / max_m e_m,    mean of (r_{n+1} − r_n)²
 *
 * over cells of 4, 8 and 16 pixels. In logarithms a weak texture counts like a strong one: the ratio of two planes is a matter of blur alone.
 * In full precision: in bf16 the texture of a wall would be lost.
 */
export class FineDetail {
  readonly filters: Conv2d;

  constructor(source: ParameterSource, { filters }: DetailConfig) {
    this.filters = new Conv2d(source.at("filters"), { in: 3, out: filters, kernel: 3, init: zeroSum });
  }

  /** `images` [B, N, 3, H, W]. */
  forward(images: Tensor): DetailPyramid {
    const { B, N } = dims(images, "B N 3 H W", "fine detail");
    return images.engine.fullPrecision(() => {
      const energies = detailEnergies(images.cast("f32"), this.filters.weight);
      const at = (cells: number): Tensor => {
        const [energy, change] = energies.map((each) => (cells === 1 ? each : cellMeans(each, cells))) as [Tensor, Tensor];
        return detailLogs([energy, change], { B, N });
      };
      return { quarter: at(1), eighth: at(2), sixteenth: at(4) };
    });
  }
}

/** The means of r_n² and (r_{n+1} − r_n)² over cells of 4×4 pixels, r being images [B, N, 3, H, W] filtered by [C, 3, 3, 3]: [B·N, C, H/4, W/4] both. */
export function detailEnergies(images: Tensor, filters: Tensor): readonly [Tensor, Tensor] {
  const { B, N, H, W } = dims(images, "B N 3 H W", "fine detail");
  const fused = images.engine.detailEnergies?.(images, filters);
  if (fused) return fused;
  const responses = images.reshape([times(B, N), 3, H, W]).conv2d(filters, { padding: 1 });
  return [cellMeans(responses.square(), 4), cellMeans(changesOf(responses, { B, N }).square(), 4)];
}

/** The logarithms of energies e and changes, [B·N, C, h, w] both, and of e_n / max_m e_m between them: [B, 3C, N, h, w]. */
export function detailLogs(energies: readonly [Tensor, Tensor], { B, N }: { readonly B: Dim; readonly N: Dim }): Tensor {
  const { engine } = energies[0];
  const fused = typeof N === "number" && engine.detailLogs?.(energies, { planes: N, floor: FLOOR, centre: CENTRE, scale: SCALE });
  if (fused) return fused;
  const [sharpness, change] = energies.map((each) => batchToPlanes(logOf(each), { B, N })) as [Tensor, Tensor];
  return engine.concat([sharpness, sharpness.sub(sharpness.max(AXIS.plane, { keepAxes: true })), change], AXIS.channel);
}

/** r_{n+1} − r_n, the last repeated; [B·N, C, H, W] both. */
function changesOf(responses: Tensor, { B, N }: { readonly B: Dim; readonly N: Dim }): Tensor {
  const [, C, H, W] = responses.shape as [Dim, Dim, Dim, Dim];
  return planeDifferences(responses.reshape([B, N, C, H, W]), "repeat", 1).reshape(responses.shape);
}

const cellMeans = (energy: Tensor, side: number): Tensor => energy.avgPool({ kernel: [side, side], stride: [side, side] });

const logOf = (energy: Tensor): Tensor => energy.add(FLOOR).log().add(CENTRE).mul(SCALE);
