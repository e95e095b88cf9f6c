// The arithmetic of trainUpsample.h, shared by CPU and CUDA. Included inside a namespace, after fuseKernel.h and trainWide.h.
#pragma once

FUSE_CODE float exponential(float x) { return expf(x); }
FUSE_CODE double exponential(double x) { return exp(x); }

FUSE_CODE int within(int at, int length) { return at < 0 ? 0 : at < length ? at : length - 1; }

/** A pixel of the result (`sub` of its cell, row by row), its weights, and where the neighbours of its cell lie in a plane. */
template <class W> struct Mixed {
  W weights[NEIGHBOURS];
  int neighbours[NEIGHBOURS];
  int64_t first, pixel; // of the first plane: in the logits, and of the pixel in the result
};

template <class T> FUSE_CODE Mixed<Wide<T>> mixedOf(const ConvexUpsample<Wide<T>>& work, int64_t stack, int cell, int sub) {
  using W = Wide<T>;
  const int row = cell / work.width, column = cell % work.width, area = work.height * work.width;
  Mixed<W> mixed;
  mixed.first = stack * work.planes * area;
  mixed.pixel = (stack * work.planes * area * UP + static_cast<int64_t>(row) * UP * work.width) * UP + static_cast<int64_t>(sub / UP) * UP * work.width + column * UP + sub % UP;
  const T* scores = static_cast<const T*>(work.scores) + (stack * area + cell) * (NEIGHBOURS * UP_PIXELS) + sub;
  W highest = 0, sum = 0;
  for (int k = 0; k < NEIGHBOURS; k++) {
    mixed.neighbours[k] = within(row + k / 3 - 1, work.height) * work.width + within(column + k % 3 - 1, work.width);
    mixed.weights[k] = static_cast<W>(scores[k * UP_PIXELS]) + work.start[k * UP_PIXELS + sub];
    if (k == 0 || mixed.weights[k] > highest) highest = mixed.weights[k];
  }
  for (int k = 0; k < NEIGHBOURS; k++) sum += mixed.weights[k] = exponential(mixed.weights[k] - highest);
  for (int k = 0; k < NEIGHBOURS; k++) mixed.weights[k] /= sum;
  return mixed;
}

template <class T> FUSE_CODE void upsamplePixel(const ConvexUpsample<Wide<T>>& work, int64_t stack, int cell, int sub) {
  const Mixed<Wide<T>> mixed = mixedOf<T>(work, stack, cell, sub);
  const int64_t area = static_cast<int64_t>(work.height) * work.width;
  for (int n = 0; n < work.planes; n++) {
    const Wide<T>* logits = work.logits + mixed.first + n * area;
    Wide<T> sum = 0;
    for (int k = 0; k < NEIGHBOURS; k++) sum += mixed.weights[k] * logits[mixed.neighbours[k]];
    work.to[mixed.pixel + n * area * UP_PIXELS] = sum;
  }
}

/** The gradient by the scores of a pixel; `share`(n, k, value) gets the pixel's part of what its cell gives to its k-th neighbour. */
template <class T, class Share> FUSE_CODE void unupsamplePixel(const ConvexGradient<Wide<T>>& work, int64_t stack, int cell, int sub, bool inside, Share share) {
  using W = Wide<T>;
  const Mixed<W> mixed = mixedOf<T>(work, stack, cell, sub);
  const int64_t area = static_cast<int64_t>(work.height) * work.width;
  W byWeights[NEIGHBOURS] = {}, mean = 0;
  for (int n = 0; n < work.planes; n++) {
    const W* logits = work.logits + mixed.first + n * area;
    const W by = inside ? work.by[mixed.pixel + n * area * UP_PIXELS] : W(0);
    for (int k = 0; k < NEIGHBOURS; k++) {
      byWeights[k] += by * logits[mixed.neighbours[k]];
      share(n, k, mixed.weights[k] * by);
    }
  }
  if (!inside) return;
  for (int k = 0; k < NEIGHBOURS; k++) mean += mixed.weights[k] * byWeights[k];
  T* to = static_cast<T*>(work.toScores) + (stack * area + cell) * (NEIGHBOURS * UP_PIXELS) + sub;
  for (int k = 0; k < NEIGHBOURS; k++) to[k * UP_PIXELS] = static_cast<T>(mixed.weights[k] * (byWeights[k] - mean));
}

/** The gradient by a logit: the shares of all cells that it is a neighbour of, at the edge more than once. `map` counts the planes of all stacks. */
template <class W> FUSE_CODE void collectShares(const ConvexGradient<W>& work, int64_t map, int cell) {
  const int row = cell / work.width, column = cell % work.width;
  const W* shares = work.shares + map * work.height * work.width * NEIGHBOURS;
  W sum = 0;
  for (int y = within(row - 1, work.height); y <= within(row + 1, work.height); y++)
    for (int x = within(column - 1, work.width); x <= within(column + 1, work.width); x++)
      for (int k = 0; k < NEIGHBOURS; k++)
        if (within(y + k / 3 - 1, work.height) == row && within(x + k % 3 - 1, work.width) == column)
          sum += shares[(static_cast<int64_t>(y) * work.width + x) * NEIGHBOURS + k];
  work.to[map * work.height * work.width + cell] = sum;
}
