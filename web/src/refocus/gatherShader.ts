/** One triangle that covers the whole image, without a buffer. */
export const VERTEX = `#version 300 es
void main() {
  gl_Position = vec4(float((gl_VertexID & 1) << 2) - 1.0, float((gl_VertexID & 2) << 1) - 1.0, 0.0, 1.0);
}`;

/**
 * Every pixel p gathers the light that reaches it from points q within `reach` pixels.
 * A point spreads its light over the disk of its blur radius r_q; with a_q the area that it represents, its share at p is a_q / (π r_q²).
 *
 * - Points nearer than p cover it: their shares add up to the coverage α, and hide what lies behind.
 * - Points at p's depth or behind it mix only within p's own disk, so that nothing bleeds over a sharp edge.
 *
 *     out = Σ_near share_q I_q + (1 - α) · mean over p's disk of the others
 *
 * Sampling is denser near p (radius linear in the sample's index), because small disks matter as much as large ones.
 */
export const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
uniform sampler2D scene; // linear light, nearness
uniform float gain;
uniform float focus;
uniform float reach;
uniform int samples;
out vec4 shown;

const float PI = 3.14159265;
const float GOLDEN_ANGLE = 2.39996323;
const float POINT = 0.5641896; // radius of a disk with the area of a pixel: the smallest blur
const float LEVEL = 1.0; // surfaces whose blur differs by less count as equally deep

// 1 inside a disk, 0 outside; the rim is a pixel wide, less for the smallest disks, so that sharp pixels stay sharp.
float within(float disk, float radius) {
  return clamp((disk - radius) / clamp(2.0 * (disk - POINT), 1e-3, 1.0) + 0.5, 0.0, 1.0);
}

vec3 storedLight(vec3 light) {
  return mix(12.92 * light, 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055, step(vec3(0.0031308), light));
}

void main() {
  ivec2 size = textureSize(scene, 0);
  ivec2 at = ivec2(gl_FragCoord.x, float(size.y) - gl_FragCoord.y);
  vec4 centre = texelFetch(scene, at, 0);
  float signedCentre = gain * (centre.a - focus);
  float own = max(abs(signedCentre), POINT);
  float centreShare = POINT * POINT / (own * own);
  vec4 level = vec4(centre.rgb, 1.0) * centreShare;
  vec4 near = vec4(0.0);
  // Every pixel rotates the samples differently, so that their pattern is not visible.
  float turn = 6.2831853 * fract(52.9829189 * fract(dot(vec2(at), vec2(0.06711056, 0.00583715))));
  float width = (reach - POINT) / float(samples);
  for (int i = 0; i < samples; i++) {
    float radius = POINT + (float(i) + 0.5) * width;
    float angle = turn + float(i) * GOLDEN_ANGLE;
    vec2 place = vec2(at) + 0.5 + radius * vec2(cos(angle), sin(angle));
    if (any(lessThan(place, vec2(0.0))) || any(greaterThanEqual(place, vec2(size)))) continue;
    vec4 point = texelFetch(scene, ivec2(place), 0);
    float area = 2.0 * PI * radius * width;
    float signedPoint = gain * (point.a - focus);
    if (signedPoint > signedCentre + LEVEL) {
      float r = max(abs(signedPoint), POINT);
      near += vec4(point.rgb, 1.0) * area / (PI * r * r) * within(r, radius);
    } else level += vec4(point.rgb, 1.0) * area / (PI * own * own) * within(own, radius);
  }
  vec3 behind = level.rgb / level.a;
  vec3 light = near.a < 1.0 ? near.rgb + (1.0 - near.a) * behind : near.rgb / near.a;
  shown = vec4(storedLight(light), 1.0);
}`;
