const fixed = (value: number): number[] => {
  const bits = Math.round(value * 65536);
  return [bits >>> 24, (bits >> 16) & 255, (bits >> 8) & 255, bits & 255];
};
const word = (value: number): number[] => [value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255];
const text = (letters: string): number[] => [...new TextEncoder().encode(letters)];

/** The primaries of Adobe RGB (1998), adapted to D50. */
const ADOBE_RGB = { rXYZ: [0.60974, 0.31111, 0.01947], gXYZ: [0.20528, 0.62567, 0.06087], bXYZ: [0.14919, 0.06322, 0.74457] } as const;
const D50 = [0.96419, 1, 0.82489] as const;
const GAMMA = 563 / 256;

/** A profile of version 2 written from the specification: Adobe RGB (1998), or grey with its curve. `padding` bytes follow the last tag. */
export function iccProfile(space: "RGB " | "GRAY" = "RGB ", { padding = 0 }: { padding?: number } = {}): Uint8Array {
  const xyz = (values: readonly number[]): number[] => [...text("XYZ "), 0, 0, 0, 0, ...values.flatMap(fixed)];
  const curve = [...text("curv"), 0, 0, 0, 0, ...word(1), GAMMA, (GAMMA % 1) * 256, 0, 0];
  const name = [...text("desc"), 0, 0, 0, 0, ...word(5), ...text("Test\0"), ...new Array<number>(8 + 3 + 67).fill(0)];
  const tags: [string, number[]][] = [
    ["desc", name],
    ["cprt", [...text("text"), 0, 0, 0, 0, ...text("none\0")]],
    ["wtpt", xyz(D50)],
    ...(space === "GRAY"
      ? [["kTRC", curve] as [string, number[]]]
      : [
          ...Object.entries(ADOBE_RGB).map(([tag, values]): [string, number[]] => [tag, xyz(values)]),
          ...["rTRC", "gTRC", "bTRC"].map((tag): [string, number[]] => [tag, curve]),
        ]),
  ];
  const start = 128 + 4 + 12 * tags.length;
  const content: number[] = [];
  const table = tags.flatMap(([tag, bytes]) => {
    const entry = [...text(tag), ...word(start + content.length), ...word(bytes.length)];
    content.push(...bytes, ...new Array<number>((4 - (bytes.length % 4)) % 4).fill(0));
    return entry;
  });
  const profile = new Uint8Array(start + content.length + padding);
  profile.set(word(profile.length));
  profile.set([...word(0), 2, 0x40, 0, 0, ...text("mntr"), ...text(space), ...text("XYZ ")], 4);
  profile.set(text("acsp"), 36);
  profile.set(D50.flatMap(fixed), 68);
  profile.set([...word(tags.length), ...table, ...content], 128);
  return profile;
}
