/** Points with their colours, 3 values each. */
interface PointCloud {
  readonly positions: Float32Array;
  /** 0 to 255. */
  readonly colors: Uint8Array;
}

const POINT_BYTES = 15; // three floats, three bytes

/** Writes a binary little-endian PLY. `comments` go into the header, one line each. */
export function encodePly({ positions, colors }: PointCloud, { comments = [] }: { comments?: readonly string[] } = {}): Uint8Array {
  if (positions.length !== colors.length || positions.length % 3 !== 0)
    throw new RangeError(`encodePly: ${positions.length} coordinates and ${colors.length} colour values do not make points`);
  const count = positions.length / 3;
  const lines = [
    "ply",
    "format binary_little_endian 1.0",
    ...comments.map((line) => `comment ${line.replace(/[^ -~]/g, "?")}`),
    `element vertex ${count}`,
    ...["x", "y", "z"].map((axis) => `property float ${axis}`),
    ...["red", "green", "blue"].map((channel) => `property uchar ${channel}`),
    "end_header\n",
  ];
  const header = new TextEncoder().encode(lines.join("\n"));
  const bytes = new Uint8Array(header.length + POINT_BYTES * count);
  bytes.set(header);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < count; i++) {
    const at = header.length + POINT_BYTES * i;
    for (let c = 0; c < 3; c++) {
      view.setFloat32(at + 4 * c, positions[3 * i + c] as number, true);
      bytes[at + 12 + c] = colors[3 * i + c] as number;
    }
  }
  return bytes;
}
