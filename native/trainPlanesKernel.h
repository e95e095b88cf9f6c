// The arithmetic of trainPlanes.h, shared by CPU and CUDA: `width` neighbouring channels at a time. Included inside a namespace, after
// fuseKernel.h and trainWide.h.
#pragma once

/** Where the channels of an item lie: in a map, and in the first plane of a volume. */
struct PlanePlace {
  int64_t pixel, inVolume; // `pixel` counts those of all stacks
  int channel;
};

template <int width> FUSE_CODE PlanePlace planePlace(const PlaneSizes& sizes, int channels, int64_t item) {
  const int packs = channels / width;
  const int64_t pixel = item / packs, stack = pixel / sizes.area, at = pixel % sizes.area;
  return {pixel, (stack * sizes.planes * sizes.area + at) * sizes.channels, static_cast<int>(item % packs) * width};
}

template <class T, int width> FUSE_CODE Pack<T, width> packAt(const void* values, int64_t index) {
  return *reinterpret_cast<const Pack<T, width>*>(static_cast<const T*>(values) + index);
}

template <class T, int width> FUSE_CODE void storePack(void* values, int64_t index, const Pack<T, width>& pack) {
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(values) + index) = pack;
}

template <class T, int width> FUSE_CODE void poolPlanes(const PlanePool& work, int64_t item) {
  const PlanePlace place = planePlace<width>(work, work.channels, item);
  const int64_t step = work.area * work.channels;
  Wide<T> sums[width] = {};
  Pack<T, width> best{}, means;
  Pack<uint8_t, width> places{};
  for (int n = 0; n < work.planes; n++) {
    const Pack<T, width> values = packAt<T, width>(work.volume, place.inVolume + place.channel + n * step);
    for (int i = 0; i < width; i++) {
      const Wide<T> value = static_cast<Wide<T>>(values.values[i]), highest = static_cast<Wide<T>>(best.values[i]);
      sums[i] += value;
      if (n == 0 || value > highest || (value != value && highest == highest)) best.values[i] = values.values[i], places.values[i] = static_cast<uint8_t>(n); // NaN wins, as in libtorch
    }
  }
  for (int i = 0; i < width; i++) means.values[i] = static_cast<T>(sums[i] / static_cast<Wide<T>>(work.planes));
  const int64_t mean = place.pixel * 2 * work.channels + place.channel;
  storePack(work.to, mean, means);
  storePack(work.to, mean + work.channels, best);
  storePack(static_cast<void*>(work.places), place.pixel * work.channels + place.channel, places);
}

template <class T, int width> FUSE_CODE void unpoolPlanes(const PlanePoolGradient& work, int64_t item) {
  const PlanePlace place = planePlace<width>(work, work.channels, item);
  const int64_t step = work.area * work.channels, mean = place.pixel * 2 * work.channels + place.channel;
  const Pack<T, width> byMean = packAt<T, width>(work.by, mean), byMax = packAt<T, width>(work.by, mean + work.channels);
  const Pack<uint8_t, width> places = packAt<uint8_t, width>(work.places, place.pixel * work.channels + place.channel);
  for (int n = 0; n < work.planes; n++) {
    const int64_t at = place.inVolume + place.channel + n * step;
    Pack<T, width> passed{}, result;
    if (work.passed) passed = packAt<T, width>(work.passed, at);
    for (int i = 0; i < width; i++) {
      Wide<T> value = static_cast<Wide<T>>(byMean.values[i]) / static_cast<Wide<T>>(work.planes);
      if (places.values[i] == n) value += static_cast<Wide<T>>(byMax.values[i]);
      result.values[i] = static_cast<T>(value + static_cast<Wide<T>>(passed.values[i]));
    }
    storePack(work.to, at, result);
  }
}

template <class T, int width> FUSE_CODE void spreadPlanes(const PlaneSpread& work, int64_t item) {
  const PlanePlace place = planePlace<width>(work, work.channels, item);
  const int64_t step = work.area * work.channels;
  const Pack<T, width> map = packAt<T, width>(work.map, place.pixel * work.channels + place.channel);
  for (int n = 0; n < work.planes; n++) {
    const int64_t at = place.inVolume + place.channel + n * step;
    Pack<T, width> values = packAt<T, width>(work.volume, at);
    for (int i = 0; i < width; i++) values.values[i] = static_cast<T>(static_cast<Wide<T>>(values.values[i]) + static_cast<Wide<T>>(map.values[i]));
    storePack(work.to, at, values);
  }
}

template <class T, int width> FUSE_CODE void sumPlanes(const PlaneSum& work, int64_t item) {
  const PlanePlace place = planePlace<width>(work, work.channels, item);
  const int64_t step = work.area * work.channels;
  Wide<T> sums[width] = {};
  for (int n = 0; n < work.planes; n++) {
    const Pack<T, width> values = packAt<T, width>(work.volume, place.inVolume + place.channel + n * step);
    for (int i = 0; i < width; i++) sums[i] += static_cast<Wide<T>>(values.values[i]);
  }
  Pack<T, width> result;
  for (int i = 0; i < width; i++) result.values[i] = static_cast<T>(sums[i]);
  storePack(work.to, place.pixel * work.channels + place.channel, result);
}

/** Where the first pixel of a cell lies in an image, from the start of its first colour. */
template <class W> FUSE_CODE int64_t firstPixel(const InFocus<W>& work, int64_t at) {
  return at / work.width * CELL * (work.width * CELL) + at % work.width * CELL;
}

/** How far it is from there to a channel of the cell; `plane` counts the planes of all stacks. */
template <class W> FUSE_CODE int64_t toChannel(const InFocus<W>& work, int64_t plane, int channel) {
  return (plane * 3 + channel / (CELL * CELL)) * work.area * (CELL * CELL) + channel / CELL % CELL * (work.width * CELL) + channel % CELL;
}

template <class T, int width> FUSE_CODE void sumInFocus(const InFocus<Wide<T>>& work, int64_t item) {
  const int channels = work.channels + CELL_CHANNELS;
  const PlanePlace place = planePlace<width>(work, channels, item);
  const int64_t stack = place.pixel / work.area, at = place.pixel % work.area;
  const Wide<T>* images = work.images + firstPixel(work, at);
  Wide<T> sums[width] = {};
  for (int n = 0; n < work.planes; n++) {
    const int64_t plane = stack * work.planes + n;
    const Wide<T> p = work.probability[plane * work.area + at];
    if (place.channel < work.channels) {
      const Pack<T, width> values = packAt<T, width>(work.volume, (plane * work.area + at) * work.channels + place.channel);
      for (int i = 0; i < width; i++) sums[i] += p * static_cast<Wide<T>>(values.values[i]);
    } else
      for (int i = 0; i < width; i++) sums[i] += p * images[toChannel(work, plane, place.channel - work.channels + i)];
  }
  Pack<T, width> result;
  for (int i = 0; i < width; i++) result.values[i] = static_cast<T>(sums[i]);
  storePack(work.to, place.pixel * channels + place.channel, result);
}

/** The gradients of a pixel of a plane, in the volume and of p; `item` counts the pixels of all planes of all stacks. */
template <class T, int width> FUSE_CODE void unsumInFocus(const InFocusGradient<Wide<T>>& work, int64_t item) {
  const int64_t plane = item / work.area, at = item % work.area, stack = plane / work.planes;
  const int64_t by = (stack * work.area + at) * (work.channels + CELL_CHANNELS);
  const Wide<T>* images = work.images + firstPixel(work, at);
  const Wide<T> p = work.probability[item];
  Wide<T> sum = 0;
  for (int channel = 0; channel < work.channels; channel += width) {
    const int64_t index = item * work.channels + channel;
    const Pack<T, width> gradients = packAt<T, width>(work.by, by + channel), values = packAt<T, width>(work.volume, index);
    Pack<T, width> result;
    for (int i = 0; i < width; i++) {
      const Wide<T> gradient = static_cast<Wide<T>>(gradients.values[i]);
      sum += gradient * static_cast<Wide<T>>(values.values[i]);
      result.values[i] = static_cast<T>(p * gradient);
    }
    storePack(work.to, index, result);
  }
  for (int channel = 0; channel < CELL_CHANNELS; channel += width) {
    const Pack<T, width> gradients = packAt<T, width>(work.by, by + work.channels + channel);
    for (int i = 0; i < width; i++) sum += static_cast<Wide<T>>(gradients.values[i]) * images[toChannel(work, plane, channel + i)];
  }
  work.toProbability[item] = sum;
}
