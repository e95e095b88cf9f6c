import type { Material, Vector } from "./scene.ts";
import type { Ground } from "./objects.ts";
import { addFloating, addGrid, addLeaf, addStanding, addTwig, addWire, tilted } from "./objects.ts";
import type { Stage } from "./stage.ts";
import { add, anyRotation, between, chance, dot, facing, material, seenAt, standing, unit } from "./stage.ts";

/** `ratio`: far over near; `field`: field of view in degrees over the larger side; `plainness`: probability of a bare surface. */
export interface ThemeSettings {
  readonly ratio: readonly [number, number];
  readonly field: readonly [number, number];
  readonly plainness: number;
  readonly build: (stage: Stage) => void;
}

export type Theme =
  "desk" | "room" | "macro" | "slope" | "clutter" | "foliage" | "terrain" | "board" | "plain" | "object" | "subject" | "wall" | "backdrop";

export const THEMES: Readonly<Record<Theme, ThemeSettings>> = {
  /** A table with objects, seen from above at an angle, and a wall behind it. */
  desk: { ratio: [1.5, 4], field: [25, 60], plainness: 0.15, build: desk },
  /** A room with objects on the floor and some in the air. */
  room: { ratio: [2.5, 9], field: [45, 75], plainness: 0.25, build: room },
  /** One object fills the view; its relief is most of the depth range. */
  macro: { ratio: [1.05, 1.5], field: [15, 40], plainness: 0.05, build: macro },
  /** A slanted plane and little else. */
  slope: { ratio: [1.2, 6], field: [20, 60], plainness: 0.1, build: slope },
  /** Objects of every kind in front of a wall. */
  clutter: { ratio: [1.3, 9], field: [25, 70], plainness: 0.1, build: clutter },
  foliage: { ratio: [1.2, 3], field: [20, 50], plainness: 0.1, build: foliage },
  /** A height field from above or at an angle. */
  terrain: { ratio: [1.1, 2], field: [20, 50], plainness: 0.05, build: terrain },
  /** Parts on a board, seen from above: a narrow depth range. */
  board: { ratio: [1.03, 1.3], field: [15, 40], plainness: 0.1, build: board },
  /** A desk where most surfaces are bare. */
  plain: { ratio: [1.5, 4], field: [25, 60], plainness: 0.65, build: desk },
  /** One object far in front of a bare background, as insects and products are photographed. Not drawn for training. */
  object: { ratio: [1.05, 1.5], field: [15, 40], plainness: 0, build: object },
  /** The same with objects of every shape, thin parts included. */
  subject: { ratio: [1.05, 1.6], field: [15, 40], plainness: 0, build: subject },
  /** Walls, floors and table tops without anything on them, and a few objects: most of what phones see indoors. */
  wall: { ratio: [1.3, 5], field: [40, 70], plainness: 0.5, build: wall },
  /** Objects on a table in front of a wall without any texture, mostly within the planes: beside an object nothing tells the wall's depth. */
  backdrop: { ratio: [1.3, 4], field: [25, 65], plainness: 0.1, build: backdrop },
};

/** An infinite wall across the view at `depth`, slightly tilted. */
function addWall(stage: Stage, depth: number, lean: number): void {
  const { random, primitives } = stage;
  const centre: Vector = [0, 0, depth];
  const normal = unit([lean * between(random, -1, 1), lean * between(random, -1, 1), -1]);
  primitives.push({ kind: "plane", centre, rotation: facing(normal, between(random, 0, 6.3)), material: material(stage, { depth }) });
}

/** The ground seen by a camera that looks down by `pitch`, with depth `nearest` at the lower edge of the image. */
function groundFor({ slopeY }: Stage, { pitch, roll, nearest }: { pitch: number; roll: number; nearest: number }): Ground {
  const down = unit([Math.sin(roll), Math.cos(pitch), Math.sin(pitch)]);
  return { down, distance: nearest * dot(down, [0, slopeY, 1]) };
}

function addGround(stage: Stage, ground: Ground): void {
  const depth = Math.sqrt(stage.near * stage.far);
  const centre = add([0, 0, 0], ground.down, ground.distance);
  stage.primitives.push({
    kind: "plane",
    centre,
    rotation: facing(ground.down, between(stage.random, 0, 6.3)),
    material: material(stage, { depth }),
  });
}

/** A table top, about level, seen by a camera that looks down on it by some angle of the range. */
function addTable(stage: Stage, [least, most]: readonly [number, number]): Ground {
  const { random, near } = stage;
  const ground = groundFor(stage, {
    pitch: between(random, least, most),
    roll: between(random, -0.06, 0.06),
    nearest: near * between(random, 0.85, 1.1),
  });
  addGround(stage, ground);
  return ground;
}

/** Tries to place `count` objects. */
function addManyStanding(stage: Stage, ground: Ground, count: number, enlarge = 1): void {
  for (let tries = 0, placed = 0; tries < 4 * count && placed < count; tries++) if (addStanding(stage, ground, enlarge)) placed++;
}

/** `count` thin objects: wires and nets. */
function addThin(stage: Stage, count: number): void {
  for (let n = 0; n < count; n++) {
    if (chance(stage.random, 0.6)) addWire(stage);
    else addGrid(stage);
  }
}

function desk(stage: Stage): void {
  const { random, far } = stage;
  const ground = addTable(stage, [0.2, 0.8]);
  addWall(stage, far * between(random, 1, 1.15), 0.5);
  addManyStanding(stage, ground, 6 + random.integer(8));
  if (chance(random, 0.35)) addThin(stage, 1 + random.integer(2));
  if (chance(random, 0.25)) addTwig(stage, 3);
}

function room(stage: Stage): void {
  const { random, primitives, near, far, slopeX, slopeY } = stage;
  const down: Vector = unit([between(random, -0.08, 0.08), 1, between(random, -0.05, 0.3)]);
  const rotation = standing(down, between(random, -0.45, 0.45));
  const halfSizes: Vector = [slopeX * far * between(random, 0.45, 0.95), slopeY * far * between(random, 0.4, 0.8), far];
  primitives.push({ kind: "room", centre: [0, 0, 0], rotation, halfSizes, material: material(stage, { depth: far * 0.6 }) });
  const floor: Ground = { down, distance: halfSizes[1] };
  addManyStanding(stage, floor, 6 + random.integer(5), 1.3);
  for (let n = random.integer(4); n > 0; n--) addFloating(stage);
  if (chance(random, 0.5)) addThin(stage, 1 + random.integer(2));
  if (chance(random, 0.3)) addWire({ ...stage, far: near * 1.5 });
}

function macro(stage: Stage): void {
  const { random, primitives, near, far, slopeX, slopeY } = stage;
  const z = between(random, 0.55, 0.9) * (far - near) + near;
  const centre = seenAt(stage, between(random, -0.3, 0.3), between(random, -0.3, 0.3), z);
  const across = Math.min(slopeX, slopeY) * z;
  const deep = (z - near) * between(random, 0.8, 1.05);
  const rotation = facing(tilted(random, 0.15), between(random, 0, 6.3));
  const surface = material(stage, { depth: z });
  const side = (): number => across * between(random, 0.45, 0.95);
  if (chance(random, 0.6)) primitives.push({ kind: "ellipsoid", centre, rotation, radii: [side(), side(), deep], material: surface });
  else if (chance(random, 0.5))
    primitives.push({
      kind: "cylinder",
      centre,
      rotation: facing(unit([1, between(random, -0.5, 0.5), between(random, -0.15, 0.15)]), 0),
      radius: deep,
      halfLength: side(),
      material: surface,
    });
  else
    primitives.push({
      kind: "box",
      centre,
      rotation: facing(tilted(random, 0.35), between(random, 0, 6.3)),
      halfSizes: [side() * 0.7, side() * 0.7, deep * 0.6],
      material: surface,
    });
  addWall(stage, far * (chance(random, 0.7) ? between(random, 1, 1.1) : between(random, 1.1, 2)), 0.4);
  for (let n = 4 + random.integer(6); n > 0; n--) addFloating(stage, 0.7);
  if (chance(random, 0.4)) addThin(stage, 1 + random.integer(3));
  if (chance(random, 0.3)) addLeaf(stage);
}

function slope(stage: Stage): void {
  const { random, near, far, slopeX, slopeY } = stage;
  // The plane runs from near at one edge of the image to far at the other: its dioptres are linear in the slopes.
  const angle = between(random, 0, 2 * Math.PI);
  const [ex, ey] = [Math.cos(angle), Math.sin(angle)];
  const reach = Math.abs(ex) * slopeX + Math.abs(ey) * slopeY;
  const [middle, change] = [(1 / near + 1 / far) / 2, (1 / near - 1 / far) / 2];
  const down = unit([(change * ex) / reach, (change * ey) / reach, middle]);
  const ground: Ground = { down, distance: down[2] / middle };
  addGround(stage, ground);
  addWall(stage, far * 1.05, 0.1);
  addManyStanding(stage, ground, random.integer(5), 0.8);
  for (let n = random.integer(4); n > 0; n--) addFloating(stage);
  if (chance(random, 0.3)) addThin(stage, 1);
}

function clutter(stage: Stage): void {
  const { random, far } = stage;
  addWall(stage, far * between(random, 0.95, 1.2), 0.9);
  for (let n = 8 + random.integer(6); n > 0; n--) addFloating(stage);
  if (chance(random, 0.5)) addThin(stage, 1 + random.integer(3));
}

function foliage(stage: Stage): void {
  const { random, far } = stage;
  addWall(stage, far * between(random, 1, 1.6), 0.7);
  addTwig(stage, 3 + random.integer(3));
  addTwig(stage, 2 + random.integer(3));
  for (let n = random.integer(4); n > 0; n--) addLeaf(stage);
  addThin(stage, random.integer(3));
}

function terrain(stage: Stage): void {
  const { random, primitives, near, far, slopeX, slopeY } = stage;
  const z = (near + far) / 2;
  const lean = chance(random, 0.5) ? 0.1 : 0.5;
  const normal = tilted(random, lean);
  const side = 1.5 * Math.max(slopeX, slopeY) * far;
  primitives.push({
    kind: "heightField",
    centre: [0, 0, z],
    rotation: facing(normal, between(random, 0, 6.3)),
    halfSizes: [side, side],
    amplitude: ((far - near) / 2) * between(random, 0.4, 1),
    frequency: between(random, 0.5, 2),
    seed: random.uniform(),
    material: material(stage, { depth: z }),
  });
  addWall(stage, far * 1.3, 0.2);
  for (let n = random.integer(4); n > 0; n--) addFloating(stage, 0.7);
  if (chance(random, 0.4)) addThin(stage, 1 + random.integer(2));
}

function board(stage: Stage): void {
  const { random, primitives, near, far } = stage;
  const normal = tilted(random, 0.12);
  const down: Vector = [-normal[0], -normal[1], -normal[2]];
  const depth = near + (far - near) * between(random, 0.7, 1);
  const ground: Ground = { down, distance: depth * down[2] };
  addGround(stage, ground);
  const [height, count] = [depth - near, 7 + random.integer(8)];
  for (let n = 0; n < count; n++) {
    const foot = seenAt(stage, between(random, -0.95, 0.95), between(random, -0.95, 0.95), depth);
    const side = (): number => stage.slopeX * depth * between(random, 0.04, 0.25);
    const tall = (height * between(random, 0.08, 1)) / 2;
    const centre = add(foot, down, -tall);
    const surface = material(stage, { depth });
    if (chance(random, 0.6))
      primitives.push({
        kind: "box",
        centre,
        rotation: facing(down, random.integer(2) * 1.5708),
        halfSizes: [side(), side(), tall],
        material: surface,
      });
    else if (chance(random, 0.7))
      primitives.push({ kind: "cylinder", centre, rotation: facing(down, 0), radius: side() * 0.7, halfLength: tall, material: surface });
    else
      primitives.push({
        kind: "ellipsoid",
        centre: foot,
        rotation: anyRotation(random),
        radii: [side() * 0.5, side() * 0.5, side() * 0.5],
        material: surface,
      });
  }
  if (chance(random, 0.5)) addThin(stage, 1 + random.integer(2));
}

function object(stage: Stage): void {
  const { random, primitives, near, far, slopeX, slopeY } = stage;
  const centre = seenAt(stage, between(random, -0.15, 0.15), between(random, -0.15, 0.15), far);
  const across = Math.min(slopeX, slopeY) * far;
  const side = (): number => across * between(random, 0.4, 0.7);
  const surface = material(stage, { depth: far });
  primitives.push({ kind: "ellipsoid", centre, rotation: facing([0, 0, -1], between(random, 0, 6.3)), radii: [side(), side(), far - near], material: surface }); // prettier-ignore
  const depth = far * between(random, 1.5, 3);
  addBackdrop(stage, depth);
}

/** A bare background across the view. */
function addBackdrop(stage: Stage, depth: number): void {
  const background = { ...material(stage, { depth, plain: true }), textureSize: 1e3 * depth, specular: 0 };
  stage.primitives.push({ kind: "plane", centre: [0, 0, depth], rotation: facing([0, 0, -1], 0), material: background });
}

function subject(stage: Stage): void {
  const { random, primitives, near, far, slopeX, slopeY } = stage;
  const centre = seenAt(stage, between(random, -0.2, 0.2), between(random, -0.2, 0.2), far);
  const across = Math.min(slopeX, slopeY) * far;
  const side = (): number => across * between(random, 0.3, 0.65);
  const surface = material(stage, { depth: far });
  const deep = far - near;
  const turn = between(random, 0, 6.3);
  const body = random.integer(4);
  if (body < 2) primitives.push({ kind: "ellipsoid", centre, rotation: facing([0, 0, -1], turn), radii: [side(), side(), deep], material: surface }); // prettier-ignore
  else if (body === 2)
    primitives.push({ kind: "box", centre, rotation: facing(tilted(random, 0.3), turn), halfSizes: [side() * 0.8, side() * 0.8, deep * 0.7], material: surface }); // prettier-ignore
  else for (let n = 0; n < 6; n++) addLeaf(stage, add(centre, [side() * random.normal(), side() * random.normal(), -deep * random.uniform()], 0.5)); // prettier-ignore
  for (let n = random.integer(4); n > 0; n--) addPart(stage, centre, side());
  for (let n = random.integer(5); n > 0; n--) {
    const to = add(centre, [2 * side() * random.normal(), 2 * side() * random.normal(), -deep * random.uniform()]);
    const radius = (far / stage.scale) * between(random, 0.8, 4);
    primitives.push({ kind: "wire", from: add(centre, [0, 0, -deep], 0.6), to, radius, material: material(stage, { depth: far }) });
  }
  addBackdrop(stage, far * between(random, 1.5, 4));
}

/** A small ball or box that grows out of an object's middle. */
function addPart(stage: Stage, middle: Vector, reach: number): void {
  const { random, primitives, near, far } = stage;
  const centre = add(middle, [reach * random.normal(), reach * random.normal(), -(far - near) * random.uniform()], 0.7);
  const size = (): number => Math.min(reach * between(random, 0.15, 0.5), 0.5 * (far - near) + 0.1 * reach);
  const common = { centre, rotation: anyRotation(random), material: material(stage, { depth: far }) };
  if (chance(random, 0.6)) primitives.push({ kind: "ellipsoid", radii: [size(), size(), size()], ...common });
  else primitives.push({ kind: "box", halfSizes: [size(), size(), size()], ...common });
}

function wall(stage: Stage): void {
  const { random, primitives, near, far, slopeX, slopeY } = stage;
  const bare = (depth: number): Material => {
    const surface = material(stage, { depth, plain: true });
    return chance(random, 0.5) ? { ...surface, textureSize: 1e3 * depth } : surface;
  };
  const count = 2 + random.integer(5);
  if (chance(random, 0.5)) {
    const down: Vector = unit([between(random, -0.08, 0.08), 1, between(random, 0, 0.4)]);
    const halfSizes: Vector = [slopeX * far * between(random, 0.45, 0.95), slopeY * far * between(random, 0.4, 0.8), far];
    primitives.push({ kind: "room", centre: [0, 0, 0], rotation: standing(down, between(random, -0.6, 0.6)), halfSizes, material: bare(far * 0.6) }); // prettier-ignore
    addManyStanding(stage, { down, distance: halfSizes[1] }, count, 1.3);
  } else {
    const ground = groundFor(stage, { pitch: between(random, 0.15, 0.7), roll: between(random, -0.06, 0.06), nearest: near * between(random, 0.9, 1.1) }); // prettier-ignore
    const depth = Math.sqrt(near * far);
    primitives.push({ kind: "plane", centre: add([0, 0, 0], ground.down, ground.distance), rotation: facing(ground.down, between(random, 0, 6.3)), material: bare(depth) }); // prettier-ignore
    const normal = unit([between(random, -0.6, 0.6), between(random, -0.2, 0.2), -1]);
    primitives.push({ kind: "plane", centre: [0, 0, far], rotation: facing(normal, between(random, 0, 6.3)), material: bare(far) });
    addManyStanding(stage, ground, count);
  }
}

function backdrop(stage: Stage): void {
  const { random, near, far } = stage;
  const depth = near + (far - near) * between(random, 0.5, 1.05);
  const ground = addTable(stage, [0.1, 0.6]);
  addManyStanding({ ...stage, far: depth }, ground, 1 + random.integer(4), between(random, 1, 2));
  addBackdrop(stage, depth);
}
