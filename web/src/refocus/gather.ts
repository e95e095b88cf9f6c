import { extent } from "../../../src/output/result.ts";
import type { LensSetting } from "./lens.ts";
import type { RefocusPlan } from "./plan.ts";
import { FRAGMENT, VERTEX } from "./gatherShader.ts";

export interface Painter {
  paint(setting: LensSetting): void;
  dispose(): void;
}

/** Blur is limited to this share of the longer side. */
const MOST_REACH = 0.08;
const SAMPLES = { least: 96, most: 256 } as const;

/** Draws the refocused image with WebGL 2; undefined if the browser does not support it. */
export function createGather(canvas: HTMLCanvasElement, plan: RefocusPlan): Painter | undefined {
  // The buffer is preserved, so that the image can be saved without drawing it again.
  const gl = canvas.getContext("webgl2", { antialias: false, depth: false, alpha: false, preserveDrawingBuffer: true });
  if (!gl) return undefined;
  const program = linked(gl);
  const texture = uploaded(gl, plan);
  const uniform = (name: string): WebGLUniformLocation | null => gl.getUniformLocation(program, name);
  const places = { gain: uniform("gain"), focus: uniform("focus"), reach: uniform("reach"), samples: uniform("samples") };
  const ends = extent(plan.nearness);
  return {
    paint(setting) {
      const { gain, focus } = plan.blur(setting);
      const widest = Math.max(...ends.map((end) => Math.abs(gain * (end - focus))));
      const reach = Math.min(Math.max(widest, 1) + 0.5, MOST_REACH * Math.max(plan.width, plan.height));
      gl.viewport(0, 0, plan.width, plan.height);
      gl.useProgram(program);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform1f(places.gain, gain);
      gl.uniform1f(places.focus, focus);
      gl.uniform1f(places.reach, reach);
      gl.uniform1i(places.samples, Math.min(Math.max(Math.ceil(Math.PI * reach ** 2), SAMPLES.least), SAMPLES.most));
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    },
    dispose() {
      gl.deleteTexture(texture);
      gl.deleteProgram(program);
    },
  };
}

function linked(gl: WebGL2RenderingContext): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type);
    if (!shader) throw new Error("refocus: the graphics context is lost; reload the page");
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader); // freed with the program
  }
  gl.linkProgram(program);
  if (gl.getProgramParameter(program, gl.LINK_STATUS) !== true)
    throw new Error(`refocus: this graphics driver refuses the shader: ${gl.getProgramInfoLog(program) ?? "no reason given"}`);
  return program;
}

/** Light and nearness in one texture of floats, read without filtering. */
function uploaded(gl: WebGL2RenderingContext, { width, height, light, nearness }: RefocusPlan): WebGLTexture {
  const data = new Float32Array(4 * nearness.length);
  for (let i = 0; i < nearness.length; i++) {
    data.set(light.subarray(3 * i, 3 * i + 3), 4 * i);
    data[4 * i + 3] = nearness[i] as number;
  }
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, width, height, 0, gl.RGBA, gl.FLOAT, data);
  return texture;
}
