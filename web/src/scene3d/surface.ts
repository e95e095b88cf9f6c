import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  DoubleSide,
  LinearFilter,
  LinearMipmapLinearFilter,
  Mesh,
  MeshBasicMaterial,
  RGBAFormat,
  SRGBColorSpace,
} from "three";

import { depthMesh } from "../../../src/output/model.ts";
import { projectionOf } from "../../../src/output/projection.ts";
import { paintDepth } from "../../../src/output/colorPicture.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { opaque, pixelsOf } from "../paint.ts";
import { shrinkImage, sizeWithin } from "../shrink.ts";

/** Smooth on integrated graphics. */
const MOST_VERTICES = 300_000;
const TEXTURE_SIDE = 2048;

export interface Surface {
  readonly mesh: Mesh<BufferGeometry, MeshBasicMaterial>;
  dispose(): void;
}

/** The result as a textured surface with holes where depth jumps or is unknown. Points are in the projection's unit. */
export function createSurface(result: DepthResult): Surface {
  const { positions, textureCoordinates, indices } = depthMesh(result, { projection: projectionOf(result), maxVertices: MOST_VERTICES });
  if (indices.length === 0) throw new Error("no three neighbouring pixels have a depth, so there is no surface to show");
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setAttribute("uv", new BufferAttribute(textureCoordinates, 2));
  geometry.setIndex(new BufferAttribute(indices, 1));
  const texture = textureOf(result);
  const material = new MeshBasicMaterial({ map: texture, side: DoubleSide });
  return {
    mesh: new Mesh(geometry, material),
    dispose() {
      geometry.dispose();
      material.dispose();
      texture.dispose();
    },
  };
}

/** The first row of the data is the image's first row, as in the texture coordinates. */
function textureOf(result: DepthResult): DataTexture {
  const { allInFocus } = result;
  const { width, height, data } = allInFocus
    ? pixelsOf(shrinkImage(allInFocus, sizeWithin(allInFocus, TEXTURE_SIDE)))
    : opaque(paintDepth(result));
  const texture = new DataTexture(new Uint8Array(data.buffer), width, height, RGBAFormat);
  texture.colorSpace = SRGBColorSpace;
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}
