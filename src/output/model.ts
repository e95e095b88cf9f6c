import type { Image } from "../image/image.ts";
import { encodeGlb } from "../io/glb.ts";
import type { TexturedMesh } from "../io/glb.ts";
import { encodePly } from "../io/ply.ts";
import { encodePngPixels } from "../io/png.ts";
import { bytesToSrgb } from "../io/profileColours.ts";
import type { Canvas } from "./canvas.ts";
import { paintDepth } from "./colorPicture.ts";
import { backProject, describeProjection, distances, projectionOf } from "./projection.ts";
import type { Projection } from "./projection.ts";
import { extent, type DepthResult } from "./result.ts";

/** Supported by most graphics cards, and enough for a screen. */
const MAX_TEXTURE_SIDE = 4096;
/** A finer mesh is slow everywhere and shows no more. */
const MAX_VERTICES = 1_000_000;
/** Share of the depth range: neighbours farther apart belong to different objects and are not connected. */
const EDGE = 0.05;

/** Where the coordinates of points are zero. */
const ORIGINS: Readonly<Record<Projection["kind"], string>> = {
  pinhole: "the camera at the origin",
  orthographic: "0 at the middle of the image and at depth 0",
  relief: "0 at the middle of the image and at the nearest depth",
};

/** Every known pixel as a point in the colour of the all-in-focus image (or of the coloured depth map). */
export function encodePoints(result: DepthResult): Uint8Array {
  const { width, height } = result.depth;
  const projection = projectionOf(result);
  const far = distances(result, projection);
  const picture = pictureOf(result);
  const count = far.reduce((sum, distance) => sum + (Number.isNaN(distance) ? 0 : 1), 0);
  const [positions, colors] = [new Float32Array(3 * count), new Uint8Array(3 * count)];
  let at = 0;
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const distance = far[row * width + column] as number;
      if (Number.isNaN(distance)) continue;
      backProject(result.depth, projection, { column, row, distance, into: positions, at });
      const x = Math.min(Math.floor(((column + 0.5) * picture.width) / width), picture.width - 1);
      const y = Math.min(Math.floor(((row + 0.5) * picture.height) / height), picture.height - 1);
      for (let c = 0; c < 3; c++) colors[at + c] = picture.data[(y * picture.width + x) * 3 + c] as number;
      at += 3;
    }
  const origin = ORIGINS[projection.kind];
  const comments = [`dualfocus: x right, y up, z towards the viewer, ${origin}`, describeProjection(projection)];
  return encodePly({ positions, colors }, { comments });
}

export interface MeshOptions {
  readonly maxVertices?: number;
  /** The texture as a JPEG, which is smaller than the default PNG, from a caller that can encode it. */
  readonly texture?: TexturedMesh["texture"];
}

/** A surface through the pixels, cut at depth edges. Undefined if no three neighbours are known. */
export function encodeMesh(result: DepthResult, { maxVertices = MAX_VERTICES, texture }: MeshOptions = {}): Uint8Array | undefined {
  const projection = projectionOf(result);
  const mesh = depthMesh(result, { projection, maxVertices });
  if (mesh.indices.length === 0) return undefined;
  const picture = texture ? undefined : shrunk(pictureOf(result));
  const image = texture ?? { bytes: encodePngPixels({ ...(picture as Canvas), channels: 3 }), mimeType: "image/png" as const };
  return encodeGlb({ ...mesh, texture: image }, { extras: { projection: describeProjection(projection) } });
}

/** Vertices on a grid of pixels, two triangles per cell, without triangles across a depth edge or at an unknown pixel. */
export function depthMesh(
  result: DepthResult,
  { projection, maxVertices = MAX_VERTICES }: { projection: Projection; maxVertices?: number },
): Pick<TexturedMesh, "positions" | "textureCoordinates" | "indices"> {
  const { width, height } = result.depth;
  const step = Math.max(1, Math.ceil(Math.sqrt((width * height) / maxVertices)));
  const [columns, rows] = [Math.floor((width - 1) / step) + 1, Math.floor((height - 1) / step) + 1];
  const all = distances(result, projection);
  const far = Float32Array.from({ length: columns * rows }, (_, i) => {
    const row = Math.floor(i / columns);
    return all[row * step * width + (i - row * columns) * step] as number;
  });
  const grid = { columns, rows, inverse: projection.kind === "pinhole" };
  const limit = edgeLimit(far, grid);
  snapEdges(far, { ...grid, limit });
  const triangles = withoutShreds(gridTriangles(far, { ...grid, limit }), far.length);
  const vertexOf = new Int32Array(far.length).fill(-1);
  const used: number[] = [];
  const indices = triangles.map((point) => {
    if (vertexOf[point] === -1) vertexOf[point] = used.push(point) - 1;
    return vertexOf[point] as number;
  });
  const [positions, textureCoordinates] = [new Float32Array(3 * used.length), new Float32Array(2 * used.length)];
  for (const [i, point] of used.entries()) {
    const [column, row] = [(point % columns) * step, Math.floor(point / columns) * step];
    backProject(result.depth, projection, { column, row, distance: far[point] as number, into: positions, at: 3 * i });
    textureCoordinates.set([(column + 0.5) / width, (row + 0.5) / height], 2 * i);
  }
  return { positions, textureCoordinates, indices };
}

interface Grid {
  readonly columns: number;
  readonly rows: number;
  /** Under perspective, depth edges are measured in 1/distance, as they appear in the image. */
  readonly inverse: boolean;
}

const heightsOf = (far: Float32Array, { inverse }: Grid): Float32Array => (inverse ? far.map((distance) => 1 / distance) : far);

/** The largest difference in height of connected neighbours. */
function edgeLimit(far: Float32Array, grid: Grid): number {
  const [least, greatest] = extent(heightsOf(far, grid));
  return Math.max(EDGE, 3 / Math.min(grid.columns, grid.rows)) * (greatest - least);
}

/** Half the width of a ramp at a depth edge, in grid points, and its least height in limits: steep surfaces are no edges. */
const RAMP = 2;
const RAMP_HEIGHT = 1.5;

/**
 * Depth maps pass from one object to the next over a few pixels, which would hang between the two as shreds. At such a ramp a point takes
 * the distance of the nearer end, so that the surface is cut between two points.
 */
function snapEdges(far: Float32Array, { limit, ...grid }: Grid & { limit: number }): void {
  const { columns, rows } = grid;
  const given = far.slice();
  const heights = heightsOf(given, grid);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column;
      const height = heights[at] as number;
      if (Number.isNaN(height)) continue;
      let [low, high] = [at, at];
      for (let y = Math.max(row - RAMP, 0); y <= Math.min(row + RAMP, rows - 1); y++)
        for (let i = y * columns + Math.max(column - RAMP, 0); i <= y * columns + Math.min(column + RAMP, columns - 1); i++) {
          const each = heights[i] as number;
          if (each < (heights[low] as number)) low = i;
          if (each > (heights[high] as number)) high = i;
        }
      const [least, greatest] = [heights[low] as number, heights[high] as number];
      if (greatest - least > RAMP_HEIGHT * limit) far[at] = given[height - least < greatest - height ? low : high] as number;
    }
}

function gridTriangles(far: Float32Array, { limit, ...grid }: Grid & { limit: number }): Uint32Array {
  const { columns, rows } = grid;
  const heights = heightsOf(far, grid);
  const triangles = new Uint32Array(6 * Math.max(0, columns - 1) * Math.max(0, rows - 1));
  let count = 0;
  const add = (a: number, b: number, c: number): void => {
    const [p, q, r] = [heights[a] as number, heights[b] as number, heights[c] as number];
    if (!(Math.max(p, q, r) - Math.min(p, q, r) <= limit)) return; // also rejects NaN
    triangles[count++] = a;
    triangles[count++] = b;
    triangles[count++] = c;
  };
  for (let row = 0; row + 1 < rows; row++)
    for (let column = 0; column + 1 < columns; column++) {
      const corner = row * columns + column;
      add(corner, corner + columns, corner + 1);
      add(corner + 1, corner + columns, corner + columns + 1);
    }
  return triangles.slice(0, count);
}

/** Pieces with less than this share of all triangles are left out: specks that float beside edges. */
const SHRED = 3e-4;

function withoutShreds(triangles: Uint32Array, points: number): Uint32Array {
  const parent = Uint32Array.from({ length: points }, (_, i) => i); // of connected points, as trees
  const root = (point: number): number => {
    let at = point;
    while (parent[at] !== at) at = parent[at] = parent[parent[at] as number] as number;
    return at;
  };
  for (let i = 0; i < triangles.length; i += 3) {
    const first = root(triangles[i] as number);
    for (const other of [triangles[i + 1], triangles[i + 2]]) parent[root(other as number)] = first;
  }
  const sizes = new Uint32Array(points);
  for (let i = 0; i < triangles.length; i += 3) {
    const piece = root(triangles[i] as number);
    sizes[piece] = (sizes[piece] as number) + 1;
  }
  const least = SHRED * (triangles.length / 3);
  return triangles.filter((_, i) => (sizes[root(triangles[i - (i % 3)] as number)] as number) >= least);
}

/** In sRGB, which is what point clouds and textures are taken for. */
function pictureOf(result: DepthResult): Canvas {
  const { allInFocus, profile } = result;
  if (!allInFocus) return paintDepth(result);
  const picture = bytesOf(allInFocus);
  if (profile) bytesToSrgb(picture.data, profile);
  return picture;
}

function bytesOf({ width, height, channels, data }: Image): Canvas {
  const bytes = new Uint8Array(width * height * 3);
  for (let i = 0; i < bytes.length; i++) {
    const value = data[channels === 3 ? i : Math.floor(i / 3)] as number;
    bytes[i] = Math.min(Math.max(value, 0), 1) * 255 + 0.5;
  }
  return { width, height, data: bytes };
}

/** Averages blocks of pixels so that the image fits a texture. */
function shrunk(picture: Canvas): Canvas {
  const block = Math.ceil(Math.max(picture.width, picture.height) / MAX_TEXTURE_SIDE);
  if (block <= 1) return picture;
  const [width, height] = [Math.floor(picture.width / block), Math.floor(picture.height / block)];
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 3; c++) {
        let sum = 0;
        for (let dy = 0; dy < block; dy++)
          for (let dx = 0; dx < block; dx++) sum += picture.data[((y * block + dy) * picture.width + x * block + dx) * 3 + c] as number;
        data[(y * width + x) * 3 + c] = Math.round(sum / block ** 2);
      }
  return { width, height, data };
}
