import type { EncodeJpeg } from "./outputs.ts";

/** High enough that the choice of details shows. */
export const JPEG_QUALITY = 0.95;

/** The browser's encoder; undefined where there is no canvas. */
export const canvasJpeg: EncodeJpeg | undefined =
  typeof OffscreenCanvas === "undefined"
    ? undefined
    : async ({ width, height, channels, data }) => {
        const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
        for (let i = 0; i < width * height; i++)
          for (let c = 0; c < 3; c++) pixels[4 * i + c] = data[i * channels + (channels === 3 ? c : 0)] as number;
        const canvas = new OffscreenCanvas(width, height);
        canvas.getContext("2d")?.putImageData(new ImageData(pixels, width, height), 0, 0);
        const blob = await canvas.convertToBlob({ type: "image/jpeg", quality: JPEG_QUALITY });
        return new Uint8Array(await blob.arrayBuffer());
      };
