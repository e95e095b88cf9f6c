import type { Camera } from "../../stack/stackFormat.ts";

/** Rejects cameras and focus distances for which the lens equation has no image. Distances in metres. */
export function checkFocus({ focalLength, fNumber, pixelPitch }: Camera, focusDistance: number): void {
  for (const [name, value] of Object.entries({ focalLength, fNumber, pixelPitch }))
    if (!(Number.isFinite(value) && value > 0)) throw new RangeError(`camera: ${name} must be positive, got ${value}`);
  if (!(focusDistance > focalLength))
    throw new RangeError(
      `camera: a lens of ${focalLength * 1000} mm cannot focus at ${focusDistance} m; focus distances must be beyond its focal length`,
    );
}

/** Distance from the lens to the sensor when focused at `focusDistance`, in metres: v = f d / (d - f). At infinity v = f. */
export function imageDistance({ focalLength }: Pick<Camera, "focalLength">, focusDistance: number): number {
  return focalLength / (1 - focalLength / focusDistance);
}

/**
 * Size of the image focused at `focusDistance` relative to the one focused at `reference` (focus breathing): v / v_reference.
 * Closer focus moves the lens away from the sensor and magnifies the image.
 */
export function magnification(
  camera: Pick<Camera, "focalLength">,
  { focusDistance, reference }: { focusDistance: number; reference: number },
): number {
  return imageDistance(camera, focusDistance) / imageDistance(camera, reference);
}

/**
 * Diameter of the circle of confusion, in pixels (eq. 9), with S₁ = focusDistance and S₂ = depth:
 *
 *     c = |S₂ - S₁| / S₂ · f² / (N (S₁ - f))
 */
export function circleOfConfusion(camera: Camera, { focusDistance, depth }: { focusDistance: number; depth: number }): number {
  const { focalLength, fNumber, pixelPitch } = camera;
  const diameter = (Math.abs(depth - focusDistance) / depth) * (focalLength ** 2 / (fNumber * (focusDistance - focalLength)));
  return diameter / pixelPitch;
}

/**
 * Pixels of blur diameter per dioptre out of focus: A v / pitch with the aperture A = f / N. Equation 9 is then
 *
 *     c = A v |1/S₁ - 1/S₂|
 *
 * which also holds at infinity (1/S = 0), and costs one multiplication per pixel.
 */
export function blurPerDioptre(camera: Camera, focusDistance: number): number {
  const aperture = camera.focalLength / camera.fNumber;
  return (aperture * imageDistance(camera, focusDistance)) / camera.pixelPitch;
}
