import type { SavedName } from "../depth/node/stackRun.ts";

/** What each file is, in a few words: for the help and beside its name after a run. */
export const SAVED_WORDS: Readonly<Record<SavedName | "alignment", string>> = {
  depth16: "depth, 16-bit; result.json has scale and unit",
  depth: "depth, 32-bit floats",
  exr: "depth for compositing, 32-bit floats",
  npy: "depth for NumPy, 32-bit floats",
  color: "depth in colours, to look at",
  aif: "all-in-focus image",
  aifTiff: "all-in-focus image, TIFF",
  aifJpeg: "all-in-focus image, JPEG",
  confidence: "confidence of depth, white is certain",
  error: "expected error of depth, 32-bit floats",
  beyond: "marks what may lie in front of the first or behind the last plane",
  filled: "white where depth was filled in from its surroundings, black where measured, grey where unknown",
  index: "image focused nearest to the depth of each pixel, from 1, near to far",
  ply: "coloured points",
  glb: "textured 3-D mesh",
  probability: "focus probability of every plane, for NumPy",
  html: "page to look at in a browser: depth, refocus, 3-D",
  alignment: "how the images were aligned, for --align",
};
