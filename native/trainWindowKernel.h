// The arithmetic of trainWindow.h, shared by CPU and CUDA. Included inside a namespace, after fuseKernel.h.
#pragma once

/** How much of input `from` goes to output `at`. */
FUSE_CODE float shareOfInput(int at, int input, int from, int to, bool nearest) {
  if (nearest) return at * from / to == input ? 1.f : 0.f;
  const Between place = between(at, from, to);
  return (place.lower == input ? 1 - place.share : 0.f) + (place.upper == input ? place.share : 0.f);
}

/** The outputs that may take a share of an input, first and last. */
struct Reach {
  int first, last;
};

FUSE_CODE Reach reachOf(int input, int from, int to) {
  const float scale = static_cast<float>(to) / static_cast<float>(from);
  int first = static_cast<int>(floorf((static_cast<float>(input) - 0.5f) * scale - 0.5f));
  int last = static_cast<int>(ceilf((static_cast<float>(input) + 1.5f) * scale - 0.5f));
  if (first < 0 || input == 0) first = 0;
  if (last > to - 1 || input == from - 1) last = to - 1;
  return {first, last};
}

/** Neighbouring threads take neighbouring channels of one tap. */
template <class T, int width> FUSE_CODE void unwindowPack(const WindowGradient& work, int64_t pack) {
  const int packs = work.channels / width;
  const int channel = static_cast<int>(pack % packs) * width, tap = static_cast<int>(pack / packs % 9);
  const int64_t pixel = pack / packs / 9;
  const int column = static_cast<int>(pixel % work.toWidth), row = static_cast<int>(pixel / work.toWidth % work.toHeight);
  const int64_t picture = pixel / work.toWidth / work.toHeight;
  const int dy = tap / 3 - 1, dx = tap % 3 - 1;
  const T* from = static_cast<const T*>(work.from) + picture * work.fromHeight * work.fromWidth * work.channels + channel;
  const Reach down = reachOf(row, work.toHeight, work.fromHeight), across = reachOf(column, work.toWidth, work.fromWidth);
  float sums[width] = {};
  for (int at = down.first; at <= down.last; at++) { // the upsampled row; the window's row is dy above it
    const int y = at - dy;
    const float part = shareOfInput(at, row, work.toHeight, work.fromHeight, work.nearest);
    if (part == 0 || y < 0 || y >= work.fromHeight) continue;
    for (int beside = across.first; beside <= across.last; beside++) {
      const int x = beside - dx;
      const float share = part * shareOfInput(beside, column, work.toWidth, work.fromWidth, work.nearest);
      if (share == 0 || x < 0 || x >= work.fromWidth) continue;
      addPack<T, width>(sums, from + (static_cast<int64_t>(y) * work.fromWidth + x) * work.channels, share);
    }
  }
  Pack<T, width> result;
  for (int i = 0; i < width; i++) result.values[i] = static_cast<T>(sums[i]);
  *reinterpret_cast<Pack<T, width>*>(static_cast<T*>(work.to) + (pixel * 9 + tap) * work.channels + channel) = result;
}
