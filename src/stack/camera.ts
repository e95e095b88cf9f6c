/** A thin lens in front of a sensor. Lengths in metres. */
export interface Camera {
  readonly focalLength: number;
  readonly fNumber: number;
  readonly pixelPitch: number;
}
