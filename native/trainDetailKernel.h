// The arithmetic of trainDetail.h, shared by CPU and CUDA: one filter over one cell of all planes. Included inside a namespace, after fuseKernel.h.
#pragma once

#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll") // arrays that are indexed by constants stay in registers
#else
#define UNROLLED
#endif

/** A cell of a stack: where its first colour starts on the first plane, and its first pixel. */
template <class W> struct DetailCell {
  const W* image;
  int row, column, height, width; // in pixels
  int64_t plane;                  // values from one plane to the next
};

template <class W> FUSE_CODE DetailCell<W> detailCell(const Responses<W>& work, int64_t stack, int cell) {
  const int64_t plane = static_cast<int64_t>(3) * PIXELS_OF_CELL * work.height * work.width;
  return {work.images + stack * work.planes * plane, cell / work.width * SIDE, cell % work.width * SIDE, work.height * SIDE, work.width * SIDE, plane};
}

/** Calls `use`(colour, row, values) for each row of the cell and the rows next to it (0 to SIDE + 1), with the pixels of the cell and those next to them. */
template <class W, class Use> FUSE_CODE void eachRow(const DetailCell<W>& cell, int plane, Use use) {
  UNROLLED
  for (int colour = 0; colour < 3; colour++) {
    UNROLLED
    for (int i = 0; i < SIDE + 2; i++) {
      const int row = cell.row + i - 1;
      W values[SIDE + 2] = {};
      if (row >= 0 && row < cell.height) {
        const W* from = cell.image + plane * cell.plane + (static_cast<int64_t>(colour) * cell.height + row) * cell.width + cell.column;
        const Pack<W, SIDE> inside = *reinterpret_cast<const Pack<W, SIDE>*>(from);
        UNROLLED
        for (int j = 0; j < SIDE; j++) values[j + 1] = inside.values[j];
        if (cell.column > 0) values[0] = from[-1];
        if (cell.column + SIDE < cell.width) values[SIDE + 1] = from[SIDE];
      }
      use(colour, i, values);
    }
  }
}

/** r of the pixels of a cell on a plane. */
template <class W> FUSE_CODE void respond(const DetailCell<W>& cell, int plane, const W* filter, W* responses) {
  UNROLLED
  for (int i = 0; i < PIXELS_OF_CELL; i++) responses[i] = 0;
  eachRow(cell, plane, [&](int colour, int row, const W* values) {
    UNROLLED
    for (int y = 0; y < 3; y++) {
      const int to = row - y; // the row of the cell that sees this one at its y-th tap
      if (to < 0 || to >= SIDE) continue;
      UNROLLED
      for (int x = 0; x < 3; x++) {
        UNROLLED
        for (int column = 0; column < SIDE; column++) responses[to * SIDE + column] += filter[(colour * 3 + y) * 3 + x] * values[column + x];
      }
    }
  });
}

/** Adds the gradient of the filter, given that of r on a plane. */
template <class W> FUSE_CODE void addToFilter(const DetailCell<W>& cell, int plane, const W* gradients, W* sums) {
  eachRow(cell, plane, [&](int colour, int row, const W* values) {
    UNROLLED
    for (int y = 0; y < 3; y++) {
      const int from = row - y;
      if (from < 0 || from >= SIDE) continue;
      UNROLLED
      for (int x = 0; x < 3; x++) {
        UNROLLED
        for (int column = 0; column < SIDE; column++) sums[(colour * 3 + y) * 3 + x] += gradients[from * SIDE + column] * values[column + x];
      }
    }
  });
}

/** Where the energy of a cell on the first plane is, and how far it is to the next plane. */
template <class W> struct EnergyPlace {
  int64_t first, plane;
};

template <class W> FUSE_CODE EnergyPlace<W> energyPlace(const Responses<W>& work, int64_t stack, int filter, int cell) {
  const int64_t area = static_cast<int64_t>(work.height) * work.width;
  return {(stack * work.planes * work.count + filter) * area + cell, work.count * area};
}

template <class W> FUSE_CODE void measureCell(const DetailEnergies<W>& work, int64_t stack, int filter, int cell) {
  const DetailCell<W> pixels = detailCell(work, stack, cell);
  const EnergyPlace<W> place = energyPlace(work, stack, filter, cell);
  W taps[TAPS], current[PIXELS_OF_CELL], last[PIXELS_OF_CELL] = {};
  UNROLLED
  for (int i = 0; i < TAPS; i++) taps[i] = work.filters[filter * TAPS + i];
  for (int n = 0; n < work.planes; n++) {
    respond(pixels, n, taps, current);
    W energy = 0, change = 0;
    UNROLLED
    for (int i = 0; i < PIXELS_OF_CELL; i++) {
      energy += current[i] * current[i];
      change += (current[i] - last[i]) * (current[i] - last[i]);
      last[i] = current[i];
    }
    work.energies[place.first + n * place.plane] = energy / PIXELS_OF_CELL;
    if (n > 0) work.changes[place.first + (n - 1) * place.plane] = change / PIXELS_OF_CELL;
    if (n > 0 && n == work.planes - 1) work.changes[place.first + n * place.plane] = change / PIXELS_OF_CELL;
  }
}

/** Adds a cell's part of the gradient of a filter to `sums`. A plane's is complete once the response of the next plane is known. */
template <class W> FUSE_CODE void addGradients(const DetailGradient<W>& work, int64_t stack, int filter, int cell, W* sums) {
  const DetailCell<W> pixels = detailCell(work, stack, cell);
  const EnergyPlace<W> place = energyPlace(work, stack, filter, cell);
  const W two = W(2) / PIXELS_OF_CELL; // of a square's derivative, and of the mean
  W taps[TAPS], current[PIXELS_OF_CELL], last[PIXELS_OF_CELL] = {}, waiting[PIXELS_OF_CELL] = {};
  UNROLLED
  for (int i = 0; i < TAPS; i++) taps[i] = work.filters[filter * TAPS + i];
  for (int n = 0; n < work.planes; n++) {
    respond(pixels, n, taps, current);
    const W byEnergy = two * work.byEnergies[place.first + n * place.plane];
    W byChange = n > 0 ? two * work.byChanges[place.first + (n - 1) * place.plane] : W(0);
    if (n > 0 && n == work.planes - 1) byChange += two * work.byChanges[place.first + n * place.plane];
    UNROLLED
    for (int i = 0; i < PIXELS_OF_CELL; i++) {
      const W response = current[i], rise = byChange * (response - last[i]);
      current[i] = waiting[i] - rise; // now the gradient of plane n − 1
      waiting[i] = byEnergy * response + rise;
      last[i] = response;
    }
    if (n > 0) addToFilter(pixels, n - 1, current, sums);
  }
  addToFilter(pixels, work.planes - 1, waiting, sums);
}

FUSE_CODE float naturalLog(float x) { return logf(x); }
FUSE_CODE double naturalLog(double x) { return log(x); }

template <class W> FUSE_CODE W levelOf(const DetailLogs<W>& work, W energy) { return (naturalLog(energy + work.floor) + work.centre) * work.scale; }

/** A filter at a place of a stack: where its energy and its channels are on the first plane, and its sharpest plane, the first of equal ones. */
struct Sharpest {
  int64_t energy, channel; // from plane to plane: count · area, and three times that
  int plane;
};

/** `item` counts the places of all stacks and filters, the place fastest. */
template <class W> FUSE_CODE Sharpest sharpestOf(const DetailLogs<W>& work, int64_t item) {
  const int64_t at = item % work.area, filter = item / work.area % work.count, stack = item / work.area / work.count;
  Sharpest place{(stack * work.planes * work.count + filter) * work.area + at, (stack * work.planes * work.area + at) * 3 * work.count + filter, 0};
  W highest = levelOf(work, work.energies[place.energy]);
  for (int n = 1; n < work.planes; n++) {
    const W level = levelOf(work, work.energies[place.energy + n * work.count * work.area]);
    if (level > highest) highest = level, place.plane = n;
  }
  return place;
}

template <class W> FUSE_CODE void writeLogs(const DetailLogs<W>& work, int64_t item) {
  const Sharpest place = sharpestOf(work, item);
  const int64_t step = work.count * work.area;
  const W highest = levelOf(work, work.energies[place.energy + place.plane * step]);
  for (int n = 0; n < work.planes; n++) {
    const W level = levelOf(work, work.energies[place.energy + n * step]);
    W* to = work.to + place.channel + 3 * n * step;
    to[0] = level;
    to[work.count] = level - highest;
    to[2 * work.count] = levelOf(work, work.changes[place.energy + n * step]);
  }
}

template <class W> FUSE_CODE void unwriteLogs(const DetailLogsGradient<W>& work, int64_t item) {
  const Sharpest place = sharpestOf(work, item);
  const int64_t step = work.count * work.area;
  W ofHighest = 0;
  for (int n = 0; n < work.planes; n++) ofHighest += work.by[place.channel + 3 * n * step + work.count];
  for (int n = 0; n < work.planes; n++) {
    const W* by = work.by + place.channel + 3 * n * step;
    const int64_t at = place.energy + n * step;
    const W byLevel = by[0] + by[work.count] - (n == place.plane ? ofHighest : W(0));
    work.toEnergies[at] = byLevel * work.scale / (work.energies[at] + work.floor);
    work.toChanges[at] = by[2 * work.count] * work.scale / (work.changes[at] + work.floor);
  }
}
