import { encodeSrgb } from "../../../src/image/srgb.ts";
import type { Image } from "../../../src/image/image.ts";
import { layeredBlur } from "../../../src/optics/synthesize/layers.ts";
import type { LensSetting } from "./lens.ts";
import type { RefocusPlan } from "./plan.ts";

/** The refocused picture by true disks with occlusion, on the CPU: what the shader is measured by, and what stands in where there is none. */
export function refocusExactly(plan: RefocusPlan, setting: LensSetting): Image {
  const { width, height, light, nearness } = plan;
  const { gain, focus } = plan.blur(setting);
  const signedRadius = nearness.map((each) => gain * (each - focus));
  const blurred = layeredBlur({ image: { width, height, channels: 3, data: light }, signedRadius });
  return { ...blurred, data: blurred.data.map(encodeSrgb) };
}
