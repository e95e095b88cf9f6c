import { extent } from "../../../src/output/result.ts";
import type { LensSetting } from "./lens.ts";
import type { Photographs } from "./photographs.ts";
import type { RefocusPlan } from "./plan.ts";
import { FRAGMENT, VERTEX } from "./gatherShader.ts";

export interface Painter {
  paint(setting: LensSetting): void;
  /** From now on blur comes from these where they have it. */
  use(photographs: Photographs): void;
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
  const scene = uploaded(gl, plan);
  let photos = uploadedLayers(gl, NO_PHOTOGRAPHS);
  const uniform = (name: string): WebGLUniformLocation | null => gl.getUniformLocation(program, name);
  const ends = extent(plan.nearness);
  gl.useProgram(program);
  gl.uniform1i(uniform("scene"), 0);
  gl.uniform1i(uniform("photos"), 1);
  return {
    paint(setting) {
      const { gain, focus, ratio } = plan.blur(setting);
      const widest = Math.max(...ends.map((end) => Math.abs(gain * (end - focus))));
      const reach = Math.min(Math.max(widest, 1) + 0.5, MOST_REACH * Math.max(plan.width, plan.height));
      gl.viewport(0, 0, plan.width, plan.height);
      gl.activeTexture(gl.TEXTURE0);
      gl.bindTexture(gl.TEXTURE_2D, scene);
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D_ARRAY, photos);
      gl.uniform1f(uniform("gain"), gain);
      gl.uniform1f(uniform("focus"), focus);
      gl.uniform1f(uniform("ratio"), ratio);
      gl.uniform1f(uniform("reach"), reach);
      gl.uniform1i(uniform("samples"), Math.min(Math.max(Math.ceil(Math.PI * reach ** 2), SAMPLES.least), SAMPLES.most));
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    },
    use(photographs) {
      gl.deleteTexture(photos);
      photos = uploadedLayers(gl, photographs);
      gl.uniform1i(uniform("planes"), photographs.nearness.length);
      gl.uniform1fv(uniform("planeNearness"), photographs.nearness);
    },
    dispose() {
      gl.deleteTexture(scene);
      gl.deleteTexture(photos);
      gl.deleteProgram(program);
    },
  };
}

/** A texture must be bound even if it is not read. */
const NO_PHOTOGRAPHS: Photographs = { width: 1, height: 1, nearness: new Float32Array(0), layers: new Uint8Array(4) };

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
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, width, height, 0, gl.RGBA, gl.FLOAT, data);
  return texture;
}

/** The photographs as an array of textures with mipmaps; reading them gives linear light. */
function uploadedLayers(gl: WebGL2RenderingContext, { width, height, layers }: Photographs): WebGLTexture {
  const texture = gl.createTexture();
  gl.activeTexture(gl.TEXTURE1);
  gl.bindTexture(gl.TEXTURE_2D_ARRAY, texture);
  const count = layers.length / (4 * width * height);
  gl.texImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.SRGB8_ALPHA8, width, height, count, 0, gl.RGBA, gl.UNSIGNED_BYTE, layers);
  gl.generateMipmap(gl.TEXTURE_2D_ARRAY);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D_ARRAY, side, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
  gl.texParameteri(gl.TEXTURE_2D_ARRAY, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
  return texture;
}
