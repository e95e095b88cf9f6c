import type { Random } from "../../random.ts";
import { createRandom } from "../../random.ts";
import type { Imperfections, Primitive, Scene } from "./scene.ts";
import type { PackedScenes } from "./pack.ts";
import { packScenes } from "./pack.ts";
import { takenByPhone } from "./phone.ts";
import type { Stage } from "./stage.ts";
import { between, chance, logBetween, pick, unit } from "./stage.ts";
import { THEMES } from "./themes.ts";
import type { Theme } from "./themes.ts";
import { GENERATED_TEXTURES } from "../texture/texture.ts";

export interface RandomSceneOptions {
  readonly planes?: number;
  readonly width?: number;
  readonly height?: number;
  /** Indices of the textures to use, for instance one part of `splitTextures`. */
  readonly textures?: readonly number[];
  /** Range of the nearest distance, in metres. Everything else is proportional to it. */
  readonly metres?: readonly [number, number];
  /** Range of the mean blur diameter between neighbouring planes, in pixels. */
  readonly blur?: readonly [number, number];
  /** Share of scenes with the imperfections of real stacks. */
  readonly imperfect?: number;
  readonly theme?: Theme;
  /** Themes to draw from, as often as they are listed. */
  readonly themes?: readonly Theme[];
  /** Instead of `planes` and `blur`: planes over the scene and beyond it, with this many pixels of blur from one to the next. */
  readonly sweep?: { readonly planes: number; readonly blur: readonly [number, number] } | undefined;
  /** Share of scenes as a phone takes them, instead of other imperfections. */
  readonly phone?: number;
  /** Share of those in which objects cast shadows. */
  readonly shadows?: number;
  /** Share of the other scenes that are light fields of 5×5 to 9×9 views, refocused. */
  readonly lightField?: number;
}

/** Largest blur disk of the stack, as a share of the image's width. */
const WIDEST_BLUR = 0.22;
/** The same for sweeps. */
const WIDEST_SWEEP = 0.5;

const everyTexture = Array.from({ length: GENERATED_TEXTURES }, (_, i) => i);

/** The same seed and options give the same scene. */
export function randomScene(seed: number, options: RandomSceneOptions = {}): Scene {
  const { planes = 5, width = 256, height = 256, textures = everyTexture, metres = [0.02, 3], blur = [0.5, 10], imperfect = 0 } = options;
  const random = createRandom(seed);
  const theme = options.theme ?? pick(random, options.themes ?? THEME_DRAW);
  const { ratio, field, plainness } = THEMES[theme];
  const near = logBetween(random, metres[0], metres[1]);
  const far = near * logBetween(random, ratio[0], ratio[1]);
  const slope = Math.tan((between(random, field[0], field[1]) * Math.PI) / 360); // half the field of view
  const larger = Math.max(width, height);
  const scale = larger / 2 / slope;
  const stage: Stage = {
    random,
    near,
    far,
    slopeX: (slope * width) / larger,
    slopeY: (slope * height) / larger,
    scale,
    textures,
    plainness,
    gloss: chance(random, 0.6) ? between(random, 0, 0.5) : 0,
    primitives: [],
  };
  THEMES[theme].build(stage);

  const { sweep } = options;
  const focusDistances = sweep ? sweepSteps(stage, sweep.planes) : focusSteps(stage, planes);
  const widest = (sweep ? WIDEST_SWEEP : WIDEST_BLUR) * width;
  const lens = lensFor(stage, { focusDistances, blur: sweep?.blur ?? blur, widest });
  const scene: Scene = {
    camera: { ...lens, pixelPitch: lens.focalLength / scale, width, height },
    focusDistances,
    light: {
      direction: unit([between(random, -1, 1), between(random, -1.6, 0.4), between(random, -1.6, -0.3)]),
      ambient: between(random, 0.25, 0.75),
      exposure: logBetween(random, 0.75, 1.5),
    },
    primitives: fitting(stage.primitives),
    ...(chance(random, imperfect) && {
      imperfections: flaws(random, { focusDistances, blurPerDioptre: (lens.focalLength / lens.fNumber) * scale }),
    }),
    seed: random.integer(0x1000000),
  };
  const apart = random.split("phone"); // scenes without it stay what they were
  if (chance(apart, options.phone ?? 0)) return takenByPhone(scene, apart, { shadows: options.shadows ?? 0 });
  return chance(apart, options.lightField ?? 0) ? asLightField(scene, apart) : scene;
}

/** All planes come from one exposure, and the mean of so many views has no noise to speak of: of the flaws only what JPEG does to the files is left. */
function asLightField({ imperfections, ...scene }: Scene, random: Random): Scene {
  const camera = { ...scene.camera, views: pick(random, [5, 7, 9, 9]) };
  const { jpegQuality } = imperfections ?? {};
  return { ...scene, camera, ...(jpegQuality !== undefined && { imperfections: { jpegQuality } }) };
}

/** What is drawn from by default: desks and rooms more often than the rest. */
export const THEME_DRAW: readonly Theme[] = [
  ...["desk", "desk", "desk", "room", "room", "macro", "macro", "slope", "clutter", "clutter", "foliage", "terrain", "board", "plain"],
] as Theme[];

/** Scenes have at most as many primitives as a training batch packs. */
const fitting = (primitives: readonly Primitive[]): readonly Primitive[] => primitives.slice(0, PRIMITIVES_PER_SCENE);
export const PRIMITIVES_PER_SCENE = 16;

/** Planes spaced evenly in dioptres or in metres, some jittered, over the scene's depth range or sometimes less or more of it. */
function focusSteps({ random, near, far }: Stage, planes: number): number[] {
  const span = 1 / near - 1 / far;
  const off = (): number => (chance(random, 0.3) ? between(random, -0.15, 0.25) * span : 0);
  const first = 1 / (1 / near - off());
  const last = 1 / Math.max(1 / far + off(), 0.2 / far);
  if (planes === 1) return [Math.sqrt(first * last)];
  const evenDioptres = chance(random, 0.6);
  const jitter = chance(random, 0.5) ? 0.35 : 0;
  return Array.from({ length: planes }, (_, n) => {
    const inner = n > 0 && n < planes - 1;
    const share = (n + (inner ? jitter * between(random, -1, 1) : 0)) / (planes - 1);
    return evenDioptres ? 1 / (1 / first + (1 / last - 1 / first) * share) : first + (last - first) * share;
  });
}

/** Planes evenly in dioptres from before the scene's nearest point to beyond its farthest. */
function sweepSteps({ random, near, far }: Stage, planes: number): number[] {
  const span = 1 / near - 1 / far;
  const first = 1 / near + between(random, 0, 0.25) * span;
  const last = Math.max(1 / far - between(random, 0.1, 1.2) * span, 0.1 / far);
  return Array.from({ length: planes }, (_, n) => 1 / (first + ((last - first) * n) / (planes - 1)));
}

/** A lens whose blur between neighbouring planes is in the given range. */
function lensFor(
  { random, near, far, scale }: Stage,
  { focusDistances, blur, widest }: { focusDistances: readonly number[]; blur: readonly [number, number]; widest: number },
): { focalLength: number; fNumber: number } {
  const steps = Math.max(focusDistances.length - 1, 1);
  const span = focusDistances.length > 1 ? 1 / (focusDistances[0] as number) - 1 / (focusDistances.at(-1) as number) : 1 / near - 1 / far;
  const wanted = Math.min(logBetween(random, blur[0], blur[1]), widest / steps);
  const aperture = (wanted * steps) / (scale * span);
  const focalLength = Math.min(aperture * pick(random, [1.4, 2, 2.8, 4, 5.6, 8]), 0.2 * near);
  return { focalLength, fNumber: focalLength / aperture };
}

/** Each imperfection occurs in about half of the cases; amounts in pixels of blur are converted to dioptres. */
function flaws(
  random: Random,
  { focusDistances, blurPerDioptre }: { focusDistances: readonly number[]; blurPerDioptre: number },
): Imperfections {
  const moved = (): NonNullable<Imperfections["misalignment"]>[number] => ({
    shift: [random.normal() * 0.4, random.normal() * 0.4],
    angle: random.normal() * 0.0007,
    scale: 1 + random.normal() * 0.001,
  });
  return {
    ...(chance(random, 0.5) && { blades: 5 + random.integer(5), bladeAngle: between(random, 0, 1.3) }),
    ...(chance(random, 0.4) && { fieldCurvature: (random.normal() * 0.6) / blurPerDioptre }),
    ...(chance(random, 0.15) && { chromaticShift: (random.normal() * 0.7) / blurPerDioptre }),
    ...(chance(random, 0.6) && { readNoise: logBetween(random, 0.001, 0.012), shotNoise: logBetween(random, 0.003, 0.04) }),
    ...(chance(random, 0.3) && { jpegQuality: 60 + random.integer(38) }),
    ...(chance(random, 0.5) && { misalignment: focusDistances.map(moved) }),
    ...(chance(random, 0.5) && { exposureDrift: focusDistances.map(() => 1 + random.normal() * 0.025) }),
  };
}

/** `count` random scenes, packed. Scene i is `randomScene(seeds[i], options)`. */
export function packRandomScenes(
  random: Random,
  { count, ...options }: RandomSceneOptions & { readonly count: number },
): PackedScenes & { readonly seeds: readonly number[]; readonly focusDistances: Float32Array } {
  const seeds = Array.from({ length: count }, () => random.integer(0x80000000));
  const scenes = seeds.map((seed) => randomScene(seed, options));
  const packed = packScenes(scenes, { primitivesPerScene: PRIMITIVES_PER_SCENE });
  return { ...packed, seeds, focusDistances: Float32Array.from(scenes.flatMap((scene) => scene.focusDistances)) };
}
