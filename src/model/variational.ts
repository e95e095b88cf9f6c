import { AXIS } from "../engine/dims.ts";
import { concrete, dims, type Dim } from "../engine/dims.ts";
import type { Engine, Tensor } from "../engine/engine.ts";
import { Conv2d } from "../nn/conv.ts";
import type { ParameterSource } from "../nn/module.ts";
import { GroupNorm } from "../nn/norm.ts";
import type { SurfaceConfig } from "./config.ts";
import { cosineSolver, denseSolver, type GradientField, type Grid, type SurfaceSolver } from "./surface.ts";
import { batchToPlanes, planesToBatch } from "./volume.ts";

/** The quantities of the spatial constraint. */
export interface SpatialFields {
  /** Γ = (Γˣ, Γʸ), 2 × [B, C₂, N, h, w]. */
  readonly gradientField: GradientField;
  /** z*, [B, C₂, N, h, w]. */
  readonly surface: Tensor;
  /** θ_grad(z*) = the depth gradient predicted from the surface, 2 × [B, N, h, w]. */
  readonly surfaceGradient: GradientField;
}

/** Two 3×3 convolutions per plane, V* → 2C₂ fields. VA-DepthNet's head, with 2 rows instead of its 4. */
class FieldHead {
  readonly inner: Conv2d;
  readonly outer: Conv2d;

  constructor(source: ParameterSource, { in: input, channels }: { readonly in: number; readonly channels: number }) {
    this.inner = new Conv2d(source.at("inner"), { in: input, out: input, kernel: 3, bias: true });
    this.outer = new Conv2d(source.at("outer"), { in: input, out: 2 * channels, kernel: 3, bias: true });
  }

  /** [B·N, C, h, w] → [B·N, 2C₂, h, w]. */
  forward(pictures: Tensor): Tensor {
    return this.outer.forward(this.inner.forward(pictures).leakyRelu(0.01));
  }
}

/** The spatial variational module (§3.3, A.3): V* at 1/32 → Γ → z* → features for the decoder. */
export class VariationalModule {
  readonly config: SurfaceConfig;
  readonly gradientHead: FieldHead;
  readonly confidenceHead: FieldHead | undefined;
  readonly surfaceGradientHead: Conv2d;
  readonly norm: GroupNorm;
  readonly expand: Conv2d;
  readonly solvers = new Map<string, SurfaceSolver>();

  constructor(
    source: ParameterSource,
    { in: input, out, config }: { readonly in: number; readonly out: number; readonly config: SurfaceConfig },
  ) {
    const { channels } = config;
    this.config = config;
    this.gradientHead = new FieldHead(source.at("gradientHead"), { in: input, channels });
    if (config.solver === "confidence") this.confidenceHead = new FieldHead(source.at("confidenceHead"), { in: input, channels });
    this.surfaceGradientHead = new Conv2d(source.at("surfaceGradientHead"), { in: channels, out: 2, kernel: 3, bias: true });
    this.norm = new GroupNorm(source.at("norm"), { groups: 1, channels });
    this.expand = new Conv2d(source.at("expand"), { in: channels, out, kernel: 3, bias: true });
    if (config.grid !== "native") this.solver(source.engine, { h: config.grid, w: config.grid }); // before any step is captured
  }

  /** V* at 1/32 → the fields, and z* normalised and expanded for the decoder, [B, out, N, h, w]. */
  forward(volume: Tensor): { readonly features: Tensor; readonly spatial: SpatialFields } {
    const { B, N, h, w } = dims(volume, "B C N h w", "variational module");
    const { grid } = this.config;
    const size: readonly [Dim, Dim] = grid === "native" ? [h, w] : [grid, grid];
    const coarse = planesToBatch(grid === "native" ? volume : volume.resize2d(size, "bilinear"));

    const gradientField = this.split(this.gradientHead.forward(coarse), { B, N });
    const confidence = this.confidenceHead && this.split(this.confidenceHead.forward(coarse).sigmoid(), { B, N });
    const where = 'a surface on the "native" grid';
    const solver = this.solver(volume.engine, { h: concrete(size[0], where), w: concrete(size[1], where) });
    const surface = solver.solve(gradientField, confidence); //                                     z*, eq. 3

    const surfaceGradient = this.surfaceGradientHead.forward(planesToBatch(surface)); //             θ_grad, on the raw z*
    const part = (c: number): Tensor => surfaceGradient.slice(1, { start: c, end: c + 1 }).reshape([B, N, ...size]);
    const features = batchToPlanes(this.expand.forward(this.normalise(surface)), { B, N });
    return { features, spatial: { gradientField, surface, surfaceGradient: { x: part(0), y: part(1) } } };
  }

  /** [B·N, 2C₂, h, w] → Γˣ, Γʸ, each [B, C₂, N, h, w]. */
  private split(fields: Tensor, counts: { readonly B: Dim; readonly N: Dim }): GradientField {
    const both = batchToPlanes(fields, counts);
    const { channels } = this.config;
    return {
      x: both.slice(AXIS.channel, { end: channels }),
      y: both.slice(AXIS.channel, { start: channels }),
    };
  }

  /** GroupNorm with one group, then planes into the batch. */
  private normalise(surface: Tensor): Tensor {
    if (this.config.norm === "joint") return planesToBatch(this.norm.forward(surface));
    return this.norm.forward(planesToBatch(surface));
  }

  private solver(engine: Engine, grid: Grid): SurfaceSolver {
    const key = `${grid.h}×${grid.w}`;
    let solver = this.solvers.get(key);
    if (!solver) this.solvers.set(key, (solver = this.config.solver === "cosine" ? cosineSolver(engine, grid) : denseSolver(engine, grid)));
    return solver;
  }
}
