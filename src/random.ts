/** A seeded source of randomness. The same seed gives the same numbers on every machine. */
export interface Random {
  /** In [0, 1). */
  uniform(): number;
  /** In [0, below). */
  integer(below: number): number;
  /** Normal, mean 0, standard deviation 1. */
  normal(): number;
  /** A generator of its own, named. Splitting draws nothing: what one part uses does not move another's numbers. */
  split(name: string | number): Random;
  /** The state, to save and to continue from. */
  readonly state: RandomState;
}

export type RandomState = readonly [number, number, number, number];

const rotate = (x: number, k: number): number => (x << k) | (x >>> (32 - k));

/** One output of splitmix32 for the seed and position `index`; spreads poor seeds over all bits. */
function spread(seed: number, index: number): number {
  let z = (seed + Math.imul(index + 1, 0x9e3779b9)) | 0;
  z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
  z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
  return z ^ (z >>> 16);
}

function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h;
}

/** xoshiro128** (Blackman and Vigna). */
export function createRandom(seed: number | RandomState): Random {
  let [a, b, c, d] = typeof seed === "number" ? ([0, 1, 2, 3].map((i) => spread(seed, i)) as [number, number, number, number]) : seed;

  const next = (): number => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9);
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = rotate(d, 11);
    return result >>> 0;
  };
  const uniform = (): number => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992; // 53 bits
  return {
    uniform,
    integer: (below) => Math.floor(uniform() * below),
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()), // Box-Muller, one of the pair
    split: (name) => createRandom([a, b, c, d].map((word, i) => spread(hash(String(name)) ^ word, i)) as unknown as RandomState),
    get state() {
      return [a, b, c, d] as const;
    },
  };
}
