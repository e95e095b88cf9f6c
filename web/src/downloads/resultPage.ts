import { encodePageData, resultPage } from "../../../src/output/resultPage.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { PATHS, type ViewResult } from "../contract.ts";
import { pixelsOf } from "../paint.ts";
import { pick, shrinkDepth, shrinkImage, sizeWithin } from "../shrink.ts";
import { imageBlob } from "./offer.ts";

/** Longer side of what is in the page: enough for a screen, and small enough to send. */
const SIDE = 1600;

/** The result as one HTML file that shows it without a network. */
export async function makeResultPage(view: ViewResult): Promise<Blob> {
  const { allInFocus } = view.result;
  if (!allInFocus) throw new Error("This result has no all-in-focus image.");
  const picture = await imageBlob(pixelsOf(shrinkImage(allInFocus, sizeWithin(allInFocus, SIDE))), "image/jpeg");
  const data = encodePageData(shrinkResult(view.result), {
    name: view.name,
    facts: `Depth from ${view.planes.length} images, ${view.result.depth.width} × ${view.result.depth.height} pixels, by DualFocus`,
    planes: view.planes.length,
    focusDistances: view.focusDistances,
    picture: { bytes: new Uint8Array(await picture.arrayBuffer()), mimeType: "image/jpeg" },
  });
  const [script, style] = await Promise.all([textOf(`${PATHS.viewer}.js`), textOf(`${PATHS.viewer}.css`)]);
  return new Blob([resultPage(data, { script, style })], { type: "text/html" });
}

async function textOf(path: string): Promise<string> {
  const response = await fetch(path).catch(() => undefined);
  if (!response?.ok) throw new Error("The viewer could not be loaded. Is there a connection to the page's host?");
  return response.text();
}

/** The maps of the result, no larger than the page's side; lengths per pixel grow with it. */
export function shrinkResult(result: DepthResult, side = SIDE): DepthResult {
  const { depth, camera, pixelSize, error, confidence, beyond, planeIndex } = result;
  const size = sizeWithin(depth, side);
  if (size.width === depth.width) return result;
  const grown = depth.width / size.width;
  const bytes = (map: Int8Array | Uint8Array | Uint16Array): Uint8Array => pick(new Uint8Array(map), depth, size);
  return {
    ...result,
    depth: shrinkDepth(depth, size),
    ...(camera ? { camera: { ...camera, pixelPitch: camera.pixelPitch * grown } } : {}),
    ...(pixelSize === undefined ? {} : { pixelSize: pixelSize * grown }),
    ...(error ? { error: pick(error, depth, size) } : {}),
    ...(confidence ? { confidence: pick(confidence, depth, size) } : {}),
    ...(beyond ? { beyond: new Int8Array(bytes(beyond).buffer as ArrayBuffer) } : {}),
    ...(planeIndex ? { planeIndex: bytes(planeIndex) } : {}),
  };
}
