// The scenes of examples/: a desk in metres, a beetle in millimetres, and a shelf taken by a drifting camera with focus breathing.
import type { Imperfections, Material, Primitive, Scene, Vector } from "../src/optics/scene/scene.ts";
import { add, facing, standing, unit } from "../src/optics/scene/stage.ts";

type Rgb = readonly [number, number, number];
interface Paint {
  readonly texture: number;
  readonly size: number;
  readonly tint?: Rgb;
  readonly shine?: number;
}

/** Indices of generated textures; the kinds repeat every twelve. */
const TEXTURE = {
  wood: 20,
  print: 16,
  cells: 5,
  blobs: 2,
  speckle: 6,
  noise: 0,
  stripes: 13,
  checker: 7,
  wall: 18,
  board: 10,
  stone: 30,
} as const;

const paint = ({ texture, size, tint = [1, 1, 1], shine = 0 }: Paint): Material => ({
  texture,
  textureSize: size,
  offset: [0.13 * (texture % 7), 0.29 * (texture % 5)],
  tint,
  specular: shine,
  shininess: 60,
  emission: 0,
});

/** A table the camera sees from above at an angle: the plane down · p = distance, with places measured from `edge` on. */
function table(
  pitch: number,
  distance: number,
  edge: number,
): { down: Vector; at: (right: number, along: number, height: number) => Vector } {
  const down: Vector = [0, Math.cos(pitch), Math.sin(pitch)];
  const away: Vector = [0, -Math.sin(pitch), Math.cos(pitch)];
  const at = (right: number, along: number, height: number): Vector => add(add([right, 0, 0], away, edge + along), down, distance - height);
  return { down, at };
}

const leaf = (centre: Vector, normal: Vector, turn: number): Primitive => ({
  kind: "quad",
  centre,
  rotation: facing(unit(normal), turn),
  halfSizes: [0.06, 0.024],
  cutout: { kind: "leaf", serration: 0.1 },
  material: paint({ texture: TEXTURE.speckle, size: 0.1, tint: [0.45, 0.9, 0.35] }),
});

export function desk(): Scene {
  const { down, at } = table(0.5, 0.42, 0.14);
  const box = (right: number, along: number, half: Vector, turn: number, material: Material, bottom = 0): Primitive => ({
    kind: "box",
    centre: at(right, along, bottom + half[1]),
    rotation: standing(down, turn),
    halfSizes: half,
    material,
  });
  const can = (right: number, along: number, radius: number, halfLength: number, material: Material): Primitive => ({
    kind: "cylinder",
    centre: at(right, along, halfLength),
    rotation: facing(down, 0.4),
    radius,
    halfLength,
    material,
  });
  return {
    camera: { focalLength: 0.035, fNumber: 1.4, pixelPitch: 0.035 / 340, width: 384, height: 256 },
    focusDistances: [0.5, 0.57, 0.66, 0.78, 0.96, 1.25, 1.75],
    light: { direction: unit([-0.6, -1, -0.7]), ambient: 0.45, exposure: 1.25 },
    primitives: [
      {
        kind: "plane",
        centre: at(0, 0, 0),
        rotation: facing(down, 0.2),
        material: paint({ texture: TEXTURE.wood, size: 0.5, tint: [1, 0.8, 0.6] }),
      },
      {
        kind: "plane",
        centre: [0, 0, 1.5],
        rotation: facing([0.15, 0.05, -1], 0),
        material: paint({ texture: TEXTURE.wall, size: 0.9, tint: [0.8, 0.85, 0.95] }),
      },
      box(-0.2, 0.42, [0.1, 0.018, 0.075], 0.3, paint({ texture: TEXTURE.stripes, size: 0.12 })),
      box(-0.2, 0.42, [0.085, 0.014, 0.07], -0.15, paint({ texture: TEXTURE.print, size: 0.09 }), 0.036),
      box(-0.19, 0.42, [0.09, 0.011, 0.06], 0.5, paint({ texture: TEXTURE.blobs, size: 0.14 }), 0.064),
      can(0.02, 0.5, 0.036, 0.05, paint({ texture: TEXTURE.cells, size: 0.13, shine: 0.5 })),
      {
        kind: "ellipsoid",
        centre: at(0.16, 0.34, 0.04),
        rotation: standing(down, 0.5),
        radii: [0.045, 0.04, 0.045],
        material: paint({ texture: TEXTURE.noise, size: 0.12, tint: [1, 0.55, 0.35], shine: 0.9 }),
      },
      {
        kind: "quad",
        centre: at(-0.02, 0.24, 0.001),
        rotation: facing(down, 0.5),
        halfSizes: [0.1, 0.07],
        material: paint({ texture: TEXTURE.print, size: 0.13, tint: [1.1, 1.1, 1.1] }),
      },
      {
        kind: "wire",
        from: at(0.05, 0.2, 0.006),
        to: at(0.19, 0.25, 0.006),
        radius: 0.0045,
        material: paint({ texture: TEXTURE.checker, size: 0.03, tint: [1.1, 0.8, 0.3] }),
      },
      box(0.32, 0.85, [0.12, 0.17, 0.05], 0.35, paint({ texture: TEXTURE.board, size: 0.25 })),
      can(-0.4, 0.95, 0.07, 0.08, paint({ texture: TEXTURE.stone, size: 0.2, tint: [0.9, 0.6, 0.45] })),
      leaf(at(-0.36, 0.92, 0.24), [0.4, -0.6, -1], 0.9),
      leaf(at(-0.44, 0.95, 0.23), [-0.5, -0.4, -1], 2.2),
      leaf(at(-0.4, 0.9, 0.28), [0, -0.9, -0.8], 1.5),
      {
        kind: "wire",
        from: at(-0.4, 0.95, 0.15),
        to: at(-0.4, 0.9, 0.28),
        radius: 0.004,
        material: paint({ texture: TEXTURE.speckle, size: 0.05, tint: [0.4, 0.7, 0.3] }),
      },
    ],
    seed: 1,
  };
}

export function beetle(): Scene {
  const mm = 1e-3;
  const at = (x: number, y: number, z: number): Vector => [x * mm, y * mm, z * mm];
  const shell = paint({ texture: TEXTURE.speckle, size: 5 * mm, tint: [0.5, 0.85, 0.55], shine: 0.8 });
  const dark = paint({ texture: TEXTURE.noise, size: 2.5 * mm, tint: [0.55, 0.4, 0.3], shine: 0.4 });
  const leg = (from: Vector, to: Vector): Primitive => ({ kind: "wire", from, to, radius: 0.16 * mm, material: dark });
  return {
    camera: { focalLength: 25 * mm, fNumber: 4, pixelPitch: (25 * mm) / 900, width: 320, height: 240 },
    focusDistances: [60, 61.5, 63, 64.5, 66, 67.5].map((value) => value * mm),
    light: { direction: unit([0.5, -0.9, -0.8]), ambient: 0.5, exposure: 1.3 },
    primitives: [
      {
        kind: "heightField",
        centre: at(0, 0, 66.4),
        rotation: facing([0.05, 0.12, -1], 0.4),
        halfSizes: [18 * mm, 18 * mm],
        amplitude: 0.8 * mm,
        frequency: 1.6,
        seed: 0.37,
        material: paint({ texture: TEXTURE.blobs, size: 7 * mm, tint: [0.8, 0.95, 0.6] }),
      },
      {
        kind: "ellipsoid",
        centre: at(0.6, 0.3, 63.6),
        rotation: facing([0, 0, -1], 0.35),
        radii: [4.6 * mm, 3.1 * mm, 2.6 * mm],
        material: shell,
      },
      {
        kind: "ellipsoid",
        centre: at(-4, -1.4, 63.4),
        rotation: facing([0, 0, -1], 0.35),
        radii: [1.9 * mm, 1.8 * mm, 1.6 * mm],
        material: dark,
      },
      {
        kind: "ellipsoid",
        centre: at(-5.6, -2, 63.2),
        rotation: facing([0, 0, -1], 0.35),
        radii: [0.9 * mm, 1 * mm, 0.9 * mm],
        material: dark,
      },
      leg(at(-2, -3, 63.6), at(-4.6, -5.6, 65.4)),
      leg(at(1, -2.8, 63.8), at(1.6, -6.2, 65.6)),
      leg(at(3.4, -2, 63.8), at(6.4, -4.4, 65.7)),
      leg(at(-3, 1.6, 63.6), at(-5, 4.4, 65.5)),
      leg(at(0, 3.2, 63.8), at(-0.6, 6, 65.6)),
      leg(at(3, 2.8, 63.8), at(5, 5.6, 65.7)),
      leg(at(-6.2, -2.4, 62.8), at(-8.4, -4.6, 60.6)),
      leg(at(-6.4, -1.6, 62.8), at(-9, -0.6, 60.8)),
    ],
    seed: 2,
  };
}

/** What a flexible tripod and automatic exposure cause. */
const handheld: Imperfections = {
  readNoise: 0.001,
  shotNoise: 0.002,
  exposureDrift: [0.98, 1, 1, 1, 1.015, 0.99, 0.985],
  misalignment: [
    { shift: [2.1, -1.3], angle: 0.0025, scale: 1 },
    { shift: [1.4, -0.8], angle: 0.0015, scale: 1 },
    { shift: [0.6, -0.5], angle: 0.001, scale: 1 },
    { shift: [0, 0], angle: 0, scale: 1 },
    { shift: [-0.6, 0.8], angle: -0.001, scale: 1 },
    { shift: [-1.4, 1.2], angle: -0.0015, scale: 1 },
    { shift: [-1.9, 1.5], angle: -0.002, scale: 1 },
  ],
};

/** Planes as a camera's focus bracketing takes them, evenly spaced in dioptres. */
const bracket = (nearest: number, farthest: number, planes: number): number[] =>
  Array.from({ length: planes }, (_, n) => Number((1 / (1 / nearest + (n / (planes - 1)) * (1 / farthest - 1 / nearest))).toFixed(3)));

export function shelf(): Scene {
  const top = 0.22;
  const wall: Primitive = {
    kind: "plane",
    centre: [0, 0, 1.5],
    rotation: facing([0.2, 0, -1], 0),
    material: paint({ texture: TEXTURE.noise, size: 0.3, tint: [1.1, 1.05, 0.9] }),
  };
  const board: Primitive = {
    kind: "box",
    centre: [0, top + 0.02, 1.4],
    rotation: [1, 0, 0, 0],
    halfSizes: [1.4, 0.02, 0.8],
    material: paint({ texture: TEXTURE.wood, size: 0.4, tint: [0.9, 0.7, 0.5] }),
  };
  const book = (x: number, z: number, width: number, height: number, texture: number): Primitive => ({
    kind: "box",
    centre: [x, top - height, z],
    rotation: standing([0, 1, 0], 0.1 * x),
    halfSizes: [width, height, 0.1],
    material: paint({ texture, size: 0.25 }),
  });
  return {
    camera: { focalLength: 0.05, fNumber: 1.4, pixelPitch: 0.05 / 480, width: 320, height: 240, breathing: 1 },
    focusDistances: bracket(0.75, 1.75, 7),
    light: { direction: unit([-0.3, -0.6, -1]), ambient: 0.5, exposure: 1.3 },
    primitives: [
      wall,
      board,
      book(-0.4, 1.36, 0.045, 0.17, TEXTURE.stripes),
      book(-0.31, 1.33, 0.042, 0.21, TEXTURE.board),
      book(-0.225, 1.3, 0.04, 0.16, TEXTURE.print),
      book(-0.13, 1.27, 0.05, 0.19, TEXTURE.blobs),
      book(0.36, 1.4, 0.06, 0.2, TEXTURE.checker),
      {
        kind: "ellipsoid",
        centre: [0.14, top - 0.09, 1.05],
        rotation: standing([0, 1, 0], 0.6),
        radii: [0.085, 0.09, 0.085],
        material: paint({ texture: TEXTURE.cells, size: 0.22, shine: 0.7 }),
      },
      {
        kind: "cylinder",
        centre: [-0.12, top - 0.06, 0.9],
        rotation: facing([0, 1, 0], 0),
        radius: 0.045,
        halfLength: 0.06,
        material: paint({ texture: TEXTURE.speckle, size: 0.12, tint: [1.1, 0.8, 0.6] }),
      },
      {
        kind: "quad",
        centre: [0.26, -0.14, 1.15],
        rotation: facing([-0.3, 0.1, -1], 0.3),
        halfSizes: [0.15, 0.11],
        cutout: { kind: "grid", lines: 4, bar: 0.24 },
        material: paint({ texture: TEXTURE.wall, size: 0.2, tint: [0.6, 0.65, 0.8] }),
      },
      {
        kind: "wire",
        from: [-0.42, -0.3, 1],
        to: [-0.06, -0.06, 1.4],
        radius: 0.005,
        material: paint({ texture: TEXTURE.speckle, size: 0.08 }),
      },
    ],
    imperfections: handheld,
    seed: 3,
  };
}
