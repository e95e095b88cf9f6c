import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  DoubleSide,
  LinearFilter,
  LinearMipmapLinearFilter,
  Mesh,
  MeshBasicMaterial,
  Points,
  PointsMaterial,
  RGBAFormat,
  SRGBColorSpace,
} from "three";

import { decodeSrgb } from "../../../src/image/srgb.ts";
import { depthMesh } from "../../../src/output/model.ts";
import { projectionOf } from "../../../src/output/projection.ts";
import { paintDepth } from "../../../src/output/colorPicture.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { opaque, pixelsOf, type Painting } from "../paint.ts";
import { shrinkImage, sizeWithin } from "../../../src/image/shrink.ts";

/** Smooth on integrated graphics. */
const MOST_VERTICES = 300_000;
const TEXTURE_SIDE = 2048;

/** How the surface is drawn. */
export type Drawing = "surface" | "points" | "wireframe";

export interface Surface {
  /** What is measured on, however it is drawn. */
  readonly mesh: Mesh<BufferGeometry, MeshBasicMaterial>;
  readonly points: Points<BufferGeometry, PointsMaterial>;
  draw(as: Drawing): void;
  dispose(): void;
}

/** The result as a textured surface with holes where depth jumps or is unknown. Points are in the projection's unit. */
export function createSurface(result: DepthResult): Surface {
  const { positions, textureCoordinates, indices } = depthMesh(result, { projection: projectionOf(result), maxVertices: MOST_VERTICES });
  if (indices.length === 0)
    throw new Error(
      "No three neighbouring pixels have a depth that is certain enough, so there is no surface to show. Allow larger errors.",
    );
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setAttribute("uv", new BufferAttribute(textureCoordinates, 2));
  geometry.setIndex(new BufferAttribute(indices, 1));
  const picture = pictureOf(result);
  geometry.setAttribute("color", new BufferAttribute(colorsOf(picture, textureCoordinates), 3, true));
  const texture = textureOf(picture);
  const material = new MeshBasicMaterial({ map: texture, side: DoubleSide });
  const pointMaterial = new PointsMaterial({ vertexColors: true, size: 2, sizeAttenuation: false });
  const mesh = new Mesh(geometry, material);
  const points = new Points(geometry, pointMaterial);
  points.visible = false;
  return {
    mesh,
    points,
    draw(as) {
      mesh.visible = as !== "points";
      points.visible = as === "points";
      material.wireframe = as === "wireframe";
    },
    dispose() {
      geometry.dispose();
      material.dispose();
      pointMaterial.dispose();
      texture.dispose();
    },
  };
}

/** The colour at each texture coordinate, in linear light as three.js expects of vertices. */
function colorsOf({ width, height, data }: Painting, coordinates: Float32Array): Uint8Array {
  return Uint8Array.from({ length: (3 * coordinates.length) / 2 }, (_, i) => {
    const vertex = Math.floor(i / 3);
    const x = Math.min(Math.floor((coordinates[2 * vertex] as number) * width), width - 1);
    const y = Math.min(Math.floor((coordinates[2 * vertex + 1] as number) * height), height - 1);
    return 255 * decodeSrgb((data[4 * (y * width + x) + (i % 3)] as number) / 255);
  });
}

function pictureOf(result: DepthResult): Painting {
  const { allInFocus, profile } = result;
  return allInFocus ? pixelsOf(shrinkImage(allInFocus, sizeWithin(allInFocus, TEXTURE_SIDE)), profile) : opaque(paintDepth(result));
}

/** The first row of the data is the image's first row, as in the texture coordinates. */
function textureOf({ width, height, data }: Painting): DataTexture {
  const texture = new DataTexture(new Uint8Array(data.buffer), width, height, RGBAFormat);
  texture.colorSpace = SRGBColorSpace;
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}
