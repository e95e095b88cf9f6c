import type { Image } from "../../image/image.ts";
import type { Random } from "../../random.ts";

const NOISE_TABLE = 8192;

/** value → clip(gain · value ^ exponent + noise · normal). `gains` has one entry per colour; a grey picture uses the second. */
export function adjustImage(
  image: Image,
  { gains, exponent, noise }: { gains: readonly number[]; exponent: number; noise: number },
  random: Random,
): Image {
  const { width, height, channels } = image;
  const gain = channels === 1 ? [gains[1] ?? 1] : gains;
  const tones = exponent === 1 ? undefined : toneTable(exponent);
  const grain = noise > 0 ? noiseTable(noise, random) : undefined;
  const data = new Float32Array(image.data.length);
  const row = width * channels;
  for (let y = 0; y < height; y++) {
    const offset = grain ? random.integer(NOISE_TABLE) : 0;
    for (let i = 0; i < row; i++) {
      const value = image.data[y * row + i] as number;
      const toned = tones ? lookUp(tones, value) : value;
      const grained = toned * (gain[i % channels] as number) + (grain ? (grain[(offset + i) % NOISE_TABLE] as number) : 0);
      data[y * row + i] = Math.min(Math.max(grained, 0), 1);
    }
  }
  return { ...image, data };
}

/** One table of normal numbers per picture, entered at a random place in each row: a tenth of the work of a draw per pixel. */
function noiseTable(deviation: number, random: Random): Float32Array {
  return Float32Array.from({ length: NOISE_TABLE }, () => deviation * random.normal());
}

const TONES = 4096;

function toneTable(exponent: number): Float32Array {
  return Float32Array.from({ length: TONES + 2 }, (_, i) => (Math.min(i, TONES) / TONES) ** exponent);
}

function lookUp(table: Float32Array, value: number): number {
  const position = Math.min(Math.max(value, 0), 1) * TONES;
  const low = Math.floor(position);
  const start = table[low] as number;
  return start + ((table[low + 1] as number) - start) * (position - low);
}
