// Distributed ray tracing through a thin lens: the one kernel of the renderer. Compiled for the CPU, where a value F is eight rays at
// once, and for CUDA, where it is one. src/optics/renderKernel.ts is the same in plain TypeScript and says why each step is as it is;
// src/optics/scenePack.ts describes the packed scene. Included once per instruction set, inside a namespace of its own.

// ---- Lanes: the few operations that differ between one ray and eight ----

#ifdef __CUDACC__

#define LENS_FN __device__ __forceinline__
using Rays = float;
using Ints = int;
using Words = uint32_t;
using Mask = bool;
constexpr int LANES = 1;

LENS_FN float splat(float x) { return x; }
LENS_FN int splatInt(int x) { return x; }
LENS_FN int laneIndex() { return 0; }
LENS_FN bool any(bool mask) { return mask; }
LENS_FN float select(bool mask, float a, float b) { return mask ? a : b; }
LENS_FN int select(bool mask, int a, int b) { return mask ? a : b; }
LENS_FN float root(float x) {
  float result;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
LENS_FN float divide(float a, float b) { return __fdividef(a, b); }
LENS_FN float inverseRoot(float x) { return rsqrtf(x); }
LENS_FN float absolute(float x) { return fabsf(x); }
LENS_FN float smaller(float a, float b) { return fminf(a, b); }
LENS_FN float larger(float a, float b) { return fmaxf(a, b); }
LENS_FN float whole(float x) { return floorf(x); }
LENS_FN int toInt(float x) { return (int)x; }
LENS_FN float toFloat(int x) { return (float)x; }
LENS_FN float power(float x, float y) { return __powf(x, y); }
LENS_FN uint32_t fetch(const uint32_t* texels, int64_t base, int index) { return __ldg(texels + base + index); }
LENS_FN float lookUp(const float* table, int index) { return table[index]; }
LENS_FN float load(const float* table, int index) { return __ldg(table + index); }
LENS_FN int firstOf(bool, int value) { return value; }
LENS_FN float total(float x) { return x; }
LENS_FN int asInt(uint32_t x) { return (int)x; }

#else

#define LENS_FN static inline __attribute__((always_inline))
constexpr int LANES = 8;
typedef float Rays __attribute__((vector_size(32)));
typedef int32_t Ints __attribute__((vector_size(32)));
typedef uint32_t Words __attribute__((vector_size(32)));
typedef Ints Mask;

LENS_FN Rays splat(float x) { return Rays{} + x; }
LENS_FN Ints splatInt(int x) { return Ints{} + x; }
LENS_FN Ints laneIndex() { return Ints{0, 1, 2, 3, 4, 5, 6, 7}; }
LENS_FN bool any(Mask mask) {
#ifdef __AVX2__
  return !__builtin_ia32_ptestz256((__attribute__((vector_size(32))) long long)mask, (__attribute__((vector_size(32))) long long)mask);
#else
  int32_t found = 0;
  for (int i = 0; i < LANES; i++) found |= mask[i];
  return found != 0;
#endif
}
LENS_FN Rays select(Mask mask, Rays a, Rays b) { return mask ? a : b; }
LENS_FN Ints select(Mask mask, Ints a, Ints b) { return mask ? a : b; }
LENS_FN Rays root(Rays x) {
#ifdef __AVX2__
  return __builtin_ia32_sqrtps256(x);
#else
  for (int i = 0; i < LANES; i++) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}
LENS_FN Rays divide(Rays a, Rays b) { return a / b; }
LENS_FN Rays inverseRoot(Rays x) { return 1.f / root(x); }
LENS_FN Rays absolute(Rays x) { return (Rays)((Ints)x & 0x7fffffff); }
LENS_FN Rays smaller(Rays a, Rays b) { return a < b ? a : b; }
LENS_FN Rays larger(Rays a, Rays b) { return a > b ? a : b; }
LENS_FN Ints toInt(Rays x) { return __builtin_convertvector(x, Ints); }
LENS_FN Rays toFloat(Ints x) { return __builtin_convertvector(x, Rays); }
LENS_FN Rays whole(Rays x) {
  const Rays cut = toFloat(toInt(x));
  return cut + toFloat(cut > x); // a true lane is -1
}
LENS_FN Rays power(Rays x, float y) {
  for (int i = 0; i < LANES; i++) x[i] = x[i] > 0.f ? powf(x[i], y) : 0.f;
  return x;
}
LENS_FN Words fetch(const uint32_t* texels, int64_t base, Ints index) {
  Words result;
  for (int i = 0; i < LANES; i++) result[i] = texels[base + index[i]];
  return result;
}
LENS_FN Rays lookUp(const float* table, Ints index) {
  Rays result;
  for (int i = 0; i < LANES; i++) result[i] = table[index[i]];
  return result;
}
LENS_FN Rays load(const float* table, int index) {
  Rays result;
  __builtin_memcpy(&result, table + index, sizeof result);
  return result;
}
/** The value of the first lane where `mask` holds; there is one. */
LENS_FN int firstOf(Mask mask, Ints value) {
  for (int i = 0; i < LANES - 1; i++)
    if (mask[i]) return value[i];
  return value[LANES - 1];
}
LENS_FN float total(Rays x) {
  float sum = 0;
  for (int i = 0; i < LANES; i++) sum += x[i];
  return sum;
}
LENS_FN Ints asInt(Words x) { return (Ints)x; }

#endif

// ---- The scene ----

constexpr int PRIMITIVE_STRIDE = 32, CAMERA_STRIDE = 16, PLANE_STRIDE = 8, TILE = 16;
constexpr int ELLIPSOID = 0, BOX = 1, QUAD = 2, CYLINDER = 3, ROOM = 4, HEIGHT_FIELD = 5;
constexpr int CUT_TEXTURE = 1, CUT_LEAF = 2, CUT_GRID = 3, CUT_DISK = 4;
constexpr float FAR_AWAY = 1e30f, UNBOUNDED = 1e29f, SLOPE_FLOOR = 1e-12f, TURN = 6.2831853f;

struct Textures {
  const uint32_t* texels; // RGBA, red in the lowest byte
  int bits;               // log₂ of the side
};

/** One picture of one scene: a plane of the stack, or the pinhole's. */
struct Picture {
  const float* primitives;
  const float* camera;
  Textures textures;
  const float* lensX; // sunflower points of the unit disk, `samples` of them and lanes to spare
  const float* lensY;
  const float* corners; // of the aperture, x, y; used when blades ≥ 3
  int width, height, samples, planes, index;
  float dioptres, radius, scale, gain, cosine, sine, shiftX, shiftY;
};

/** What the rays of a tile can meet: offsets of primitives, nearest first, those without bounds last. */
struct Candidates {
  const int* offsets;
  int bounded, total;
};

LENS_FN void aim(Picture& picture, const float* plane) {
  picture.dioptres = plane[0];
  picture.radius = plane[1];
  picture.scale = plane[2];
  picture.gain = plane[3];
  picture.cosine = plane[4];
  picture.sine = plane[5];
  picture.shiftX = plane[6];
  picture.shiftY = plane[7];
}

LENS_FN void aimPinhole(Picture& picture) {
  picture.dioptres = picture.radius = picture.sine = picture.shiftX = picture.shiftY = 0;
  picture.gain = picture.cosine = 1;
  picture.scale = picture.camera[0];
}

/** Can a ray of the tile at (left, top) meet the bounding sphere of this primitive? Never says no wrongly. */
LENS_FN bool tileSees(const Picture& picture, const float* p, int left, int top) {
  const float r = p[31];
  if (r > UNBOUNDED) return true;
  const float x = p[28], y = p[29], z = p[30], far = z + r, near = fmaxf(z - r, 0.f);
  if (far <= 0) return false;
  const float centreX = left + TILE / 2 - picture.width * 0.5f - picture.shiftX;
  const float centreY = top + TILE / 2 - picture.height * 0.5f - picture.shiftY;
  const float slopeX = (picture.cosine * centreX + picture.sine * centreY) / picture.scale;
  const float slopeY = (picture.cosine * centreY - picture.sine * centreX) / picture.scale;
  const float half = (fabsf(picture.cosine) + fabsf(picture.sine)) * (TILE / 2) / picture.scale;
  const float spread = fabsf(picture.camera[9]) + fabsf(picture.camera[10]);
  const float blur = fmaxf(fabsf(1 - near * picture.dioptres), fabsf(1 - far * picture.dioptres)) + far * spread;
  const float width = 1.6f * picture.radius * blur + far * half;
  return fabsf(x - slopeX * z) <= width + r * sqrtf(1 + slopeX * slopeX) &&
         fabsf(y - slopeY * z) <= width + r * sqrtf(1 + slopeY * slopeY);
}

// ---- Intersection ----

template <class F> struct Ray {
  F ox, oy, dx, dy; // from (ox, oy, 0) along (dx, dy, 1): its parameter is depth
};

template <class F> struct Local {
  F lx, ly, lz, ex, ey, ez;
};

template <class F> LENS_FN F inverse(F e) { return divide(splat(1.f), select(absolute(e) > SLOPE_FLOOR, e, splat(SLOPE_FLOOR))); }

template <class F> LENS_FN void boxDepths(const Local<F>& r, F& near, F& far) {
  const F ix = inverse(r.ex), iy = inverse(r.ey), iz = inverse(r.ez);
  const F ax = absolute(ix), ay = absolute(iy), az = absolute(iz);
  const F cx = -r.lx * ix, cy = -r.ly * iy, cz = -r.lz * iz;
  near = larger(cx - ax, larger(cy - ay, cz - az));
  far = smaller(cx + ax, smaller(cy + ay, cz + az));
}

template <class F> LENS_FN F cylinderDepth(const Local<F>& r) {
  const F a = r.ex * r.ex + r.ey * r.ey + SLOPE_FLOOR, b = r.lx * r.ex + r.ly * r.ey;
  const F d = b * b - a * (r.lx * r.lx + r.ly * r.ly - 1.f);
  if (!any(d >= 0.f)) return splat(-1.f);
  const F side = divide(-b - root(larger(d, splat(0.f))), a);
  const F cap = (select(r.ez > 0.f, splat(-1.f), splat(1.f)) - r.lz) * inverse(r.ez);
  const F x = r.lx + cap * r.ex, y = r.ly + cap * r.ey;
  const F end = select(x * x + y * y <= 1.f, cap, splat(-1.f));
  const F t = select((side > 0.f) & (absolute(r.lz + side * r.ez) <= 1.f), side, end);
  return select(d >= 0.f, t, splat(-1.f));
}

template <class F> LENS_FN F fraction(F x) { return x - whole(x); }

template <class F> LENS_FN auto quadHolds(const float* p, F x, F y, const Textures& textures) {
  const auto inside = (absolute(x) <= 1.f) & (absolute(y) <= 1.f);
  const float amount = p[24], repeats = p[26];
  switch ((int)p[23]) {
  case CUT_TEXTURE: {
    const int side = 1 << textures.bits;
    const auto u = toInt(whole(x * (repeats * side))) & (side - 1), v = toInt(whole(y * (repeats * side))) & (side - 1);
    const auto texel = asInt(fetch(textures.texels, (int64_t)p[25] << (2 * textures.bits), select(inside, v * side + u, u * 0)));
    return inside & (toFloat((texel >> 8) & 255) >= amount * 255.f);
  }
  case CUT_LEAF:
    return inside & (absolute(y) <= (1.f - x * x) * (0.95f - 0.4f * x) * (1.f - amount * fraction(4.f * (x + 1.f))));
  case CUT_GRID:
    return inside & ((fraction((x + 1.f) * (0.5f * repeats)) < amount) | (fraction((y + 1.f) * (0.5f * repeats)) < amount));
  case CUT_DISK:
    return inside & (x * x + y * y <= 1.f);
  default:
    return inside;
  }
}

template <class F> LENS_FN void addWave(F x, F y, float wx, float wy, float f, float weight, float phase, F& height, F& sx, F& sy) {
  const F u = fraction(f * (wx * x + wy * y) + phase) - 0.5f;
  height += weight * 16.f * u * (0.5f - absolute(u));
  const F steepness = weight * f * (8.f - 32.f * absolute(u));
  sx += steepness * wx;
  sy += steepness * wy;
}

template <class F> LENS_FN F fieldHeight(F x, F y, float frequency, float seed, F& sx, F& sy) {
  F height = splat(0.f);
  sx = sy = splat(0.f);
  addWave(x, y, 1.f, 0.f, frequency, 4 / 7.f, seed, height, sx, sy);
  addWave(x, y, -0.7373937f, 0.6754632f, 1.7f * frequency, 2 / 7.f, 2 * seed, height, sx, sy);
  addWave(x, y, 0.0874989f, -0.9961646f, 2.9f * frequency, 1 / 7.f, 3 * seed, height, sx, sy);
  return height;
}

template <class F> LENS_FN F heightFieldDepth(const float* p, const Local<F>& r) {
  const float seed = p[25], frequency = p[26];
  F near, far, sx, sy;
  boxDepths(r, near, far);
  auto alive = (far > 0.f) & (near <= far);
  if (!any(alive)) return splat(-1.f);
  const F speed = absolute(r.ez) + (8.f * (4 + 2 * 1.7f + 2.9f) / 7 * frequency) * root(r.ex * r.ex + r.ey * r.ey);
  F t = larger(near, splat(0.f)), gap = splat(1.f);
  for (int i = 0; i < 64; i++) {
    const F now = r.lz + t * r.ez - fieldHeight(r.lx + t * r.ex, r.ly + t * r.ey, frequency, seed, sx, sy);
    gap = select(alive, now, gap);
    alive = alive & (absolute(gap) >= 2e-3f);
    t = select(alive, t + divide(absolute(gap), speed), t);
    alive = alive & (t <= far);
    if (!any(alive)) break;
  }
  const auto hit = (far > 0.f) & (near <= far) & (t <= far) & (absolute(gap) <= 0.05f);
  for (int i = 0; i < 3; i++) {
    gap = r.lz + t * r.ez - fieldHeight(r.lx + t * r.ex, r.ly + t * r.ey, frequency, seed, sx, sy);
    const F rate = r.ez - sx * r.ex - sy * r.ey;
    t = select(absolute(rate) > 0.05f * speed, t - divide(gap, rate), t);
  }
  return select(hit, t, splat(-1.f));
}

/** Depth at which the ray meets the primitive, or `limit` when it does so no nearer. */
template <class F> LENS_FN F hitDepth(const float* p, const Ray<F>& ray, F limit, const Textures& textures) {
  const Local<F> r{p[0] * ray.ox + (p[1] * ray.oy + p[3]),  p[4] * ray.ox + (p[5] * ray.oy + p[7]),  p[8] * ray.ox + (p[9] * ray.oy + p[11]),
                   p[0] * ray.dx + (p[1] * ray.dy + p[2]),  p[4] * ray.dx + (p[5] * ray.dy + p[6]),  p[8] * ray.dx + (p[9] * ray.dy + p[10])};
  F t;
  switch ((int)p[12]) {
  case ELLIPSOID: {
    const F a = r.ex * r.ex + r.ey * r.ey + r.ez * r.ez, b = r.lx * r.ex + r.ly * r.ey + r.lz * r.ez;
    const F d = b * b - a * (r.lx * r.lx + r.ly * r.ly + r.lz * r.lz - 1.f);
    if (!any(d >= 0.f)) return limit;
    t = select(d >= 0.f, divide(-b - root(larger(d, splat(0.f))), a), splat(-1.f));
    break;
  }
  case BOX:
  case ROOM: {
    F near, far;
    boxDepths(r, near, far);
    t = select(near <= far, (int)p[12] == ROOM ? far : near, splat(-1.f));
    break;
  }
  case QUAD: {
    t = divide(-r.lz, r.ez);
    const auto ahead = (t > 0.f) & (t < limit);
    if (!any(ahead)) return limit;
    return select(ahead & quadHolds(p, r.lx + t * r.ex, r.ly + t * r.ey, textures), t, limit);
  }
  case CYLINDER:
    t = cylinderDepth(r);
    break;
  case HEIGHT_FIELD:
    t = heightFieldDepth(p, r);
    break;
  default:
    t = divide(-r.lz, r.ez);
  }
  return select((t > 0.f) & (t < limit), t, limit);
}

/** The nearest surface: its depth, and the offset of its primitive (-1: none). */
template <class F, class I> LENS_FN F trace(const Picture& picture, const Candidates& candidates, const Ray<F>& ray, I& hit) {
  F t = splat(FAR_AWAY);
  hit = splatInt(-1);
  for (int k = 0; k < candidates.total; k++) {
    const int offset = candidates.offsets[k];
    const float* p = picture.primitives + offset;
    if (k < candidates.bounded && !any(t > p[30] - p[31])) { // the rest of the bounded ones lie farther still
      k = candidates.bounded - 1;
      continue;
    }
    const F depth = hitDepth(p, ray, t, picture.textures);
    hit = select(depth < t, splatInt(offset), hit);
    t = depth;
  }
  return t;
}

// ---- Light ----

template <class F> LENS_FN F decodeGamma(F v) { return v * (0.012522878f + v * (0.682171111f + v * 0.305306011f)); }

LENS_FN float encodeGamma(float light) {
  if (!(light > 0)) return 0;
  light = fminf(light, 1.f);
  float v = powf(light, 1 / 2.2f);
  for (int i = 0; i < 3; i++)
    v -= (v * (0.012522878f + v * (0.682171111f + v * 0.305306011f)) - light) / (0.012522878f + v * (1.364342222f + v * 0.915918033f));
  return v;
}

template <class F> LENS_FN void localNormal(const float* p, F x, F y, F z, F& nx, F& ny, F& nz) {
  const F zero = splat(0.f);
  const F ax = absolute(x), ay = absolute(y), az = absolute(z);
  switch ((int)p[12]) {
  case ELLIPSOID:
    nx = x, ny = y, nz = z;
    break;
  case BOX:
  case ROOM: {
    const auto onX = (ax >= ay) & (ax >= az), onY = ay >= az;
    nx = select(onX, x, zero);
    ny = select(onX, zero, select(onY, y, zero));
    nz = select(onX, zero, select(onY, zero, z));
    break;
  }
  case CYLINDER: {
    const auto cap = az > 0.9999f;
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

LENS_FN float axisSize(const float* row) { return 1.f / sqrtf(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]); }

/** Linear light that comes back along a ray from primitive p, met at depth t. */
template <class F>
LENS_FN void shade(const Picture& picture, const float* p, const Ray<F>& ray, F t, F ju, F jv, F& red, F& green, F& blue) {
  const F wx = ray.ox + t * ray.dx, wy = ray.oy + t * ray.dy;
  const F x = p[0] * wx + (p[1] * wy + (p[2] * t + p[3]));
  const F y = p[4] * wx + (p[5] * wy + (p[6] * t + p[7]));
  const F z = p[8] * wx + (p[9] * wy + (p[10] * t + p[11]));
  F n0, n1, n2;
  localNormal(p, x, y, z, n0, n1, n2);
  const float sizeX = axisSize(p), sizeY = axisSize(p + 4), sizeZ = axisSize(p + 8);
  F u = x * sizeX, v = y * sizeY;
  const int type = (int)p[12];
  if (type == ELLIPSOID || type == BOX || type == ROOM || type == CYLINDER) {
    const F a0 = absolute(n0), a1 = absolute(n1), a2 = absolute(n2);
    const auto alongX = (a0 >= a1) & (a0 >= a2), alongXY = alongX | (a1 >= a2);
    u = select(alongX, v, u);
    v = select(alongXY, z * sizeZ, v);
  }
  F nx = p[0] * n0 + (p[4] * n1 + p[8] * n2), ny = p[1] * n0 + (p[5] * n1 + p[9] * n2), nz = p[2] * n0 + (p[6] * n1 + p[10] * n2);
  const F length = inverseRoot(nx * nx + ny * ny + nz * nz);
  const F facing = select(nx * ray.dx + ny * ray.dy + nz > 0.f, -length, length);
  nx *= facing, ny *= facing, nz *= facing;
  const float *light = picture.camera + 2, ambient = picture.camera[5];
  const F diffuse = (1.f - ambient) * larger(nx * light[0] + (ny * light[1] + nz * light[2]), splat(0.f)) + (ambient + p[22]);
  F highlight = splat(0.f);
  if (p[20] > 0) {
    const F back = inverseRoot(ray.dx * ray.dx + ray.dy * ray.dy + 1.f);
    const F hx = light[0] - ray.dx * back, hy = light[1] - ray.dy * back, hz = light[2] - back;
    const F cosine = (nx * hx + ny * hy + nz * hz) * inverseRoot(hx * hx + hy * hy + hz * hz + 1e-12f);
    highlight = p[20] * power(larger(cosine, splat(0.f)), p[21]);
  }
  const int side = 1 << picture.textures.bits;
  const auto column = toInt(whole((u * p[14] + p[15]) * (float)side - 0.5f + ju)) & (side - 1);
  const auto row = toInt(whole((v * p[14] + p[16]) * (float)side - 0.5f + jv)) & (side - 1);
  const auto texel = asInt(fetch(picture.textures.texels, (int64_t)p[13] << (2 * picture.textures.bits), row * side + column));
  red = decodeGamma(toFloat(texel & 255) * (1 / 255.f)) * (p[17] * diffuse) + highlight;
  green = decodeGamma(toFloat((texel >> 8) & 255) * (1 / 255.f)) * (p[18] * diffuse) + highlight;
  blue = decodeGamma(toFloat((texel >> 16) & 255) * (1 / 255.f)) * (p[19] * diffuse) + highlight;
}

// ---- Sampling ----

LENS_FN uint32_t hash(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

template <class I> LENS_FN auto member(uint32_t start, uint32_t step, I i) {
  return toFloat(asInt((start + (Words)i * step) >> 8)) * (1 / 16777216.f);
}

LENS_FN float normalDeviate(uint32_t a, uint32_t b) {
  return sqrtf(-2 * logf((a + 1.f) * 2.3283064e-10f)) * cosf(TURN * 2.3283064e-10f * b);
}

/** The point of the lens that sample i of a pixel goes through, in units of the aperture radius. */
template <class F, class I> LENS_FN void bladePoint(const Picture& picture, uint32_t base, I i, F& x, F& y) {
  const int blades = (int)picture.camera[7];
  const F around = member(hash(base + 5), 0x9e3779b9u, i) * (float)blades;
  const auto whichOne = toInt(around);
  const auto k = select(whichOne < blades, whichOne, splatInt(blades - 1));
  const F part = around - toFloat(k);
  const F r = root(fraction((toFloat(i) + 0.5f) * (1.f / picture.samples) + hash(base + 6) * 2.3283064e-10f));
  x = r * (lookUp(picture.corners, 2 * k) * (1.f - part) + lookUp(picture.corners, 2 * k + 2) * part);
  y = r * (lookUp(picture.corners, 2 * k + 1) * (1.f - part) + lookUp(picture.corners, 2 * k + 3) * part);
}

/** Sums the light of all rays of a pixel, focused at `dioptres`. */
LENS_FN void gatherLight(const Picture& picture, const Candidates& candidates, int x, int y, uint32_t base, float dioptres, float* sum) {
  const uint32_t startX = hash(base + 1), startY = hash(base + 2), startU = hash(base + 3), startV = hash(base + 4);
  const float turn = TURN * 2.3283064e-10f * hash(base + 5);
  const float turnX = picture.radius * cosf(turn), turnY = picture.radius * sinf(turn);
  const bool round = picture.camera[7] < 3;
  const float left = x - picture.width * 0.5f - picture.shiftX, top = y - picture.height * 0.5f - picture.shiftY;
  const float cosine = picture.cosine / picture.scale, sine = picture.sine / picture.scale;
  Rays red = splat(0.f), green = splat(0.f), blue = splat(0.f);
  for (int first = 0; first < picture.samples; first += LANES) {
    const auto i = first + laneIndex();
    const Rays qx = left + member(startX, 0xc13fa9a9u, i), qy = top + member(startY, 0x91e10da5u, i);
    Ray<Rays> ray;
    if (round) {
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
    Mask open = (hit >= 0) & (i < picture.samples);
    while (any(open)) { // once per primitive that these rays met
      const int offset = firstOf(open, hit);
      const Mask mine = open & (hit == offset);
      Rays r, g, b;
      shade(picture, picture.primitives + offset, ray, t, ju, jv, r, g, b);
      red += select(mine, r, splat(0.f));
      green += select(mine, g, splat(0.f));
      blue += select(mine, b, splat(0.f));
      open = open & (hit != offset);
    }
  }
  sum[0] = total(red), sum[1] = total(green), sum[2] = total(blue);
}

/** One pixel of a picture, gamma-encoded. */
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

/** z-depth of `LANES` pixel centres from x on, through the pinhole; 0 where there is nothing. */
LENS_FN Rays pinholeDepth(const Picture& picture, const Candidates& candidates, int x, int y) {
  Ray<Rays> ray{splat(0.f), splat(0.f), (toFloat(x + laneIndex()) + (0.5f - picture.width * 0.5f)) / picture.scale,
                splat((y + 0.5f - picture.height * 0.5f) / picture.scale)};
  Ints hit;
  const Rays t = trace(picture, candidates, ray, hit);
  return select(hit >= 0, t, splat(0.f));
}
