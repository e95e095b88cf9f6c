import type { Random } from "../../random.ts";
import type { Imperfections, Scene } from "./scene.ts";
import { between, chance, logBetween, unit } from "./stage.ts";

/**
 * The scene as a phone takes it by hand: soft light, exposure that may be too dark or too bright, noise, what alignment leaves of the
 * hand's motion and of focus breathing, and the phone's own processing. Objects cast shadows in a share `shadows` of the scenes.
 */
export function takenByPhone(scene: Scene, random: Random, { shadows = 0 }: { readonly shadows?: number } = {}): Scene {
  const { focusDistances, camera } = scene;
  const light = { ...scene.light, ambient: between(random, 0.4, 0.95), exposure: logBetween(random, 0.3, 2) };
  const apart = random.split("shadows");
  const along = (n: number): number => (focusDistances.length === 1 ? 0 : (2 * n) / (focusDistances.length - 1) - 1); // −1 to 1
  const motion = motionOf(random, Math.max(camera.width, camera.height));
  const [ramp, flicker] = [random.normal() * 0.05, logBetween(random, 0.003, 0.05)];
  return {
    ...scene,
    light: chance(apart, shadows) ? castingShadows(light, apart) : light,
    imperfections: {
      readNoise: logBetween(random, 0.001, 0.015),
      shotNoise: logBetween(random, 0.005, 0.06),
      misalignment: focusDistances.map((_, n) => motion(along(n))),
      exposureDrift: focusDistances.map((_, n) => Math.max(1 + ramp * along(n) + flicker * random.normal(), 0.5)),
      phone: processing(random, focusDistances.length),
    },
  };
}

/** From above, from a lamp or a window. */
const castingShadows = (light: Scene["light"], random: Random): Scene["light"] => ({
  ...light,
  direction: unit([between(random, -1, 1), between(random, -1.6, -0.4), between(random, -1.6, -0.3)]),
  ambient: between(random, 0.2, 0.7),
  shadows: logBetween(random, 0.01, 0.4),
});

type Motion = NonNullable<Imperfections["misalignment"]>[number];

/** Of the plane at `along`, −1 for the first to 1 for the last: up to 3 pixels at the ends and, by breathing, at the edges; none in the middle. */
function motionOf(random: Random, side: number): (along: number) => Motion {
  const angle = between(random, 0, 2 * Math.PI);
  const drift = chance(random, 0.6) ? between(random, 0, 2.5) : 0;
  const jitter = chance(random, 0.7) ? logBetween(random, 0.1, 0.8) : 0;
  const breathing = chance(random, 0.7) ? between(random, -3, 3) / (side / 2) : 0;
  const shift = (component: number, along: number): number => drift * component * along + jitter * random.normal();
  return (along) => ({
    shift: [shift(Math.cos(angle), along), shift(Math.sin(angle), along)],
    angle: random.normal() * 0.0005,
    scale: 1 + breathing * along,
  });
}

/** The tone curve changes from frame to frame as the phone meters each one. */
function processing(random: Random, planes: number): NonNullable<Imperfections["phone"]> {
  const tone = { black: between(random, -0.03, 0.06), gamma: logBetween(random, 0.75, 1.3), contrast: between(random, -0.1, 0.7) };
  const change = chance(random, 0.6) ? between(random, 0, 1) : 0;
  const changed = (value: number, deviation: number): number => value + change * deviation * random.normal();
  return {
    shading: [random.normal() * 0.15, random.normal() * 0.15, between(random, 0, 0.45)],
    denoise: chance(random, 0.85) ? logBetween(random, 0.006, 0.08) : 0,
    sharpen: chance(random, 0.8) ? between(random, 0.2, 1.6) : 0,
    tone: Array.from({ length: planes }, () => ({
      black: Math.max(changed(tone.black, 0.005), 0),
      gamma: changed(tone.gamma, 0.03),
      contrast: Math.min(Math.max(changed(tone.contrast, 0.05), -0.5), 0.85),
    })),
    jpegQuality: 60 + random.integer(38),
  };
}
