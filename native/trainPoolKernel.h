// The arithmetic of trainPool.h, shared by CPU and CUDA. Included inside a namespace, after fuseKernel.h.
#pragma once

template <class T, int width> FUSE_CODE void placePack(const TrainPool& work, int64_t pack) {
  const auto [channel, column, row, pixel, picture] = placeOf<width>(work, pack);
  const T* from = static_cast<const T*>(work.from) + picture * work.fromHeight * work.fromWidth * work.channels + channel;
  const int top = row * work.stride - work.padding, left = column * work.stride - work.padding;
  Pack<T, width> best{};
  Pack<uint8_t, width> places{};
  bool any = false;
  for (int y = top < 0 ? 0 : top; y < top + work.side && y < work.fromHeight; y++)
    for (int x = left < 0 ? 0 : left; x < left + work.side && x < work.fromWidth; x++) {
      const auto values = *reinterpret_cast<const Pack<T, width>*>(from + (static_cast<int64_t>(y) * work.fromWidth + x) * work.channels);
      const uint8_t place = static_cast<uint8_t>((y - top) * work.side + x - left);
      for (int i = 0; i < width; i++)
        if (const float value = static_cast<float>(values.values[i]); !any || value > static_cast<float>(best.values[i]) || value != value) { // NaN wins, as in libtorch
          best.values[i] = values.values[i];
          places.values[i] = place;
        }
      any = true;
    }
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + pixel * work.channels + channel) = best;
  *reinterpret_cast<Pack<uint8_t, width>*>(work.places + pixel * work.channels + channel) = places;
}

/** The windows that hold a pixel: those whose first row is at most its row and not `side` or more before it. */
template <class T, int width> FUSE_CODE void unplacePack(const TrainPoolGradient& work, int64_t pack) {
  const auto [channel, column, row, pixel, picture] = placeOf<width>(work, pack);
  const int64_t start = picture * work.fromHeight * work.fromWidth;
  const int down = row + work.padding, across = column + work.padding;
  const int firstRow = down < work.side ? 0 : (down - work.side) / work.stride + 1, lastRow = down / work.stride;
  const int firstColumn = across < work.side ? 0 : (across - work.side) / work.stride + 1, lastColumn = across / work.stride;
  float sums[width] = {};
  for (int y = firstRow; y <= lastRow && y < work.fromHeight; y++)
    for (int x = firstColumn; x <= lastColumn && x < work.fromWidth; x++) {
      const int64_t at = (start + static_cast<int64_t>(y) * work.fromWidth + x) * work.channels + channel;
      const auto places = *reinterpret_cast<const Pack<uint8_t, width>*>(work.places + at);
      const auto gradients = *reinterpret_cast<const Pack<T, width>*>(static_cast<const T*>(work.from) + at);
      const int place = (down - y * work.stride) * work.side + across - x * work.stride;
      for (int i = 0; i < width; i++)
        if (places.values[i] == place) sums[i] += static_cast<float>(gradients.values[i]);
    }
  Pack<T, width> result;
  for (int i = 0; i < width; i++) result.values[i] = static_cast<T>(sums[i]);
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + pixel * work.channels + channel) = result;
}
