// The arithmetic of trainLosses.h, shared by CPU and CUDA. Included inside a namespace, after fuseKernel.h.
#pragma once

/** A pixel's p (every `area`-th value), f, and what both losses need of them. */
template <class T> struct Profile {
  const T *p, *focus;
  T valid, error; // D̂ − D*
  int peak;       // k of eq. 7, the first maximum
};

template <class T> FUSE_CODE Profile<T> profileOf(const PlaneLosses<T>& work, int64_t stack, int64_t at) {
  const T* p = work.probability + stack * work.planes * work.area + at;
  const T* focus = work.focus + stack * work.planes;
  T highest = p[0], depth = highest * focus[0];
  int peak = 0;
  for (int n = 1; n < work.planes; n++) {
    const T value = p[n * work.area];
    depth += value * focus[n];
    if (value > highest) highest = value, peak = n;
  }
  const int64_t pixel = stack * work.area + at;
  return {p, focus, work.valid[pixel], depth - work.depth[pixel], peak};
}

FUSE_CODE float logarithm(float x) { return logf(x); }
FUSE_CODE double logarithm(double x) { return log(x); }

/** Between planes i and i + 1: how far p goes the wrong way, the same of log(p + floor) with `slope` added, and the sign of a rise. */
template <class T> struct Step {
  T wrong, wrongLog, sign;
};

/** The trend leaves out the two steps next to the peak. */
template <class T> FUSE_CODE Step<T> stepOf(const PlaneLosses<T>& work, int peak, int i, T rise, T riseLog) {
  const T sign = i < peak ? T(-1) : T(1), wrong = sign * rise, wrongLog = work.slope + sign * riseLog;
  const bool away = i + 1 < peak || i > peak;
  return {wrong > 0 ? wrong : T(0), away && wrongLog > 0 ? wrongLog : T(0), sign};
}

/** Adds a pixel's share of each sum. */
template <class T, class Sum> FUSE_CODE void addLosses(const PlaneLosses<T>& work, int64_t stack, int64_t at, Sum* sums) {
  const Profile<T> pixel = profileOf(work, stack, at);
  T focal = 0, trend = 0, lower = pixel.p[0], lowerLog = logarithm(lower + work.floor);
  for (int i = 0; i + 1 < work.planes; i++) {
    const T upper = pixel.p[(i + 1) * work.area], upperLog = logarithm(upper + work.floor);
    const Step<T> step = stepOf(work, pixel.peak, i, upper - lower, upperLog - lowerLog);
    focal += step.wrong * step.wrong;
    trend += step.wrongLog;
    lower = upper, lowerLog = upperLog;
  }
  const T error = pixel.error < 0 ? -pixel.error : pixel.error;
  const T depth = error < work.beta ? error * error * (T(0.5) / work.beta) : error - T(0.5) * work.beta;
  sums[0] += pixel.valid * depth;
  sums[1] += pixel.valid * focal;
  sums[2] += pixel.valid * trend;
  sums[3] += pixel.valid;
}

template <class T> FUSE_CODE void writeLossGradient(const PlaneLossGradient<T>& all, int64_t stack, int64_t at) {
  const PlaneLosses<T>& work = all.losses;
  const Profile<T> pixel = profileOf(work, stack, at);
  const T weight = pixel.valid / (all.sums[3] > 1 ? all.sums[3] : T(1));
  const T slant = pixel.error / work.beta;
  const T byDepth = weight * all.by[0] * (slant > 1 ? T(1) : slant < -1 ? T(-1) : slant);
  const T byFocal = weight * all.by[1], byTrend = weight * all.by[2];
  T* to = all.to + stack * work.planes * work.area + at;
  T lower = pixel.p[0], lowerLog = logarithm(lower + work.floor), carried = 0; // what step i − 1 gives to plane i
  for (int i = 0; i + 1 < work.planes; i++) {
    const T upper = pixel.p[(i + 1) * work.area], upperLog = logarithm(upper + work.floor);
    const Step<T> step = stepOf(work, pixel.peak, i, upper - lower, upperLog - lowerLog);
    const T rise = 2 * step.wrong * step.sign * byFocal, riseLog = step.wrongLog > 0 ? step.sign * byTrend : T(0);
    to[i * work.area] = byDepth * pixel.focus[i] + carried - rise - riseLog / (lower + work.floor);
    carried = rise + riseLog / (upper + work.floor);
    lower = upper, lowerLog = upperLog;
  }
  to[(work.planes - 1) * work.area] = byDepth * pixel.focus[work.planes - 1] + carried;
}
