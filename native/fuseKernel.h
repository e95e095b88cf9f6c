// The arithmetic of fuse.h, shared by CPU and CUDA: `width` neighbouring channels at a time. Included inside a namespace.
#pragma once

#ifdef __CUDACC__
#define FUSE_CODE __device__ inline
#else
#define FUSE_CODE inline
#endif

/** Neighbouring channels that are read and written together. */
template <class T, int width> struct alignas(sizeof(T) * width) Pack {
  T values[width];
};

/** v for v > 0, else slope · v; ReLU (slope 0) of −∞ is 0, not 0 · −∞. NaN stays NaN. */
FUSE_CODE float activated(float value, float slope) { return value > 0 ? value : slope == 0 && value < 0 ? 0.f : slope * value; }

template <class T, int width> FUSE_CODE void finishPack(const Epilogue& work, int64_t pack) {
  const int64_t start = pack * width;
  const int channel = static_cast<int>(start % work.channels);
  const float* bias = work.bias + channel;
  Pack<T, width> values = *reinterpret_cast<const Pack<T, width>*>(static_cast<const T*>(work.values) + start), residual{};
  if (work.residual) residual = *reinterpret_cast<const Pack<T, width>*>(static_cast<const T*>(work.residual) + start);
  for (int i = 0; i < width; i++) {
    float value = static_cast<float>(values.values[i]) + bias[i];
    if (work.residual) value += static_cast<float>(residual.values[i]);
    values.values[i] = static_cast<T>(activated(value, work.slope));
  }
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + start / work.channels * work.toChannels + work.first + channel) = values;
}

/** The position of an output pack. */
struct Place {
  int channel, column, row;
  int64_t pixel, picture;
};

template <int width, class Work> FUSE_CODE Place placeOf(const Work& work, int64_t pack) {
  const int packs = work.channels / width;
  const int64_t pixel = pack / packs, line = pixel / work.toWidth;
  return {static_cast<int>(pack % packs) * width, static_cast<int>(pixel % work.toWidth), static_cast<int>(line % work.toHeight), pixel,
          line / work.toHeight};
}

/** The two input rows or columns that an output row or column lies between. */
struct Between {
  int lower, upper;
  float share; // of the upper
};

FUSE_CODE Between between(int at, int from, int to) {
  float place = (static_cast<float>(at) + 0.5f) * (static_cast<float>(from) / static_cast<float>(to)) - 0.5f;
  if (place < 0) place = 0;
  int lower = static_cast<int>(place);
  if (lower > from - 1) lower = from - 1;
  return {lower, lower < from - 1 ? lower + 1 : lower, place - static_cast<float>(lower)};
}

template <class T, int width> FUSE_CODE void resamplePack(const Resample& work, int64_t pack) {
  const auto [channel, column, row, pixel, picture] = placeOf<width>(work, pack);
  const T* from = static_cast<const T*>(work.from) + picture * work.fromHeight * work.fromWidth * work.channels + channel;
  const auto read = [&](int atRow, int atColumn) {
    return *reinterpret_cast<const Pack<T, width>*>(from + (static_cast<int64_t>(atRow) * work.fromWidth + atColumn) * work.channels);
  };
  auto* place = reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + pixel * work.toChannels + work.first + channel);
  if (work.nearest) {
    *place = read(static_cast<int>(static_cast<int64_t>(row) * work.fromHeight / work.toHeight),
                  static_cast<int>(static_cast<int64_t>(column) * work.fromWidth / work.toWidth));
    return;
  }
  const Between y = between(row, work.fromHeight, work.toHeight), x = between(column, work.fromWidth, work.toWidth);
  const Pack<T, width> a = read(y.lower, x.lower), b = read(y.lower, x.upper), c = read(y.upper, x.lower), d = read(y.upper, x.upper);
  Pack<T, width> result;
  for (int i = 0; i < width; i++) {
    const float top = static_cast<float>(a.values[i]) * (1 - x.share) + static_cast<float>(b.values[i]) * x.share;
    const float bottom = static_cast<float>(c.values[i]) * (1 - x.share) + static_cast<float>(d.values[i]) * x.share;
    result.values[i] = static_cast<T>(top * (1 - y.share) + bottom * y.share);
  }
  *place = result;
}

/** Adds `share` of a pack to the sums. */
template <class T, int width> FUSE_CODE void addPack(float* sums, const T* from, float share) {
  const auto values = *reinterpret_cast<const Pack<T, width>*>(from);
  for (int i = 0; i < width; i++) sums[i] += share * static_cast<float>(values.values[i]);
}

template <class T, int width> FUSE_CODE void windowPack(const WindowSum& work, int64_t pack) {
  const auto [channel, column, row, pixel, picture] = placeOf<width>(work, pack);
  float sums[width];
  for (int i = 0; i < width; i++) sums[i] = work.bias[channel + i];
  if (work.own) addPack<T, width>(sums, static_cast<const T*>(work.own) + pixel * work.channels + channel, 1);
  for (int s = 0; s < MOST_SOURCES; s++) { // a constant bound, as in sumPack
    if (s >= work.sourceCount) break;
    const int height = work.heights[s], across = work.widths[s], step = 9 * work.channels;
    const T* from = static_cast<const T*>(work.sources[s]) + picture * height * across * step + channel;
    for (int dy = -1; dy <= 1; dy++) {
      const int y = row + dy;
      if (y < 0 || y >= work.toHeight) continue;
      for (int dx = -1; dx <= 1; dx++) {
        const int x = column + dx;
        if (x < 0 || x >= work.toWidth) continue;
        const T* tap = from + (3 * (dy + 1) + dx + 1) * work.channels;
        if (work.nearest) {
          const int64_t at = static_cast<int64_t>(y * height / work.toHeight) * across + x * across / work.toWidth;
          addPack<T, width>(sums, tap + at * step, 1);
          continue;
        }
        const Between down = between(y, height, work.toHeight), aside = between(x, across, work.toWidth);
        const T* upper = tap + static_cast<int64_t>(down.lower) * across * step;
        const T* lower = tap + static_cast<int64_t>(down.upper) * across * step;
        addPack<T, width>(sums, upper + aside.lower * step, (1 - down.share) * (1 - aside.share));
        addPack<T, width>(sums, upper + aside.upper * step, (1 - down.share) * aside.share);
        addPack<T, width>(sums, lower + aside.lower * step, down.share * (1 - aside.share));
        addPack<T, width>(sums, lower + aside.upper * step, down.share * aside.share);
      }
    }
  }
  Pack<T, width> result;
  for (int i = 0; i < width; i++) result.values[i] = static_cast<T>(activated(sums[i], work.slope));
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + pixel * work.toChannels + work.first + channel) = result;
}

/** Channels of one block: neighbouring threads write neighbouring packs. */
template <class T, class From, int width> FUSE_CODE void gatherPack(const Blocks& work, int64_t pack) {
  const int packs = work.toChannels / width;
  const int first = static_cast<int>(pack % packs) * width;
  const int64_t block = pack / packs;
  const int column = static_cast<int>(block % work.toWidth), row = static_cast<int>(block / work.toWidth % work.toHeight);
  const int64_t picture = block / work.toWidth / work.toHeight;
  const int64_t area = static_cast<int64_t>(work.height) * work.width;
  const From* from = static_cast<const From*>(work.from) + picture * work.channels * area;
  int part = first / work.channels, channel = first % work.channels; // stepped below: a division for each value would cost more than reading it
  Pack<T, width> result;
  for (int i = 0; i < width; i++) {
    const int y = 2 * (row - work.before) + part / 2, x = 2 * (column - work.before) + part % 2;
    float value = 0; // around the picture, where neither scale nor shift count
    if (part < 4 && y >= 0 && y < work.height && x >= 0 && x < work.width) {
      value = static_cast<float>(from[channel * area + static_cast<int64_t>(y) * work.width + x]) * work.factor;
      if (work.scale) value *= work.scale[channel];
      if (work.shift) value += work.shift[channel];
    }
    result.values[i] = static_cast<T>(value);
    if (++channel == work.channels) channel = 0, part++;
  }
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + block * work.toChannels + first) = result;
}

template <class T, int width> FUSE_CODE void poolPack(const MaxPool& work, int64_t pack) {
  const auto [channel, column, row, pixel, picture] = placeOf<width>(work, pack);
  const T* from = static_cast<const T*>(work.from) + picture * work.fromHeight * work.fromWidth * work.channels + channel;
  const int top = row * work.stride - work.padding, left = column * work.stride - work.padding;
  Pack<T, width> best{};
  bool any = false;
  for (int y = top < 0 ? 0 : top; y < top + work.side && y < work.fromHeight; y++)
    for (int x = left < 0 ? 0 : left; x < left + work.side && x < work.fromWidth; x++) {
      const auto values = *reinterpret_cast<const Pack<T, width>*>(from + (static_cast<int64_t>(y) * work.fromWidth + x) * work.channels);
      for (int i = 0; i < width; i++)
        if (!any || static_cast<float>(values.values[i]) > static_cast<float>(best.values[i])) best.values[i] = values.values[i];
      any = true;
    }
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + pixel * work.channels + channel) = best;
}

template <class T, int width> FUSE_CODE void meanPack(const MeanPool& work, int64_t pack) {
  const auto [channel, column, row, pixel, picture] = placeOf<width>(work, pack);
  const T* from = static_cast<const T*>(work.from) + picture * work.fromHeight * work.fromWidth * work.channels + channel;
  int top = row * work.downStride - work.above, left = column * work.acrossStride - work.left;
  int bottom = top + work.height, right = left + work.width;
  if (top < 0) top = 0;
  if (left < 0) left = 0;
  if (bottom > work.fromHeight) bottom = work.fromHeight;
  if (right > work.fromWidth) right = work.fromWidth;
  float sums[width] = {};
  for (int y = top; y < bottom; y++)
    for (int x = left; x < right; x++) {
      const auto values = *reinterpret_cast<const Pack<T, width>*>(from + (static_cast<int64_t>(y) * work.fromWidth + x) * work.channels);
      for (int i = 0; i < width; i++) sums[i] += static_cast<float>(values.values[i]);
    }
  const float seen = static_cast<float>((bottom - top) * (right - left));
  Pack<T, width> result;
  for (int i = 0; i < width; i++) result.values[i] = static_cast<T>(sums[i] / seen);
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + pixel * work.channels + channel) = result;
}

template <class T, int width> FUSE_CODE void sumPack(const WeightedSum& work, int64_t pack) {
  const int64_t start = pack * width;
  const int64_t spreadStart = start / work.channels / work.area * work.channels + start % work.channels;
  float sums[width] = {};
  for (int term = 0; term < MOST_TERMS; term++) { // a constant bound, so that the loop is unrolled and the terms stay in registers
    if (term >= work.termCount) break;
    const T* from = static_cast<const T*>(work.terms[term]) + (work.spread[term] ? spreadStart : start);
    const auto values = *reinterpret_cast<const Pack<T, width>*>(from);
    for (int i = 0; i < width; i++) sums[i] += work.weights[term] * static_cast<float>(values.values[i]);
  }
  Pack<T, width> result;
  for (int i = 0; i < width; i++) result.values[i] = static_cast<T>(activated(sums[i], work.slope));
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + start) = result;
}

/** Neighbouring outputs of a row that are computed together, so that each value is read for three of them at once. */
constexpr int LOGIT_STRIP = 4;

/** The first output of a strip, or of none. */
FUSE_CODE int64_t stripStart(const Logit& work, int64_t strip) {
  const int strips = (work.width + LOGIT_STRIP - 1) / LOGIT_STRIP;
  return strip / strips * work.width + strip % strips * LOGIT_STRIP;
}

/** Adds the contribution of `width` channels, starting at `channel`, to the outputs of a strip. */
template <class T, int width> FUSE_CODE void addLogits(const Logit& work, const float* weight, int64_t start, int channel, float* sums) {
  const int x = static_cast<int>(start % work.width), y = static_cast<int>(start / work.width % work.height);
  const int n = static_cast<int>(start / work.width / work.height % work.planes);
  for (int side = 0; side < 9; side++) {
    const int dn = side / 3 - 1, dy = side % 3 - 1;
    if (n + dn < 0 || n + dn >= work.planes || y + dy < 0 || y + dy >= work.height) continue;
    float weights[3][width];
    for (int dx = 0; dx < 3; dx++)
      for (int i = 0; i < width; i++) weights[dx][i] = weight[(3 * side + dx) * work.channels + channel + i];
    const T* row = static_cast<const T*>(work.from) + (start + (static_cast<int64_t>(dn) * work.height + dy) * work.width) * work.channels + channel;
    for (int column = -1; column <= LOGIT_STRIP; column++) {
      if (x + column < 0 || x + column >= work.width) continue;
      const auto values = *reinterpret_cast<const Pack<T, width>*>(row + static_cast<int64_t>(column) * work.channels);
      for (int output = 0; output < LOGIT_STRIP; output++) {
        const int dx = column - output + 1;
        if (dx < 0 || dx > 2) continue;
        for (int i = 0; i < width; i++) sums[output] += static_cast<float>(values.values[i]) * weights[dx][i];
      }
    }
  }
}

template <class T, int width> FUSE_CODE void differencePack(const PlaneDifference& work, int64_t pack) {
  const int packs = work.channels / width;
  const int channel = static_cast<int>(pack % packs) * width;
  const int64_t pixel = pack / packs;
  const bool last = pixel / work.area % work.planes == work.planes - 1;
  const int64_t lower = last ? pixel - work.area : pixel;
  const auto read = [&](int64_t at) {
    return *reinterpret_cast<const Pack<T, width>*>(static_cast<const T*>(work.from) + at * work.channels + channel);
  };
  const Pack<T, width> before = read(lower), after = read(lower + work.area);
  Pack<T, width> result = after; // V_N, where `lastIsValue` asks for it
  if (!last || !work.lastIsValue)
    for (int i = 0; i < width; i++) {
      const float change = static_cast<float>(after.values[i]) - static_cast<float>(before.values[i]);
      result.values[i] = static_cast<T>(work.negative ? -change : change);
    }
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + pixel * work.toChannels + work.first + channel) = result;
}

/** One pixel, all its planes. p's memory holds the logits, then their exponentials, then p. */
FUSE_CODE void readOutPixel(const Readout& work, int64_t pixel) {
  const int column = static_cast<int>(pixel % work.toWidth), row = static_cast<int>(pixel / work.toWidth % work.toHeight);
  const int64_t stack = pixel / work.toWidth / work.toHeight;
  const int64_t fromArea = static_cast<int64_t>(work.fromHeight) * work.fromWidth, toArea = static_cast<int64_t>(work.toHeight) * work.toWidth;
  const Between y = between(row, work.fromHeight, work.toHeight), x = between(column, work.fromWidth, work.toWidth);
  const int64_t above = static_cast<int64_t>(y.lower) * work.fromWidth, below = static_cast<int64_t>(y.upper) * work.fromWidth;
  float* p = work.probability + stack * work.planes * toArea + pixel % toArea;
  float largest = 0, sum = 0;
  for (int n = 0; n < work.planes; n++) {
    const float* map = work.logits + (stack * work.planes + n) * fromArea;
    const float top = map[above + x.lower] * (1 - x.share) + map[above + x.upper] * x.share;
    const float bottom = map[below + x.lower] * (1 - x.share) + map[below + x.upper] * x.share;
    const float logit = top * (1 - y.share) + bottom * y.share;
    p[n * toArea] = logit;
    if (n == 0 || logit > largest) largest = logit;
  }
  for (int n = 0; n < work.planes; n++) sum += p[n * toArea] = expf(p[n * toArea] - largest);
  for (int n = 0; n < work.planes; n++) p[n * toArea] /= sum;
  if (!work.distances) return;
  const float* distances = work.distances + stack * work.planes;
  float depth = 0, variance = 0;
  for (int n = 0; n < work.planes; n++) depth += p[n * toArea] * distances[n];
  for (int n = 0; n < work.planes; n++) variance += p[n * toArea] * (distances[n] - depth) * (distances[n] - depth);
  work.depth[pixel] = depth;
  work.spread[pixel] = sqrtf(variance);
}
