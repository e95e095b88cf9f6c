// The arithmetic of norm.h, shared by CPU and CUDA. Included inside a namespace, after fuseKernel.h's Pack.
#pragma once

template <class T, int width> FUSE_CODE Pack<T, width> readPack(const Pixels& from, int64_t pixel, int channel) {
  return *reinterpret_cast<const Pack<T, width>*>(static_cast<const T*>(from.values) + pixel * from.step + channel);
}

template <class T, int width> FUSE_CODE void writePack(const Pixels& to, int64_t pixel, int channel, const Pack<T, width>& values) {
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(to.values) + pixel * to.step + channel) = values;
}

template <class T, int width> FUSE_CODE void addMoments(const Norm& work, int64_t pixel, int channel, const float* first, float* sums, float* squares) {
  const auto x = readPack<T, width>(work.x, pixel, channel);
  for (int i = 0; i < width; i++) {
    const float value = static_cast<float>(x.values[i]) - first[i];
    sums[i] += value;
    squares[i] += value * value;
  }
}

/** A channel's statistics from the sums over all pixels. */
FUSE_CODE void finishMoments(const Norm& work, int channel, float first, double sum, double square) {
  const double count = static_cast<double>(work.pixels), shifted = sum / count;
  const double variance = square / count - shifted * shifted, kept = variance > 0 ? variance : 0;
  const float mean = static_cast<float>(first + shifted), inverse = static_cast<float>(1 / sqrt(kept + work.epsilon));
  const float scale = work.weight[channel] * inverse;
  float* table = work.table + channel;
  table[MEAN * work.channels] = mean;
  table[INVERSE_DEVIATION * work.channels] = inverse;
  table[SCALE * work.channels] = scale;
  table[SHIFT * work.channels] = work.bias[channel] - mean * scale;
  const float unbiased = static_cast<float>(kept * count / (count > 1 ? count - 1 : 1));
  work.runningMean[channel] += work.momentum * (mean - work.runningMean[channel]);
  work.runningVariance[channel] += work.momentum * (unbiased - work.runningVariance[channel]);
}

template <class T, int width> FUSE_CODE void normalise(const Norm& work, int64_t pixel, int channel, const float* scale, const float* shift) {
  const auto x = readPack<T, width>(work.x, pixel, channel);
  Pack<T, width> residual{}, y;
  if (work.residual.values) residual = readPack<T, width>(work.residual, pixel, channel);
  for (int i = 0; i < width; i++) {
    float value = static_cast<float>(x.values[i]) * scale[i] + shift[i];
    if (work.residual.values) value += static_cast<float>(residual.values[i]);
    y.values[i] = static_cast<T>(activated(value, work.slope));
  }
  writePack<T, width>(work.y, pixel, channel, y);
}

/** g of one pack. */
template <class T, int width>
FUSE_CODE void gradientOf(const NormGradient& work, int64_t pixel, int channel, const Pack<T, width>& x, const float* scale, const float* shift, float* g) {
  const auto dy = readPack<T, width>(work.dy, pixel, channel);
  Pack<T, width> y{};
  if (work.y.values) y = readPack<T, width>(work.y, pixel, channel);
  for (int i = 0; i < width; i++) {
    const float v = work.y.values ? static_cast<float>(y.values[i]) : static_cast<float>(x.values[i]) * scale[i] + shift[i];
    const float slope = v > 0 ? 1.f : work.slope;
    g[i] = slope == 0 ? 0.f : slope * static_cast<float>(dy.values[i]); // 0 · ∞ would be NaN
  }
}

template <class T, int width>
FUSE_CODE void addGradients(const NormGradient& work, int64_t pixel, int channel, const float* table, float* sums, float* products) {
  const auto x = readPack<T, width>(work.x, pixel, channel);
  float g[width];
  gradientOf<T, width>(work, pixel, channel, x, table + SCALE * width, table + SHIFT * width, g);
  for (int i = 0; i < width; i++) {
    sums[i] += g[i];
    products[i] += g[i] * (static_cast<float>(x.values[i]) - table[MEAN * width + i]);
  }
}

FUSE_CODE void finishGradients(const NormGradient& work, int channel, double sum, double product) {
  const float* table = work.table + channel;
  const double mean = table[MEAN * work.channels], inverse = table[INVERSE_DEVIATION * work.channels], scale = table[SCALE * work.channels];
  const double count = static_cast<double>(work.pixels), slant = -scale * inverse * inverse * product / count;
  float* gradients = work.gradients + channel;
  gradients[OF_WEIGHT * work.channels] = static_cast<float>(product * inverse);
  gradients[OF_BIAS * work.channels] = static_cast<float>(sum);
  gradients[TIMES_GRADIENT * work.channels] = static_cast<float>(scale);
  gradients[TIMES_VALUE * work.channels] = static_cast<float>(slant);
  gradients[CONSTANT * work.channels] = static_cast<float>(-slant * mean - scale * sum / count);
}

/** `table`: scale and shift of the pack's channels; `gradients`: the last three rows. */
template <class T, int width>
FUSE_CODE void spreadGradients(const NormGradient& work, int64_t pixel, int channel, const float* scale, const float* shift, const float* gradients) {
  const auto x = readPack<T, width>(work.x, pixel, channel);
  float g[width];
  gradientOf<T, width>(work, pixel, channel, x, scale, shift, g);
  Pack<T, width> dx, dResidual;
  for (int i = 0; i < width; i++) {
    dx.values[i] = static_cast<T>(gradients[i] * g[i] + gradients[width + i] * static_cast<float>(x.values[i]) + gradients[2 * width + i]);
    dResidual.values[i] = static_cast<T>(g[i]);
  }
  writePack<T, width>(work.dx, pixel, channel, dx);
  if (work.dResidual.values) writePack<T, width>(work.dResidual, pixel, channel, dResidual);
}
