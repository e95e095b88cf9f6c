import { z } from "zod";
import { DualFocusError } from "../../errors.ts";

/**
 * A scene is data: objects, lens, and imperfections of the images. Lengths are in metres.
 * Axes: the lens centre is the origin, x points right, y down, z along the optical axis into the scene.
 */

const number = z.number();
const positive = z.number().positive();
const fraction = z.number().min(0).max(1);
const vector = z.tuple([number, number, number]);
const size2 = z.tuple([positive, positive]);
const size3 = z.tuple([positive, positive, positive]);
/** Unit quaternion w, x, y, z: local axes to camera axes. */
const rotation = z
  .tuple([number, number, number, number])
  .refine((q) => Math.abs(Math.hypot(...q) - 1) < 1e-3, "a rotation is a unit quaternion [w, x, y, z]");

const material = z.strictObject({
  /** Index into the texture set: generated textures first, then images. */
  texture: z.int().min(0),
  /** Side of one repetition of the texture. */
  textureSize: positive,
  /** Start of the texture, in repetitions. */
  offset: z.tuple([number, number]),
  /** Multiplies the texture's linear light. */
  tint: z.tuple([z.number().min(0), z.number().min(0), z.number().min(0)]),
  /** Strength of the highlight; above 1 it is brighter than white paper. */
  specular: z.number().min(0),
  /** Blinn-Phong exponent: 8 is satin, 400 a mirror-like spot. */
  shininess: positive,
  /** Emitted light, as a multiple of the tinted texture. */
  emission: z.number().min(0),
});

/** The solid part of a quad; the rest is empty. */
const cutout = z.discriminatedUnion("kind", [
  /** Solid where the texture's green channel is at least `threshold`. */
  z.strictObject({ kind: z.literal("texture"), texture: z.int().min(0), repeats: positive, threshold: fraction }),
  /** A leaf along the quad's first axis; `serration` is the depth of its teeth. */
  z.strictObject({ kind: z.literal("leaf"), serration: fraction }),
  /** Bars in both directions; `bar` is the solid share of a period. */
  z.strictObject({ kind: z.literal("grid"), lines: positive, bar: fraction }),
  /** The inscribed ellipse. */
  z.strictObject({ kind: z.literal("disk") }),
]);

const primitive = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("ellipsoid"), centre: vector, rotation, radii: size3, material }),
  z.strictObject({ kind: z.literal("box"), centre: vector, rotation, halfSizes: size3, material }),
  /** Its axis is the local z. */
  z.strictObject({ kind: z.literal("cylinder"), centre: vector, rotation, radius: positive, halfLength: positive, material }),
  /** In the local x, y plane. */
  z.strictObject({ kind: z.literal("quad"), centre: vector, rotation, halfSizes: size2, cutout: cutout.optional(), material }),
  /** Infinite, in the local x, y plane. */
  z.strictObject({ kind: z.literal("plane"), centre: vector, rotation, material }),
  /** Three waves over the local x, y plane: `frequency` in periods per half size, `seed` shifts them. */
  z.strictObject({
    kind: z.literal("heightField"),
    centre: vector,
    rotation,
    halfSizes: size2,
    amplitude: positive,
    frequency: z.number().positive().max(4),
    seed: number,
    material,
  }),
  /** A box seen from inside. */
  z.strictObject({ kind: z.literal("room"), centre: vector, rotation, halfSizes: size3, material }),
  z.strictObject({ kind: z.literal("wire"), from: vector, to: vector, radius: positive, material }),
]);

const camera = z
  .strictObject({
    focalLength: positive,
    fNumber: positive,
    pixelPitch: positive,
    width: z.int().min(1).max(8192),
    height: z.int().min(1).max(8192),
    /** Focus breathing: 0 keeps the image's scale, 1 scales each plane like a lens that moves as a whole. The middle plane keeps its scale. */
    breathing: fraction.optional(),
    /**
     * A light field: this many views each way, spread over a square with the area of the round aperture, shifted and added for each plane.
     * Blades do not count then, and every view has at least one ray per pixel, whatever the number of samples.
     */
    views: z.int().min(2).max(17).optional(),
  })
  .describe("camera");

/** What a phone's software does to every frame after the sensor, in this order. Of gamma-encoded values. */
const phone = z.strictObject({
  /** Light that falls off: change from the middle to the right and lower edge, and towards the corners, as a share. */
  shading: z.tuple([number, number, number]),
  /** Standard deviation below which differences count as noise and are smoothed away, texture with them. */
  denoise: z.number().min(0),
  /** Share of the detail that is added again: halos along edges. */
  sharpen: z.number().min(0),
  /** Per plane: what becomes black, the exponent, and the strength of an S-curve. */
  tone: z.array(z.strictObject({ black: z.number().min(0).lt(0.5), gamma: positive, contrast: z.number().min(-0.9).max(0.9) })),
  /** Chroma at half the resolution. */
  jpegQuality: z.int().min(1).max(100),
});

/** Imperfections of real stacks. Absent means ideal. */
const imperfections = z.strictObject({
  /** Number of straight aperture blades; round if absent. `bladeAngle` in radians. */
  blades: z.int().min(3).max(16).optional(),
  bladeAngle: number.optional(),
  /** Dioptres by which the corner focuses nearer than the centre. */
  fieldCurvature: number.optional(),
  /** Dioptres by which blue focuses nearer, and red farther, than green. */
  chromaticShift: number.optional(),
  /** Standard deviations in linear light (white = 1): of a black pixel, and added by photon noise at white. */
  readNoise: z.number().min(0).optional(),
  shotNoise: z.number().min(0).optional(),
  jpegQuality: z.int().min(1).max(100).optional(),
  /** Per plane: the camera's motion in pixels and radians, and a magnification. */
  misalignment: z.array(z.strictObject({ shift: z.tuple([number, number]), angle: number, scale: positive })).optional(),
  /** Per plane: factor on the exposure. */
  exposureDrift: z.array(positive).optional(),
  phone: phone.optional(),
});

export const MAX_PRIMITIVES = 64;

const sceneSchema = z
  .strictObject({
    camera,
    focusDistances: z.array(positive).min(1),
    light: z.strictObject({
      /** Towards the light. */
      direction: vector.refine((v) => Math.hypot(...v) > 1e-6, "the direction has no length"),
      /** Share of ambient light. */
      ambient: fraction,
      /** Objects cast shadows; the light's radius as a share of its distance: 0.01 is a lamp, 0.3 a window. Only of light from before the scene (z < 0). */
      shadows: z.number().positive().max(1).optional(),
      /** Factor on linear light before it is clipped at 1 and gamma-encoded. */
      exposure: positive,
    }),
    primitives: z.array(primitive).min(1).max(MAX_PRIMITIVES),
    imperfections: imperfections.optional(),
    /** Seed of the lens and pixel samples and of the noise. */
    seed: z.int().min(0).max(0xffffff),
  })
  .superRefine((scene, context) => {
    const { focusDistances, imperfections: flaws } = scene;
    const issue = (path: (string | number)[], message: string): void => {
      context.addIssue({ code: "custom", path, message });
    };
    focusDistances.forEach((distance, n) => {
      if (n > 0 && distance <= (focusDistances[n - 1] as number)) issue(["focusDistances", n], "focus distances must increase");
      if (distance <= scene.camera.focalLength)
        issue(["focusDistances", n], `a lens of ${scene.camera.focalLength} m cannot focus at ${distance} m`);
    });
    const perPlane = { misalignment: flaws?.misalignment, exposureDrift: flaws?.exposureDrift, "phone.tone": flaws?.phone?.tone };
    for (const [name, entries = focusDistances] of Object.entries(perPlane))
      if (entries.length !== focusDistances.length)
        issue(["imperfections", ...name.split(".")], `expected one entry per plane (${focusDistances.length}), got ${entries.length}`);
  });

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

export type Scene = DeepReadonly<z.infer<typeof sceneSchema>>;
export type Primitive = Scene["primitives"][number];
export type Material = Primitive["material"];
export type Cutout = DeepReadonly<z.infer<typeof cutout>>;
export type Imperfections = NonNullable<Scene["imperfections"]>;
export type Phone = NonNullable<Imperfections["phone"]>;
export type Vector = readonly [number, number, number];
export type Quaternion = readonly [number, number, number, number];

/** The scene with only these of its planes. */
export function withPlanes(scene: Scene, planes: readonly number[]): Scene {
  const pick = <T>(list: readonly T[]): readonly T[] => planes.map((plane) => list[plane] as T);
  const { imperfections: flaws, focusDistances, ...rest } = scene;
  return {
    ...rest,
    focusDistances: pick(focusDistances),
    ...(flaws && {
      imperfections: {
        ...flaws,
        ...(flaws.misalignment && { misalignment: pick(flaws.misalignment) }),
        ...(flaws.exposureDrift && { exposureDrift: pick(flaws.exposureDrift) }),
        ...(flaws.phone && { phone: { ...flaws.phone, tone: pick(flaws.phone.tone) } }),
      },
    }),
  };
}

/** A scene file that cannot be rendered; the message names the file and the field. */
export class SceneError extends DualFocusError {
  override readonly name = "SceneError";

  constructor(message: string, { cause }: { readonly cause?: unknown } = {}) {
    super("bad-scene", message, { cause });
  }
}

const fieldName = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (name, key) => (typeof key === "number" ? `${name}[${key}]` : name === "" ? String(key) : `${name}.${String(key)}`),
    "",
  );

/** Checks an unknown value; `where` names it in the error. */
export function checkScene(value: unknown, where = "scene"): Scene {
  const result = sceneSchema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${fieldName(path) || "the scene"}: ${message.replace(", received undefined", ", but it is missing")}`);
  throw new SceneError(`${where}: ${issues.join("; ")}`);
}

export function parseScene(text: string, where = "scene"): Scene {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new SceneError(`${where}: not JSON (${cause instanceof Error ? cause.message : String(cause)})`, { cause });
  }
  return checkScene(value, where);
}

export const formatScene = (scene: Scene): string => `${JSON.stringify(scene, undefined, 1)}\n`;
