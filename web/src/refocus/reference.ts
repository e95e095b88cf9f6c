import { encodeSrgb } from "../../../src/image/srgb.ts";
import type { Image } from "../../../src/image/image.ts";
import { layeredBlur } from "../../../src/optics/synthesize/layers.ts";
import type { LensSetting } from "./lens.ts";
import type { RefocusPlan } from "./plan.ts";

/** The refocused image with exact disks and occlusion, on the CPU: the reference for the shader, and the fallback without WebGL. */
export function refocusExactly(plan: RefocusPlan, setting: LensSetting): Image {
  const { width, height, light, nearness } = plan;
  const { gain, focus } = plan.blur(setting);
  const signedRadius = nearness.map((each) => gain * (each - focus));
  const blurred = layeredBlur({ image: { width, height, channels: 3, data: light }, signedRadius });
  return { ...blurred, data: blurred.data.map(encodeSrgb) };
}
