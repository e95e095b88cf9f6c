// Distributed ray tracing through a thin lens: the one kernel of the renderer. Compiled for the CPU, where a value of type Rays is eight
// rays at once, and for CUDA, where it is one. src/optics/render/kernel.ts is the same in plain TypeScript and explains each step;
// src/optics/scene/pack.ts describes the packed scene. Included once per instruction set, inside a namespace of its own.

#include "lensLanes.h"

// ---- The scene ----

constexpr int PRIMITIVE_STRIDE = 32, CAMERA_STRIDE = 16, PLANE_STRIDE = 8, TILE = 16;
constexpr int ELLIPSOID = 0, BOX = 1, QUAD = 2, CYLINDER = 3, ROOM = 4, HEIGHT_FIELD = 5, PLANE = 6;
constexpr int TEXTURE_QUAD = 7, LEAF = 8, GRID = 9, DISK = 10;
constexpr float FAR_AWAY = 1e30f, UNBOUNDED = 1e29f, TURN = 6.2831853f;

struct Textures {
  const uint32_t* texels; // RGBA, red in the lowest byte
  int bits;               // log₂ of the side
};

/** One image of one scene: a plane of the stack, or the pinhole image. */
struct Picture {
  const float* primitives;
  const float* camera;
  Textures textures;
  const float* lensX; // sunflower points of the unit disk, `samples` of them, padded by LANES
  const float* lensY;
  const float* corners; // of the aperture, x, y; used when blades ≥ 3
  int width, height, samples, planes, index;
  float dioptres, radius, scale, gain, cosine, sine, shiftX, shiftY;
};

/** A primitive that rays of a tile can hit: its offset, with its type in the bits above TYPE_SHIFT, and a lower bound on the depth of a hit. */
struct Candidate {
  int code;
  float near;
};
constexpr int TYPE_SHIFT = 12;

LENS_FN Candidate candidate(const float* primitives, int k, float near) {
  return {k * PRIMITIVE_STRIDE | (int)primitives[k * PRIMITIVE_STRIDE + 12] << TYPE_SHIFT, near};
}

/** Bounded primitives come first, nearest first. */
struct Candidates {
  const Candidate* list;
  int bounded, total;
};

/** Views each way of a light field, else 0. */
LENS_FN int viewsOf(const Picture& picture) { return picture.camera[7] < 0 ? -(int)picture.camera[7] : 0; }

LENS_FN void aim(Picture& picture, const float* plane) {
  if (const int views = viewsOf(picture)) { // as many rays for each view, at least one
    const int each = picture.samples / (views * views);
    picture.samples = views * views * (each > 1 ? each : 1);
  }
  picture.dioptres = plane[0];
  picture.radius = plane[1];
  picture.scale = plane[2];
  picture.gain = plane[3];
  picture.cosine = plane[4];
  picture.sine = plane[5];
  picture.shiftX = plane[6];
  picture.shiftY = plane[7];
}

/** Only the pixel is sampled, not the lens: a quarter of the rays is enough. */
LENS_FN int pinholeSamples(int samples) { return samples < 16 ? samples : samples < 64 ? 16 : samples / 4; }

LENS_FN void aimPinhole(Picture& picture) {
  picture.dioptres = picture.radius = picture.sine = picture.shiftX = picture.shiftY = 0;
  picture.gain = picture.cosine = 1;
  picture.scale = picture.camera[0];
  picture.samples = pinholeSamples(picture.samples);
}

/** A lower bound on the depth at which rays of the tile at (left, top) can hit this primitive; FAR_AWAY when none can. */
LENS_FN float tileNear(const Picture& picture, const float* p, int left, int top) {
  const float r = p[31];
  if (r > UNBOUNDED) return 0;
  const float x = p[28], y = p[29], z = p[30], last = z + r;
  float first = fmaxf(z - r, 0.f), end = last;
  if (last <= 0) return FAR_AWAY;
  const float centreX = left + TILE / 2 - picture.width * 0.5f - picture.shiftX;
  const float centreY = top + TILE / 2 - picture.height * 0.5f - picture.shiftY;
  const float slopeX = (picture.cosine * centreX + picture.sine * centreY) / picture.scale;
  const float slopeY = (picture.cosine * centreY - picture.sine * centreX) / picture.scale;
  const float half = (fabsf(picture.cosine) + fabsf(picture.sine)) * (TILE / 2) / picture.scale;
  const float spread = fabsf(picture.camera[9]) + fabsf(picture.camera[10]);
  const float blur = fmaxf(fabsf(1 - first * picture.dioptres), fabsf(1 - last * picture.dioptres)) + last * spread;
  const float width = 1.6f * picture.radius * blur + last * half; // of the bundle, each way from its centre line
  if (fabsf(x - slopeX * z) > width + r * sqrtf(1 + slopeX * slopeX)) return FAR_AWAY;
  if (fabsf(y - slopeY * z) > width + r * sqrtf(1 + slopeY * slopeY)) return FAR_AWAY;
  // The centre line must pass the local box, made larger by the bundle.
  const int type = (int)p[12];
  for (int axis = 0; axis < 3; axis++) {
    const float* row = p + 4 * axis;
    const bool flat = axis == 2 && (type == QUAD || type >= TEXTURE_QUAD);
    const float reach = (flat ? 1e-6f : 1.f) + 1.42f * width * sqrtf(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
    const float rate = row[0] * slopeX + row[1] * slopeY + row[2];
    const float per = 1 / (fabsf(rate) > SLOPE_FLOOR ? rate : SLOPE_FLOOR);
    first = fmaxf(first, -row[3] * per - reach * fabsf(per));
    end = fminf(end, -row[3] * per + reach * fabsf(per));
  }
  return first > end ? FAR_AWAY : 0.9999f * first;
}

#include "lensShapes.h"

// ---- Light ----

LENS_FN Rays decodeGamma(Rays v) { return v * (0.012522878f + v * (0.682171111f + v * 0.305306011f)); }

LENS_FN float encodeGamma(float light) {
  if (!(light > 0)) return 0;
  light = fminf(light, 1.f);
  float v = powf(light, 1 / 2.2f);
  for (int i = 0; i < 3; i++)
    v -= (v * (0.012522878f + v * (0.682171111f + v * 0.305306011f)) - light) / (0.012522878f + v * (1.364342222f + v * 0.915918033f));
  return v;
}

LENS_FN void localNormal(const float* p, int type, Rays x, Rays y, Rays z, Rays& nx, Rays& ny, Rays& nz) {
  const Rays zero = splat(0.f);
  const Rays ax = absolute(x), ay = absolute(y), az = absolute(z);
  switch (type) {
  case ELLIPSOID:
    nx = x, ny = y, nz = z;
    break;
  case BOX:
  case ROOM: {
    const Mask onX = (ax >= ay) & (ax >= az), onY = ay >= az;
    nx = select(onX, x, zero);
    ny = select(onX, zero, select(onY, y, zero));
    nz = select(onX, zero, select(onY, zero, z));
    break;
  }
  case CYLINDER: {
    const Mask cap = az > 0.9999f;
    nx = select(cap, zero, x);
    ny = select(cap, zero, y);
    nz = select(cap, z, zero);
    break;
  }
  case HEIGHT_FIELD:
    fieldHeight(x, y, p[26], p[25], nx, ny);
    nx = -nx, ny = -ny, nz = splat(1.f);
    break;
  default:
    nx = ny = zero, nz = splat(1.f);
  }
}

/** 1 where the point at depth t of a ray sees the point (u, v), in [0, 1), of the light, else 0. */
LENS_FN Rays reachesLight(const Picture& picture, const Ray& ray, Rays t, Rays u, Rays v) {
  const float *light = picture.camera + 2, size = picture.camera[15], towards = fminf(light[2], -0.05f);
  Ray back;
  back.dx = (light[0] - size + 2 * size * u) * (1 / towards);
  back.dy = (light[1] - size + 2 * size * v) * (1 / towards);
  back.ox = ray.ox + t * (ray.dx - back.dx);
  back.oy = ray.oy + t * (ray.dy - back.dy);
  const Rays limit = 0.999f * t; // nearer than that to the point is its own surface
  Rays nearest = limit;
  for (int k = 0; k < (int)picture.camera[1]; k++) {
    const float* p = picture.primitives + k * PRIMITIVE_STRIDE;
    nearest = hitDepth(p, (int)p[12], back, nearest, picture.textures);
  }
  return select(nearest < limit, splat(0.f), splat(1.f));
}

/** Linear light reflected along a ray by primitive p, hit at depth t; without the direct light where `lit` is 0. */
LENS_FN void shade(const Picture& picture, const float* p, int type, const Ray& ray, Rays t, Rays ju, Rays jv, Rays lit, Rays& red, Rays& green, Rays& blue) {
  const Row a = rowOf(p), b = rowOf(p + 4), c = rowOf(p + 8), repeats = rowOf(p + 12), tints = rowOf(p + 16), more = rowOf(p + 20);
  const Rays wx = ray.ox + t * ray.dx, wy = ray.oy + t * ray.dy;
  const Rays x = a.x * wx + (a.y * wy + (a.z * t + a.w));
  const Rays y = b.x * wx + (b.y * wy + (b.z * t + b.w));
  const Rays z = c.x * wx + (c.y * wy + (c.z * t + c.w));
  Rays n0, n1, n2;
  localNormal(p, type, x, y, z, n0, n1, n2);
  Rays u = x * repeats.z, v = y * repeats.w;
  if (type == ELLIPSOID || type == BOX || type == ROOM || type == CYLINDER) {
    const Rays a0 = absolute(n0), a1 = absolute(n1), a2 = absolute(n2);
    const Mask alongX = (a0 >= a1) & (a0 >= a2), alongXY = alongX | (a1 >= a2);
    u = select(alongX, v, u);
    v = select(alongXY, z * tints.x, v);
  }
  Rays nx = a.x * n0 + (b.x * n1 + c.x * n2), ny = a.y * n0 + (b.y * n1 + c.y * n2), nz = a.z * n0 + (b.z * n1 + c.z * n2);
  const Rays length = inverseRoot(nx * nx + ny * ny + nz * nz);
  const Rays facing = select(nx * ray.dx + ny * ray.dy + nz > 0.f, -length, length);
  nx *= facing, ny *= facing, nz *= facing;
  const float *light = picture.camera + 2, ambient = picture.camera[5];
  const Rays diffuse = (1.f - ambient) * lit * larger(nx * light[0] + (ny * light[1] + nz * light[2]), splat(0.f)) + (ambient + more.z);
  Rays highlight = splat(0.f);
  if (more.x > 0) {
    const Rays back = inverseRoot(ray.dx * ray.dx + ray.dy * ray.dy + 1.f);
    const Rays hx = light[0] - ray.dx * back, hy = light[1] - ray.dy * back, hz = light[2] - back;
    const Rays cosine = (nx * hx + ny * hy + nz * hz) * inverseRoot(hx * hx + hy * hy + hz * hz + 1e-12f);
    highlight = more.x * lit * power(larger(cosine, splat(0.f)), more.y);
  }
  const int side = 1 << picture.textures.bits;
  const Ints column = wrapped((u + more.w) * (float)side - 0.5f + ju) & (side - 1);
  const Ints row = wrapped((v + p[27]) * (float)side - 0.5f + jv) & (side - 1);
  const Words texel = fetch(picture.textures.texels, (uint32_t)repeats.y << (2 * picture.textures.bits), row * side + column);
  red = decodeGamma(fromByte(texel, 0) * (1 / 255.f)) * (tints.y * diffuse) + highlight;
  green = decodeGamma(fromByte(texel, 1) * (1 / 255.f)) * (tints.z * diffuse) + highlight;
  blue = decodeGamma(fromByte(texel, 2) * (1 / 255.f)) * (tints.w * diffuse) + highlight;
}

// ---- Sampling ----

LENS_FN uint32_t hash(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

LENS_FN Rays member(uint32_t start, uint32_t step, Ints i) { return fromBits(start + (Words)i * step); }

LENS_FN float normalDeviate(uint32_t a, uint32_t b) {
  return sqrtf(-2 * logf((a + 1.f) * 2.3283064e-10f)) * cosf(TURN * 2.3283064e-10f * b);
}

/** The point of the lens that sample i of a pixel goes through, in units of the aperture radius. */
LENS_FN void bladePoint(const Picture& picture, uint32_t base, Ints i, Rays& x, Rays& y) {
  const int blades = (int)picture.camera[7];
  const Rays around = member(hash(base + 5), 0x9e3779b9u, i) * (float)blades;
  const Ints whichOne = toInt(around);
  const Ints k = select(whichOne < blades, whichOne, splatInt(blades - 1));
  const Rays part = around - toFloat(k);
  const Rays r = root(fraction((toFloat(i) + 0.5f) * (1.f / picture.samples) + hash(base + 6) * 2.3283064e-10f));
  x = r * (lookUp(picture.corners, 2 * k) * (1.f - part) + lookUp(picture.corners, 2 * k + 2) * part);
  y = r * (lookUp(picture.corners, 2 * k + 1) * (1.f - part) + lookUp(picture.corners, 2 * k + 3) * part);
}

/** The same for a light field, whose views lie on a square with the area of the unit disk. */
LENS_FN void viewPoint(int views, Ints i, Rays& x, Rays& y) {
  const float half = 0.88622693f, step = 2 * half / (views - 1);
  const Ints row = i / views;
  x = toFloat(i - row * views) * step - half;
  y = toFloat(row % views) * step - half;
}

/** Sums the light of all rays of a pixel, focused at `dioptres`. */
LENS_FN void gatherLight(const Picture& picture, const Candidates& candidates, int x, int y, uint32_t base, float dioptres, float* sum) {
  const uint32_t startX = hash(base + 1), startY = hash(base + 2), startU = hash(base + 3), startV = hash(base + 4);
  const float turn = TURN * 2.3283064e-10f * hash(base + 5);
  const float turnX = picture.radius * cosf(turn), turnY = picture.radius * sinf(turn);
  const int views = viewsOf(picture);
  const bool round = picture.camera[7] < 3;
  const float left = x - picture.width * 0.5f - picture.shiftX, top = y - picture.height * 0.5f - picture.shiftY;
  const float cosine = picture.cosine / picture.scale, sine = picture.sine / picture.scale;
  Rays red = splat(0.f), green = splat(0.f), blue = splat(0.f);
  for (int first = 0; first < picture.samples; first += LANES) {
    const Ints i = first + laneIndex();
    const Rays qx = left + member(startX, 0xc13fa9a9u, i), qy = top + member(startY, 0x91e10da5u, i);
    Ray ray;
    if (views > 0) {
      viewPoint(views, i, ray.ox, ray.oy);
      ray.ox *= picture.radius, ray.oy *= picture.radius;
    } else if (round) {
      const Rays lx = load(picture.lensX, first), ly = load(picture.lensY, first);
      ray.ox = turnX * lx - turnY * ly;
      ray.oy = turnY * lx + turnX * ly;
    } else {
      bladePoint(picture, base, i, ray.ox, ray.oy);
      ray.ox *= picture.radius, ray.oy *= picture.radius;
    }
    ray.dx = cosine * qx + sine * qy - ray.ox * dioptres;
    ray.dy = cosine * qy - sine * qx - ray.oy * dioptres;
    Ints hit;
    const Rays t = trace(picture, candidates, ray, hit);
    const Rays ju = member(startU, 0xd1b54a33u, i), jv = member(startV, 0xabc98389u, i);
    Rays lit = splat(1.f);
    if (picture.camera[15] > 0) lit = reachesLight(picture, ray, t, member(hash(base + 7), 0xdb4f0b91u, i), member(hash(base + 8), 0xbbe05633u, i));
    Mask open = (hit >= 0) & (i < picture.samples);
    while (any(open)) { // once per primitive that these rays hit
      const int code = firstOf(open, hit);
      const Mask mine = open & (hit == code);
      Rays r, g, b;
      shade(picture, picture.primitives + (code & ((1 << TYPE_SHIFT) - 1)), code >> TYPE_SHIFT, ray, t, ju, jv, lit, r, g, b);
      red += select(mine, r, splat(0.f));
      green += select(mine, g, splat(0.f));
      blue += select(mine, b, splat(0.f));
      open = open & (hit != code);
    }
  }
  sum[0] = total(red), sum[1] = total(green), sum[2] = total(blue);
}

/** One pixel of an image, gamma-encoded. */
LENS_FN void renderPixel(const Picture& picture, const Candidates& candidates, int x, int y, float* colour) {
  const float* camera = picture.camera;
  const uint32_t base = hash((uint32_t)camera[13] ^ hash((uint32_t)(y * picture.width + x) + (uint32_t)(picture.index + 1) * 0x9e3779b1u));
  const float fromX = x + 0.5f - picture.width * 0.5f, fromY = y + 0.5f - picture.height * 0.5f;
  const float corner = (float)picture.width * picture.width + (float)picture.height * picture.height;
  const float dioptres = picture.dioptres + 4 * camera[9] * (fromX * fromX + fromY * fromY) / corner;
  float sum[3];
  if (camera[10] == 0 || picture.radius == 0) gatherLight(picture, candidates, x, y, base, dioptres, sum);
  else
    for (int c = 0; c < 3; c++) {
      float each[3];
      gatherLight(picture, candidates, x, y, base, dioptres + (c - 1) * camera[10], each);
      sum[c] = each[c];
    }
  const float gain = camera[6] * picture.gain / picture.samples;
  for (int c = 0; c < 3; c++) {
    float light = sum[c] * gain;
    const float variance = picture.index < picture.planes ? camera[11] * camera[11] + camera[12] * camera[12] * fminf(light, 1.f) : 0.f;
    if (variance > 0) light += sqrtf(variance) * normalDeviate(hash(base + 16 + 2 * c), hash(base + 17 + 2 * c));
    colour[c] = encodeGamma(light);
  }
}

/** z-depth of `LANES` pixel centres starting at x, through the pinhole; 0 where nothing is hit. */
LENS_FN Rays pinholeDepth(const Picture& picture, const Candidates& candidates, int x, int y) {
  Ray ray{splat(0.f), splat(0.f), (toFloat(x + laneIndex()) + (0.5f - picture.width * 0.5f)) / picture.scale,
                splat((y + 0.5f - picture.height * 0.5f) / picture.scale)};
  Ints hit;
  const Rays t = trace(picture, candidates, ray, hit);
  return select(hit >= 0, t, splat(0.f));
}
