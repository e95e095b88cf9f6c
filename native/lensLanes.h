// Part of lensKernel.h: the operations that differ between one ray (CUDA) and eight (CPU).

constexpr float SLOPE_FLOOR = 1e-12f;

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
// Conversions between integers and floats are slow here, so bits are moved in and out of the mantissa instead.
/** The whole part of x, right in its lowest 22 bits. */
LENS_FN int wrapped(float x) { return __float_as_int((x - 0.5f) + 12582912.f); }
LENS_FN float fromBits(uint32_t x) { return __uint_as_float((x >> 9) | 0x3f800000u) - 1.f; }
LENS_FN float fromByte(uint32_t texel, int byte) { return __uint_as_float(__byte_perm(texel, 0x4b000000u, 0x7440 + byte)) - 8388608.f; }
LENS_FN float reciprocal(float x) { return __fdividef(1.f, x); } // 1 / 0 is infinite, and fminf and fmaxf ignore NaN
LENS_FN float power(float x, float y) { return __powf(x, y); }
LENS_FN uint32_t fetch(const uint32_t* texels, uint32_t base, int index) { return __ldg(texels + base + index); }
LENS_FN float lookUp(const float* table, int index) { return table[index]; }
LENS_FN float load(const float* table, int index) { return __ldg(table + index); }
LENS_FN int firstOf(bool, int value) { return value; }
LENS_FN float total(float x) { return x; }

struct __align__(16) Row {
  float x, y, z, w;
};
LENS_FN Row rowOf(const float* p) { return *reinterpret_cast<const Row*>(p); }

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
LENS_FN Ints wrapped(Rays x) { return toInt(whole(x)); }
LENS_FN Rays fromBits(Words x) { return toFloat((Ints)(x >> 9)) * (1 / 8388608.f); }
LENS_FN Rays fromByte(Words texel, int byte) { return toFloat((Ints)((texel >> (8 * byte)) & 255)); }
LENS_FN Rays reciprocal(Rays x) { return 1.f / (absolute(x) > SLOPE_FLOOR ? x : Rays{} + SLOPE_FLOOR); }
LENS_FN Words fetch(const uint32_t* texels, uint32_t base, Ints index) {
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

struct Row {
  float x, y, z, w;
};
LENS_FN Row rowOf(const float* p) { return {p[0], p[1], p[2], p[3]}; }

#endif
