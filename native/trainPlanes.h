// What all planes show together, for training: mean and maximum over the planes, a map added to every plane, sums weighted by p. A volume
// is [stacks, planes, area, channels] and a map [stacks, area, channels] in memory, the channels innermost.
#pragma once

#include "fuse.h"

namespace dualfocus {

struct PlaneSizes {
  int64_t stacks, area;
  int planes, channels;
};

/** Mean and maximum over the planes; the first of equal values counts. */
struct PlanePool : PlaneSizes {
  const void* volume;
  void* to;        // [stacks, area, 2 · channels], means before maxima
  uint8_t* places; // [stacks, area, channels], the planes of the maxima
};

/** The gradient of the volume: `passed` from its other uses (may be null), plus that of the pooled maps. */
struct PlanePoolGradient : PlaneSizes {
  const void* by; // as PlanePool's `to`
  const uint8_t* places;
  const void* passed; // as the volume
  void* to;
};

/** to = volume + map, at each plane. */
struct PlaneSpread : PlaneSizes {
  const void* volume;
  const void* map;
  void* to;
};

/** to = Σ_n volume_n. */
struct PlaneSum : PlaneSizes {
  const void* volume;
  void* to;
};

/** Channels of the images of a plane in cells of 4×4 pixels: three colours. */
constexpr int CELL = 4, CELL_CHANNELS = 3 * CELL * CELL;

/** Σ_n p_n of a volume and of its images in cells of 4×4, as the channels colour, row, column. W is f32, or f64 where the volume is. */
template <class W> struct InFocus : PlaneSizes {
  const void* volume;
  const W* images;      // [stacks, planes, 3, 4 · height, 4 · width]
  const W* probability; // p, [stacks, planes, area]
  void* to;             // [stacks, area, channels + CELL_CHANNELS]
  int width;            // of a plane, in cells
};

template <class W> struct InFocusGradient : InFocus<W> {
  const void* by; // as `to` of InFocus; `to` is that of the volume
  W* toProbability;
};

const char* launchPlanePool(const PlanePool& work, Element element, void* stream);
const char* launchPlanePoolGradient(const PlanePoolGradient& work, Element element, void* stream);
const char* launchPlaneSpread(const PlaneSpread& work, Element element, void* stream);
const char* launchPlaneSum(const PlaneSum& work, Element element, void* stream);
const char* launchInFocus(const InFocus<float>& work, Element element, void* stream);
const char* launchInFocusGradient(const InFocusGradient<float>& work, Element element, void* stream);

} // namespace dualfocus
