// The arithmetic of trainSoftmax.h, shared by CPU and CUDA. Included inside a namespace, after trainWindowKernel.h.
#pragma once

/** p of one pixel. The logits are interpolated twice, which takes less time than to store them. */
FUSE_CODE void softmaxPixel(const TrainSoftmax& work, int64_t stack, int row, int column) {
  const Between y = between(row, work.fromHeight, work.height), x = between(column, work.fromWidth, work.width);
  const int64_t fromArea = static_cast<int64_t>(work.fromHeight) * work.fromWidth, area = static_cast<int64_t>(work.height) * work.width;
  const float* upper = work.logits + stack * work.planes * fromArea + static_cast<int64_t>(y.lower) * work.fromWidth;
  const float* lower = work.logits + stack * work.planes * fromArea + static_cast<int64_t>(y.upper) * work.fromWidth;
  const auto logit = [&](int n) {
    const float *a = upper + n * fromArea, *b = lower + n * fromArea;
    const float top = a[x.lower] * (1 - x.share) + a[x.upper] * x.share, bottom = b[x.lower] * (1 - x.share) + b[x.upper] * x.share;
    return top * (1 - y.share) + bottom * y.share;
  };
  float highest = logit(0), sum = 1; // Σ exp(logit − highest)
  for (int n = 1; n < work.planes; n++) {
    const float value = logit(n);
    if (value > highest) sum = sum * expf(highest - value) + 1, highest = value;
    else sum += expf(value - highest);
  }
  float* to = work.to + stack * work.planes * area + static_cast<int64_t>(row) * work.width + column;
  for (int n = 0; n < work.planes; n++) to[n * area] = expf(logit(n) - highest) / sum;
}

/** p (∂p − Σ p ∂p) of one pixel. */
FUSE_CODE void unsoftmaxPixel(const TrainSoftmaxGradient& work, int64_t stack, int64_t at) {
  const int64_t area = static_cast<int64_t>(work.height) * work.width, first = stack * work.planes * area + at;
  const float *p = work.probability + first, *by = work.by + first;
  float mean = 0;
  for (int n = 0; n < work.planes; n++) mean += p[n * area] * by[n * area];
  for (int n = 0; n < work.planes; n++) work.upsampled[first + n * area] = p[n * area] * (by[n * area] - mean);
}

/** The gradient by one logit: of all pixels that it was interpolated to. `map` counts the planes of all stacks. */
FUSE_CODE void unresizePixel(const TrainSoftmaxGradient& work, int64_t map, int row, int column) {
  const float* from = work.upsampled + map * work.height * work.width;
  const Reach down = reachOf(row, work.toHeight, work.height), across = reachOf(column, work.toWidth, work.width);
  float sum = 0;
  for (int x = across.first; x <= across.last; x++) {
    const float share = shareOfInput(x, column, work.toWidth, work.width, false);
    if (share == 0) continue;
    float ofColumn = 0;
    for (int y = down.first; y <= down.last; y++)
      ofColumn += shareOfInput(y, row, work.toHeight, work.height, false) * from[static_cast<int64_t>(y) * work.width + x];
    sum += share * ofColumn;
  }
  work.to[(map * work.toHeight + row) * work.toWidth + column] = sum;
}
