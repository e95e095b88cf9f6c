import { alignImage } from "../../src/align/alignedRows.ts";
import type { Gain } from "../../src/align/exposure.ts";
import { IDENTITY, type Similarity } from "../../src/align/similarity.ts";
import type { Image } from "../../src/image/image.ts";

/** The frame resampled: pixel p takes the value at T(p). */
export const warpImage = (image: Image, transform: Similarity): Image => alignImage(image, { transform, gain: [], ok: true });

/** The image with each channel's linear light multiplied by its gain. */
export const applyGain = (image: Image, gain: Gain): Image => alignImage(image, { transform: IDENTITY, gain, ok: true });
