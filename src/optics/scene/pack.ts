import { MAX_PRIMITIVES, SceneError } from "./scene.ts";
import type { Cutout, Primitive, Quaternion, Scene, Vector } from "./scene.ts";
import { imageDistance } from "../lens/thinLens.ts";

/**
 * Scenes as flat arrays, read by render/kernel.ts and native/lensKernel.h. Offsets are in floats.
 *
 * Primitive (32): 0 world-to-local matrix, 3 rows of 4 · 12 type · 13 texture · 14 repeats per unit of local x, y, z · 17 tint
 *   20 specular · 21 shininess · 22 emission · 23 offset u · 24 cut-out amount · 25 cut-out texture, or seed of a height field
 *   26 cut-out repeats, or frequency of a height field · 27 offset v · 28 bounding sphere x, y, z, radius
 * Camera (16): 0 pixels per unit slope · 1 primitives · 2 direction to the light · 5 ambient · 6 exposure · 7 blades (0: round; −g: a light field of g × g views)
 *   8 blade angle · 9 field curvature · 10 chromatic shift · 11 read noise · 12 shot noise · 13 seed · 14 JPEG quality (0: none) · 15 size of the light that casts shadows (0: none)
 * Plane (8): 0 focus in dioptres · 1 aperture radius · 2 pixels per unit slope · 3 gain · 4 misalignment: cos, sin, shift x, y
 */
export const PRIMITIVE_STRIDE = 32;
export const CAMERA_STRIDE = 16;
export const PLANE_STRIDE = 8;

/** A quad's cut-out is part of its type. */
export const TYPE = {
  ellipsoid: 0,
  box: 1,
  quad: 2,
  cylinder: 3,
  room: 4,
  heightField: 5,
  plane: 6,
  textureQuad: 7,
  leaf: 8,
  grid: 9,
  disk: 10,
} as const;

const UNBOUNDED = 1e30;

/** `count` scenes of one size; [count, primitivesPerScene, 32], [count, 16] and [count, planes, 8]. */
export interface PackedScenes {
  readonly count: number;
  readonly planes: number;
  readonly width: number;
  readonly height: number;
  readonly primitivesPerScene: number;
  readonly primitives: Float32Array;
  readonly cameras: Float32Array;
  readonly focus: Float32Array;
}

/** All scenes must have the same number of planes and the same image size. */
export function packScenes(scenes: readonly Scene[], { primitivesPerScene }: { primitivesPerScene?: number } = {}): PackedScenes {
  const [first] = scenes;
  if (!first) throw new SceneError("packScenes: there are no scenes");
  const { width, height } = first.camera;
  const planes = first.focusDistances.length;
  const odd = scenes.findIndex(
    ({ camera, focusDistances }) => camera.width !== width || camera.height !== height || focusDistances.length !== planes,
  );
  if (odd >= 0) throw new SceneError(`packScenes: scene ${odd} differs from scene 0 in size or number of planes`);
  const most = Math.max(...scenes.map(({ primitives }) => primitives.length));
  const slots = primitivesPerScene ?? most;
  if (most > Math.min(slots, MAX_PRIMITIVES))
    throw new SceneError(`packScenes: a scene has ${most} primitives, at most ${Math.min(slots, MAX_PRIMITIVES)} fit`);
  const packed = {
    count: scenes.length,
    planes,
    width,
    height,
    primitivesPerScene: slots,
    primitives: new Float32Array(scenes.length * slots * PRIMITIVE_STRIDE),
    cameras: new Float32Array(scenes.length * CAMERA_STRIDE),
    focus: new Float32Array(scenes.length * planes * PLANE_STRIDE),
  };
  scenes.forEach((scene, index) => {
    packScene(scene, index, packed);
  });
  return packed;
}

function packScene(scene: Scene, index: number, packed: PackedScenes): void {
  const { primitives, cameras, primitivesPerScene } = packed;
  scene.primitives.forEach((primitive, k) => {
    packPrimitive(primitive, primitives, (index * primitivesPerScene + k) * PRIMITIVE_STRIDE);
  });
  const { camera, light, imperfections: flaws } = scene;
  const slope = camera.focalLength / camera.pixelPitch;
  const length = Math.hypot(...light.direction);
  cameras.set(
    [
      slope,
      scene.primitives.length,
      light.direction[0] / length,
      light.direction[1] / length,
      light.direction[2] / length,
      light.ambient,
      light.exposure,
      camera.views === undefined ? (flaws?.blades ?? 0) : -camera.views,
      flaws?.bladeAngle ?? 0,
      flaws?.fieldCurvature ?? 0,
      flaws?.chromaticShift ?? 0,
      flaws?.readNoise ?? 0,
      flaws?.shotNoise ?? 0,
      scene.seed,
      flaws?.jpegQuality ?? 0,
      light.direction[2] < 0 ? (light.shadows ?? 0) : 0,
    ],
    index * CAMERA_STRIDE,
  );
  packPlanes(scene, index, packed);
}

function packPlanes({ camera, focusDistances, imperfections: flaws }: Scene, index: number, { focus, planes }: PackedScenes): void {
  const slope = camera.focalLength / camera.pixelPitch;
  const middle = imageDistance(camera, focusDistances[planes >> 1] as number);
  focusDistances.forEach((distance, n) => {
    const v = imageDistance(camera, distance);
    const scale = slope * (1 + (camera.breathing ?? 0) * (v / middle - 1));
    // Eq. 9 in pixels is (f / N) (v / pitch) |1/S₁ - 1/S₂|: at `scale` pixels per unit slope this needs the radius below.
    const radius = (camera.focalLength / camera.fNumber / 2) * (v / camera.pixelPitch / scale);
    const moved = flaws?.misalignment?.[n] ?? { shift: [0, 0] as const, angle: 0, scale: 1 };
    focus.set(
      [
        1 / distance,
        radius,
        scale,
        flaws?.exposureDrift?.[n] ?? 1,
        Math.cos(moved.angle) / moved.scale,
        Math.sin(moved.angle) / moved.scale,
        ...moved.shift,
      ],
      (index * planes + n) * PLANE_STRIDE,
    );
  });
}

function packPrimitive(primitive: Primitive, out: Float32Array, at: number): void {
  const { material } = primitive;
  const { centre, rotation, halfSizes, radius } = placement(primitive);
  const axes = rotationAxes(rotation);
  for (let row = 0; row < 3; row++) {
    const [x, y, z] = axes[row] as Vector;
    const size = halfSizes[row] as number;
    out[at + 4 * row] = x / size;
    out[at + 4 * row + 1] = y / size;
    out[at + 4 * row + 2] = z / size;
    out[at + 4 * row + 3] = -(x * centre[0] + y * centre[1] + z * centre[2]) / size;
  }
  out[at + 12] = TYPE[primitive.kind === "wire" ? "cylinder" : primitive.kind];
  out[at + 13] = material.texture;
  for (let axis = 0; axis < 3; axis++) out[at + 14 + axis] = (halfSizes[axis] as number) / material.textureSize;
  out.set(material.tint, at + 17);
  out[at + 20] = material.specular;
  out[at + 21] = material.shininess;
  out[at + 22] = material.emission;
  out[at + 23] = material.offset[0];
  out[at + 27] = material.offset[1];
  if (primitive.kind === "quad" && primitive.cutout) packCutout(primitive.cutout, out, at);
  if (primitive.kind === "heightField") {
    out[at + 25] = primitive.seed;
    out[at + 26] = primitive.frequency;
  }
  out.set(centre, at + 28);
  out[at + 31] = radius;
}

function packCutout(cutout: Cutout, out: Float32Array, at: number): void {
  out[at + 12] = cutout.kind === "texture" ? TYPE.textureQuad : TYPE[cutout.kind];
  switch (cutout.kind) {
    case "texture":
      out[at + 24] = cutout.threshold;
      out[at + 25] = cutout.texture;
      out[at + 26] = cutout.repeats;
      break;
    case "leaf":
      out[at + 24] = cutout.serration;
      break;
    case "grid":
      out[at + 24] = cutout.bar;
      out[at + 26] = cutout.lines;
      break;
    case "disk":
      break;
  }
}

interface Placement {
  readonly centre: Vector;
  readonly rotation: Quaternion;
  /** Half sizes along the local axes; the matrix maps them to 1. */
  readonly halfSizes: Vector;
  /** Radius of the bounding sphere. */
  readonly radius: number;
}

function placement(primitive: Primitive): Placement {
  switch (primitive.kind) {
    case "ellipsoid":
      return { ...primitive, halfSizes: primitive.radii, radius: Math.max(...primitive.radii) };
    case "box":
      return { ...primitive, radius: Math.hypot(...primitive.halfSizes) };
    case "cylinder": {
      const { radius, halfLength } = primitive;
      return { ...primitive, halfSizes: [radius, radius, halfLength], radius: Math.hypot(radius, halfLength) };
    }
    case "quad":
      return { ...primitive, halfSizes: [...primitive.halfSizes, 1], radius: Math.hypot(...primitive.halfSizes) };
    case "plane":
      return { ...primitive, halfSizes: [1, 1, 1], radius: UNBOUNDED };
    case "heightField": {
      const { amplitude, halfSizes } = primitive;
      return { ...primitive, halfSizes: [...halfSizes, amplitude], radius: Math.hypot(...halfSizes, amplitude) };
    }
    case "room":
      return { ...primitive, radius: UNBOUNDED };
    case "wire":
      return wirePlacement(primitive);
  }
}

function wirePlacement({ from, to, radius }: Extract<Primitive, { kind: "wire" }>): Placement {
  const axis = [to[0] - from[0], to[1] - from[1], to[2] - from[2]] as const;
  const halfLength = Math.max(Math.hypot(...axis) / 2, 1e-9);
  const centre = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2, (from[2] + to[2]) / 2] as const;
  const unit = axis.map((value) => value / (2 * halfLength)) as unknown as Vector;
  return { centre, rotation: turnZTo(unit), halfSizes: [radius, radius, halfLength], radius: Math.hypot(radius, halfLength) };
}

/** The shortest rotation from the local z axis to `unit`. */
function turnZTo([x, y, z]: Vector): Quaternion {
  if (z < -0.999999) return [0, 1, 0, 0];
  const w = 1 + z;
  const length = Math.hypot(w, x, y);
  return [w / length, -y / length, x / length, 0];
}

/** The three local axes in camera coordinates: rows of the inverse rotation. */
function rotationAxes([w, x, y, z]: Quaternion): readonly [Vector, Vector, Vector] {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
    [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
    [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
  ];
}
