import type { Size } from "../../image/image.ts";
import type { Camera } from "../../stack/stackFormat.ts";

export type CameraPreset = "nyu" | "arkit" | "fossa";

export const CAMERA_PRESETS: readonly CameraPreset[] = ["nyu", "arkit", "fossa"];

/** The cameras of the published synthetic stacks, for an image of this size. */
export function presetCamera(preset: CameraPreset, { width, height }: Size): Camera {
  switch (preset) {
    case "nyu": //   HybridDepth, DEReD
      return { focalLength: 0.05, fNumber: 8, pixelPitch: 12e-6 };
    case "arkit": // HybridDepth: a sensor of 3.1 mm with 560 pixels
      return { focalLength: 2.9e-3, fNumber: 0.5, pixelPitch: 3.1e-3 / 560 };
    case "fossa": // 36 mm along the longer edge; FOSSA takes the focal length from each image's camera matrix, here 60° of view (Hypersim's)
      return { focalLength: 0.018 / Math.tan(Math.PI / 6), fNumber: 1.4, pixelPitch: 0.036 / Math.max(width, height) };
  }
}
