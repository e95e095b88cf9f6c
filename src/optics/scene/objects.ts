import type { Random } from "../../random.ts";
import type { Material, Primitive, Quaternion, Vector } from "./scene.ts";
import type { Stage } from "./stage.ts";
import {
  add,
  anyRotation,
  between,
  chance,
  cross,
  dot,
  facing,
  logBetween,
  material,
  pick,
  seenAt,
  someDepth,
  standing,
  unit,
} from "./stage.ts";

/** A plane that objects stand on: points p with down · p = distance. */
export interface Ground {
  readonly down: Vector;
  readonly distance: number;
}

/** Depth at which the ground is seen at (u, v); negative above the horizon. */
const groundDepth = ({ slopeX, slopeY }: Stage, { down, distance }: Ground, u: number, v: number): number =>
  distance / dot(down, [u * slopeX, v * slopeY, 1]);

/** A size that covers 6 to 33 % of the image's width at depth z, small ones more often. */
const someSize = ({ random, slopeX }: Stage, z: number): number => (0.06 + 0.27 * random.uniform() ** 1.5) * slopeX * z;

/** Keeps an object placed at z from reaching the lens. */
const limited = ({ near }: Stage, size: number, z: number): number => Math.min(size, Math.max(z - 0.7 * near, 0.05 * near));

/** A floating object of any kind: its outline and depth matter, not what it rests on. */
export function addFloating(stage: Stage, enlarge = 1): void {
  const { random, primitives } = stage;
  const z = someDepth(stage);
  const centre = seenAt(stage, between(random, -1.1, 1.1), between(random, -1.1, 1.1), z);
  const size = limited(stage, someSize(stage, z) * enlarge, z);
  primitives.push(body(stage, pick(random, ["ellipsoid", "box", "cylinder", "card"] as const), centre, size, z));
}

type Body = "ellipsoid" | "box" | "cylinder" | "card";

function body(stage: Stage, kind: Body, centre: Vector, size: number, z: number): Primitive {
  const { random } = stage;
  const side = (): number => size * between(random, 0.4, 1.3);
  const rotation = anyRotation(random);
  const surface = material(stage, { depth: z });
  switch (kind) {
    case "ellipsoid":
      return { kind, centre, rotation, radii: [side(), side(), side()], material: surface };
    case "box":
      return { kind, centre, rotation, halfSizes: [side(), side(), side()], material: surface };
    case "cylinder":
      return { kind, centre, rotation, radius: side() * 0.6, halfLength: side() * 1.2, material: surface };
    case "card":
      return {
        kind: "quad",
        centre,
        rotation: facing(tilted(random, 0.9), between(random, 0, 6.3)),
        halfSizes: [side() * 1.3, side() * 1.3],
        ...(chance(random, 0.3) && { cutout: holes(stage) }),
        material: surface,
      };
  }
}

/** Towards the camera, leaning by about `lean` radians. */
export const tilted = (random: Random, lean: number): Vector => unit([lean * random.normal() * 0.6, lean * random.normal() * 0.6, -1]);

const holes = ({ random, textures }: Stage): { kind: "texture"; texture: number; repeats: number; threshold: number } => ({
  kind: "texture",
  texture: pick(random, textures),
  repeats: logBetween(random, 0.1, 0.6),
  threshold: between(random, 0.25, 0.6),
});

/** Where an object stands: its size, the depth of its foot, its rotation, and the point at a height above its foot. */
interface Spot {
  readonly stage: Stage;
  readonly down: Vector;
  readonly size: number;
  readonly depth: number;
  readonly rotation: Quaternion;
  readonly raised: (height: number) => Vector;
  readonly surface: Material;
}

const STANDING = {
  box: ({ stage: { random }, size, rotation, raised, surface }) => {
    const halfSizes: Vector = [size * between(random, 0.4, 1), size * between(random, 0.4, 1.5), size * between(random, 0.3, 1)];
    return [{ kind: "box", centre: raised(halfSizes[1]), rotation, halfSizes, material: surface }];
  },
  can: ({ stage: { random }, size, down, raised, surface }) => {
    const [radius, halfLength] = [size * between(random, 0.3, 0.7), size * between(random, 0.5, 1.6)];
    const rotation = facing(down, between(random, 0, 6));
    return [{ kind: "cylinder", centre: raised(halfLength), rotation, radius, halfLength, material: surface }];
  },
  ball: ({ stage: { random }, size, rotation, raised, surface }) => {
    const radii: Vector = [size * between(random, 0.6, 0.9), size * between(random, 0.5, 1), size * between(random, 0.6, 0.9)];
    return [{ kind: "ellipsoid", centre: raised(radii[1]), rotation, radii, material: surface }];
  },
  books: ({ stage, size, down, depth, raised }) => {
    const { random } = stage;
    let height = 0;
    return Array.from({ length: 1 + random.integer(3) }, () => {
      const halfSizes: Vector = [size * between(random, 0.8, 1.1), size * between(random, 0.08, 0.25), size * between(random, 0.6, 0.8)];
      const rotation = standing(down, between(random, -0.4, 0.4));
      const centre = raised(height + halfSizes[1]);
      height += 2 * halfSizes[1];
      return { kind: "box", centre, rotation, halfSizes, material: material(stage, { depth, plain: chance(random, 0.3) }) } as const;
    });
  },
  card: ({ stage: { random }, size, down, raised, surface }) => {
    const halfSizes = [size * between(random, 0.7, 1.2), size * between(random, 0.5, 1.2)] as const;
    const rotation = standing(add(down, tilted(random, 0.8), 0.25), between(random, -0.8, 0.8));
    return [{ kind: "quad", centre: raised(halfSizes[1]), rotation, halfSizes, material: surface }];
  },
} satisfies Record<string, (spot: Spot) => readonly Primitive[]>;

const STANDING_DRAW = ["box", "box", "can", "can", "ball", "books", "card"] as const;

/** An object that stands on the ground: a box, a can, a ball, a stack of books. Returns whether there was room. */
export function addStanding(stage: Stage, ground: Ground, enlarge = 1): boolean {
  const { random, primitives, near, far } = stage;
  const { down } = ground;
  const [u, v] = [between(random, -1, 1), between(random, -0.9, 1)];
  const depth = groundDepth(stage, ground, u, v);
  if (!(depth > near && depth < far * 1.02)) return false;
  const size = limited(stage, someSize(stage, depth) * enlarge * 1.15, depth);
  const foot = seenAt(stage, u, v, depth);
  const raised = (height: number): Vector => add(foot, down, -height);
  const rotation = standing(down, between(random, 0, 6.3));
  const surface = material(stage, { depth });
  primitives.push(...STANDING[pick(random, STANDING_DRAW)]({ stage, down, size, depth, rotation, raised, surface }));
  return true;
}

const GREENS: readonly Vector[] = [
  [0.45, 0.9, 0.3],
  [0.6, 0.95, 0.35],
  [0.85, 0.8, 0.3],
  [0.35, 0.75, 0.4],
  [1, 0.6, 0.3],
];

/** A leaf at a random place or at `stem`. */
export function addLeaf(stage: Stage, stem?: Vector): void {
  const { random, primitives } = stage;
  const z = stem ? stem[2] : someDepth(stage);
  const length = limited(stage, someSize(stage, z) * 1.7, z);
  const normal = tilted(random, 1.1);
  const turn = between(random, 0, 6.3);
  const rotation = facing(normal, turn);
  const centre = stem ?? seenAt(stage, between(random, -1.1, 1.1), between(random, -1.1, 1.1), z);
  primitives.push({
    kind: "quad",
    centre,
    rotation,
    halfSizes: [length, length * between(random, 0.3, 0.6)],
    cutout: { kind: "leaf", serration: chance(random, 0.5) ? between(random, 0.05, 0.3) : 0 },
    material: { ...material(stage, { depth: z, tint: pick(random, GREENS) }), specular: chance(random, 0.3) ? 0.4 : 0, shininess: 20 },
  });
}

/** A wire or twig across part of the image, one to a few pixels thick. */
export function addWire(stage: Stage): { from: Vector; to: Vector } {
  const { random, primitives, scale } = stage;
  const z = someDepth(stage);
  const from = seenAt(stage, between(random, -1.3, 1.3), between(random, -1.3, 1.3), z);
  const other = Math.max(z * between(random, 0.8, 1.25), stage.near * 0.8);
  const to = seenAt(stage, between(random, -1.3, 1.3), between(random, -1.3, 1.3), other);
  const radius = (z / scale) * logBetween(random, 0.6, 5);
  primitives.push({ kind: "wire", from, to, radius, material: material(stage, { depth: z, plain: chance(random, 0.6) }) });
  return { from, to };
}

/** A fence, net or grille, roughly facing the camera. */
export function addGrid(stage: Stage): void {
  const { random, primitives, slopeX } = stage;
  const z = someDepth(stage);
  const side = slopeX * z * between(random, 0.35, 1.1);
  primitives.push({
    kind: "quad",
    centre: seenAt(stage, between(random, -0.8, 0.8), between(random, -0.8, 0.8), z),
    rotation: facing(tilted(random, 0.6), between(random, 0, 6.3)),
    halfSizes: [side, side * between(random, 0.5, 1)],
    cutout: { kind: "grid", lines: 3 + random.integer(10), bar: between(random, 0.06, 0.3) },
    material: material(stage, { depth: z, plain: chance(random, 0.5) }),
  });
}

/** A twig with leaves along it. */
export function addTwig(stage: Stage, leaves: number): void {
  const { random } = stage;
  const { from, to } = addWire(stage);
  const along = add(to, from, -1);
  const side = unit(cross(along, [0, 0, 1]));
  for (let n = 0; n < leaves; n++) {
    const spread = between(random, -0.12, 0.12) * stage.slopeX * from[2];
    addLeaf(stage, add(add(from, along, (n + random.uniform()) / leaves), side, spread));
  }
}
