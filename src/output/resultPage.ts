import { deflateSync, inflateSync } from "fflate";

import { resizeNearest } from "../image/nearest.ts";
import { shrinkDepth, shrinkImage, sizeWithin } from "../image/shrink.ts";
import { integers } from "../io/png.ts";
import { bytesToSrgb } from "../io/profileColours.ts";
import { depthCode, type DepthCode } from "./depthCode.ts";
import type { EncodeJpeg } from "./outputs.ts";
import { extent, isKnown, validRange, type DepthResult } from "./result.ts";

/** A result as the JSON inside a self-contained page. Maps are compressed and in base64. */
export interface PageData {
  readonly name: string;
  /** One line about the run. */
  readonly facts: string;
  readonly planes: number;
  readonly focusDistances: readonly number[];
  /** Whether the images show depth at all. */
  readonly focusChange: boolean;
  readonly width: number;
  readonly height: number;
  readonly space: DepthResult["depth"]["space"];
  readonly unit: DepthResult["unit"];
  readonly range?: readonly [number, number];
  readonly camera?: NonNullable<DepthResult["camera"]>;
  readonly pixelSize?: number;
  /** Sixteen bits; 0 is unknown. */
  readonly depth: CodedMap;
  readonly error?: CodedMap;
  /** Eight bits each. */
  readonly confidence?: string;
  readonly beyond?: string;
  readonly filled?: string;
  readonly planeIndex?: string;
  /** The all-in-focus image as a data URL. */
  readonly picture: string;
}

interface CodedMap extends DepthCode {
  readonly data: string;
}

export interface PageOptions extends Pick<PageData, "name" | "facts" | "planes" | "focusDistances" | "focusChange"> {
  /** The all-in-focus image as a file. */
  readonly picture: { readonly bytes: Uint8Array; readonly mimeType: "image/jpeg" | "image/png" };
}

export function encodePageData(result: DepthResult, { picture, ...options }: PageOptions): PageData {
  const { depth, unit, range, camera, pixelSize, error, confidence, beyond, filled, planeIndex } = result;
  const known = (value: number, pixel: number): number => (isKnown(depth, pixel) ? value : NaN);
  return {
    ...options,
    width: depth.width,
    height: depth.height,
    space: depth.space,
    unit,
    ...(range ? { range } : {}),
    ...(camera ? { camera } : {}),
    ...(pixelSize === undefined ? {} : { pixelSize }),
    depth: encodeMap(depth.values.map(known), depthCode(validRange(depth))),
    ...(error ? { error: encodeMap(error.map(known), depthCode(rangeOf(error.map(known)))) } : {}),
    ...(confidence ? { confidence: packed(Uint8Array.from(confidence, (value) => 255 * Math.min(Math.max(value, 0), 1))) } : {}),
    ...(beyond ? { beyond: packed(new Uint8Array(Int8Array.from(beyond).buffer)) } : {}),
    ...(filled ? { filled: packed(filled) } : {}),
    ...(planeIndex ? { planeIndex: packed(Uint8Array.from(planeIndex, (plane) => Math.min(plane, 255))) } : {}),
    picture: `data:${picture.mimeType};base64,${base64(picture.bytes)}`,
  };
}

const rangeOf = (values: Float32Array): [number, number] => {
  const [least, greatest] = extent(values);
  return least <= greatest ? [least, greatest] : [0, 0];
};

/** The result without the all-in-focus image, which a browser decodes. */
export function decodePageData(data: PageData): DepthResult {
  const { width, height, space, unit, range, camera, pixelSize, depth, error, confidence, beyond, filled, planeIndex } = data;
  const values = decodeMap(depth);
  return {
    depth: { width, height, space, values, valid: Uint8Array.from(values, (value) => (Number.isNaN(value) ? 0 : 1)) },
    unit,
    ...(range ? { range } : {}),
    ...(camera ? { camera } : {}),
    ...(pixelSize === undefined ? {} : { pixelSize }),
    ...(error ? { error: decodeMap(error) } : {}),
    ...(confidence === undefined ? {} : { confidence: Float32Array.from(unpacked(confidence), (value) => value / 255) }),
    ...(beyond === undefined ? {} : { beyond: new Int8Array(unpacked(beyond).slice().buffer) }),
    ...(filled === undefined ? {} : { filled: unpacked(filled) }),
    ...(planeIndex === undefined ? {} : { planeIndex: unpacked(planeIndex) }),
  };
}

function encodeMap(values: Float32Array, { scale, offset }: DepthCode): CodedMap {
  const codes = Uint16Array.from(values, (value) =>
    Number.isNaN(value) ? 0 : Math.min(Math.max(Math.round((value - offset) / scale), 1), 65535),
  );
  const bytes = new Uint8Array(2 * codes.length); // low bytes, then high bytes: both compress better apart
  for (const [i, code] of codes.entries()) {
    bytes[i] = code & 255;
    bytes[codes.length + i] = code >> 8;
  }
  return { scale, offset, data: packed(bytes) };
}

function decodeMap({ scale, offset, data }: CodedMap): Float32Array {
  const bytes = unpacked(data);
  const count = bytes.length / 2;
  return Float32Array.from({ length: count }, (_, i) => {
    const code = (bytes[i] as number) + 256 * (bytes[count + i] as number);
    return code === 0 ? NaN : code * scale + offset;
  });
}

const packed = (bytes: Uint8Array): string => base64(deflateSync(bytes));
const unpacked = (text: string): Uint8Array => inflateSync(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));

/** In pieces: a call takes only so many arguments. */
function base64(bytes: Uint8Array): string {
  let letters = "";
  for (let i = 0; i < bytes.length; i += 0x8000) letters += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(letters);
}

/** The viewer: a script and a style sheet without any import. */
export interface PageViewer {
  readonly script: string;
  readonly style: string;
}

/** A page that needs nothing but itself: its policy forbids every request. */
export function resultPage(data: PageData, { script, style }: PageViewer): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${data.name.replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`)}: depth from focus</title>
<style>${style.replace(/<\/style/gi, "<\\/style")}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page shows its result with JavaScript. Please allow it.</noscript>
<script type="application/json" id="data">${JSON.stringify(data).replace(/</g, "\\u003c")}</script>
<script>${script.replace(/<\/script/gi, "<\\/script")}</script>
</body>
</html>
`;
}

/** Longer side of what is in the page: enough for a screen, and small enough to send. */
const SIDE = 1600;

/** What the page says besides the maps. */
export type PageFacts = Pick<PageData, "name" | "planes" | "focusDistances" | "focusChange">;

/** The result as one HTML file that shows it without a network: depth, all-in-focus image, refocus and 3-D. */
export async function makeResultPage(
  result: DepthResult,
  facts: PageFacts,
  { viewer, jpeg }: { readonly viewer: PageViewer; readonly jpeg: EncodeJpeg },
): Promise<string> {
  const { allInFocus, depth, profile } = result;
  if (!allInFocus) throw new Error("the result has no all-in-focus image, which its page shows");
  const small = shrinkImage(allInFocus, sizeWithin(allInFocus, SIDE));
  const pixels = integers(small.data, 8) as Uint8Array;
  if (profile && small.channels === 3) bytesToSrgb(pixels, profile); // its refocused and 3-D views know no profiles
  const bytes = await jpeg({ ...small, data: pixels });
  const data = encodePageData(shrinkResult(result), {
    ...facts,
    facts: `${facts.focusChange ? "" : "No focus change found, so depth is unknown. "}Depth from ${facts.planes} images, ${depth.width} × ${depth.height} pixels, by DualFocus`,
    picture: { bytes, mimeType: "image/jpeg" },
  });
  return resultPage(data, viewer);
}

/** The maps of the result, no larger than the page's side; lengths per pixel grow with it. */
export function shrinkResult(result: DepthResult, side = SIDE): DepthResult {
  const size = sizeWithin(result.depth, side);
  if (size.width === result.depth.width) return result;
  const { depth, camera, pixelSize, error, confidence, beyond, filled, planeIndex, ...others } = result; // reads each map, which may compute it, once
  const grown = depth.width / size.width;
  return {
    ...others,
    depth: shrinkDepth(depth, size),
    ...(camera ? { camera: { ...camera, pixelPitch: camera.pixelPitch * grown } } : {}),
    ...(pixelSize === undefined ? {} : { pixelSize: pixelSize * grown }),
    ...(error ? { error: resizeNearest(error, depth, size) } : {}),
    ...(confidence ? { confidence: resizeNearest(confidence, depth, size) } : {}),
    ...(beyond ? { beyond: resizeNearest(beyond, depth, size) } : {}),
    ...(filled ? { filled: resizeNearest(filled, depth, size) } : {}),
    ...(planeIndex ? { planeIndex: resizeNearest(planeIndex, depth, size) } : {}),
  };
}
