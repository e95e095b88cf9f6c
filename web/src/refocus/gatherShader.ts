import { MOST_PLANES } from "./photographs.ts";

/** One triangle that covers the whole image, without a buffer. */
export const VERTEX = `#version 300 es
void main() {
  gl_Position = vec4(float((gl_VertexID & 1) << 2) - 1.0, float((gl_VertexID & 2) << 1) - 1.0, 0.0, 1.0);
}`;

/**
 * Blur comes from the photographs where one of them has it (`photographOf`): true bokeh, true light behind edges. Sharp parts take their
 * fine detail from the all-in-focus image, which may have more pixels and lies between the planes, too. Elsewhere it is computed:
 *
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
precision highp sampler2DArray;
uniform sampler2D scene; // linear light, nearness
uniform sampler2DArray photos; // the photographs near to far, then the all-in-focus image
uniform float gain;
uniform float focus;
uniform float reach;
uniform int samples;
uniform int planes; // 0 without photographs
uniform float planeNearness[${MOST_PLANES}];
uniform float ratio; // this aperture over that of the photographs
out vec4 shown;

const float PI = 3.14159265;
const float GOLDEN_ANGLE = 2.39996323;
const float POINT = 0.5641896; // radius of a disk with the area of a pixel: the smallest blur
const float LEVEL = 1.0; // surfaces whose blur differs by less count as equally deep
const float COARSE = 2.0; // mipmap level below which detail comes from the all-in-focus image

// 1 inside a disk, 0 outside; the rim is a pixel wide, less for the smallest disks, so that sharp pixels stay sharp.
float within(float disk, float radius) {
  return clamp((disk - radius) / clamp(2.0 * (disk - POINT), 1e-3, 1.0) + 0.5, 0.0, 1.0);
}

vec3 storedLight(vec3 light) {
  return mix(12.92 * light, 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055, step(vec3(0.0031308), light));
}

// Light of nearer points with their coverage, and of the others.
void gather(ivec2 at, ivec2 size, vec4 centre, out vec4 near, out vec3 behind) {
  float signedCentre = gain * (centre.a - focus);
  float own = max(abs(signedCentre), POINT);
  float centreShare = POINT * POINT / (own * own);
  vec4 level = vec4(centre.rgb, 1.0) * centreShare;
  near = vec4(0.0);
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
  behind = level.rgb / level.a;
}

vec3 over(vec4 near, vec3 behind) {
  return near.a < 1.0 ? near.rgb + (1.0 - near.a) * behind : near.rgb / near.a;
}

// photographOf in photographs.ts.
float photographOf(float u) {
  float v = u - ratio * (u - focus);
  int n = 0;
  while (n < planes - 2 && v < planeNearness[n + 1]) n++;
  return float(n) + (planeNearness[n] - v) / (planeNearness[n] - planeNearness[n + 1]);
}

vec3 between(vec2 place, float plane, float level) {
  float last = float(planes - 1);
  float n = min(floor(plane), last - 1.0);
  return mix(textureLod(photos, vec3(place, n), level).rgb, textureLod(photos, vec3(place, n + 1.0), level).rgb, plane - n);
}

vec3 photographed(ivec2 at, ivec2 size, vec4 centre, float plane) {
  vec2 place = (vec2(at) + 0.5) / vec2(size);
  float coarser = max(float(size.x) / float(textureSize(photos, 0).x), 1.0); // the photographs may have fewer pixels
  float sharp = 1.0 - smoothstep(0.3, 0.9, abs(gain * (centre.a - focus)) / coarser);
  vec3 detail = centre.rgb - textureLod(photos, vec3(place, planes), COARSE).rgb;
  return mix(between(place, plane, 0.0), max(between(place, plane, COARSE) + detail, 0.0), sharp);
}

void main() {
  ivec2 size = textureSize(scene, 0);
  ivec2 at = ivec2(gl_FragCoord.x, float(size.y) - gl_FragCoord.y);
  vec4 centre = texelFetch(scene, at, 0);
  float plane = planes > 0 ? photographOf(centre.a) : -1.0;
  float last = float(planes - 1);
  float inStack = planes > 0 ? 1.0 - clamp(max(-plane, plane - last), 0.0, 1.0) : 0.0; // fades out within a plane
  vec3 photo = inStack > 0.0 ? photographed(at, size, centre, clamp(plane, 0.0, last)) : vec3(0.0);
  vec3 light = photo;
  if (inStack < 1.0 || ratio > 1.001) {
    vec4 near;
    vec3 behind;
    gather(at, size, centre, near, behind);
    // A wider aperture spreads what is nearer over what the photographs show; theirs has done so already.
    light = ratio > 1.001 ? over(near, mix(behind, photo, inStack)) : mix(over(near, behind), photo, inStack);
  }
  shown = vec4(storedLight(light), 1.0);
}`;
