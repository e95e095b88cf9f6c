// The energies of src/model/fineDetail.ts for training: filters over full-size images, squared and averaged in one pass, with the gradient of
// the filters. The responses are never in memory; the backward pass computes them again.
#pragma once

#include "fuse.h"

namespace dualfocus {

/** A cell has SIDE × SIDE pixels; a filter is [3, 3, 3]: colour, row, column. */
constexpr int SIDE = 4, PIXELS_OF_CELL = SIDE * SIDE, TAPS = 27;

/** Stacks of `planes` images of three colours, and `count` filters r over them, zeros outside. W is f32, or f64 on the CPU. */
template <class W> struct Responses {
  const W* images;  // [stacks, planes, 3, SIDE · height, SIDE · width]
  const W* filters; // [count, TAPS]
  int64_t stacks;
  int planes, count, height, width; // of a plane, in cells
};

/** Means over cells, both [stacks, planes, count, height, width]. */
template <class W> struct DetailEnergies : Responses<W> {
  W* energies; // of r_n²
  W* changes;  // of (r_{n+1} − r_n)²; the last plane repeats the one before it
};

/** The gradients by both, and where that by the filters goes. */
template <class W> struct DetailGradient : Responses<W> {
  const W* byEnergies;
  const W* byChanges;
  W* groups; // [count, detailGroups, TAPS]: sums over groups of cells, added up afterwards in one order
};

/**
 * Three channels of each filter from its energy e_n and change c_n: ℓ(e_n), ℓ(e_n) − max_m ℓ(e_m) and ℓ(c_n), with
 * ℓ(x) = (log(x + floor) + centre) · scale.
 */
template <class W> struct DetailLogs {
  const W* energies; // [stacks, planes, count, area], as changes
  const W* changes;
  W* to; // [stacks, planes, area, 3 · count]
  int64_t stacks, area;
  int planes, count;
  W floor, centre, scale;
};

template <class W> struct DetailLogsGradient : DetailLogs<W> {
  const W* by; // as DetailLogs's `to`, which is not used
  W* toEnergies;
  W* toChanges;
};

int64_t detailGroups(int64_t stacks, int64_t area);

const char* launchDetailEnergies(const DetailEnergies<float>& work, void* stream);
const char* launchDetailGradient(const DetailGradient<float>& work, void* stream);
const char* launchDetailLogs(const DetailLogs<float>& work, void* stream);
const char* launchDetailLogsGradient(const DetailLogsGradient<float>& work, void* stream);

} // namespace dualfocus
