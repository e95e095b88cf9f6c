/** Axes of a volume: batch, channel, plane, row, column. */
export const AXIS = { batch: 0, channel: 1, plane: 2, row: 3, column: 4 } as const;

/** Axes of a per-plane map: batch, plane, row, column. */
export const MAP_AXIS = { batch: 0, plane: 1, row: 2, column: 3 } as const;
