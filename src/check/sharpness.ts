import { smoothBlock, type Plane } from "../image/boxFilter.ts";
import { blockOf, type Block } from "../image/pyramid.ts";
import { workspace } from "../image/simd/workspace.ts";

/** Side of a block, in pixels at the checked size. */
export const BLOCK = 16;

/** Energy of fine and coarse detail in each block of each plane; blocks are in row order. */
export interface BlockSharpness {
  readonly columns: number;
  readonly rows: number;
  /** [N][blocks]: detail of a pixel or two, which a blur of one pixel removes. */
  readonly fine: readonly Float64Array[];
  /** [N][blocks]: detail of about eight pixels, which only strong blur removes. */
  readonly coarse: readonly Float64Array[];
  /** The energy in `fine` of noise alone. */
  readonly noise: number;
}

export function blockSharpness(frames: readonly Plane[]): BlockSharpness {
  const { width, height } = frames[0] as Plane;
  const [columns, rows] = [Math.floor(width / BLOCK), Math.floor(height / BLOCK)];
  const bands = frames.map(({ values }) =>
    workspace().scoped(() => {
      const sharp = blockOf({ width, height, channels: 1, data: values });
      const [small, middle, large] = [1, 3, 8].map((radius) => smoothBlock(sharp, radius)) as [Block, Block, Block];
      return { fine: blockEnergy(sharp, small), coarse: blockEnergy(middle, large) };
    }),
  );
  const fine = bands.map((band) => band.fine);
  const all = Float64Array.from(fine.flatMap((plane) => [...plane])).sort();
  return { columns, rows, fine, coarse: bands.map((band) => band.coarse), noise: all[Math.floor(all.length * QUIETEST)] ?? 0 };
}

/** The share of blocks assumed to show only noise. */
const QUIETEST = 0.03;

function blockEnergy({ width, height, address }: Block, blurred: Block): Float64Array {
  const { kernels, take, doubles, scoped } = workspace();
  const [columns, rows] = [Math.floor(width / BLOCK), Math.floor(height / BLOCK)];
  return scoped(() => {
    const energies = take(2 * columns * rows);
    kernels.blockEnergies(energies, address, blurred.address, width, columns, rows, BLOCK);
    return doubles(energies, columns * rows).slice();
  });
}

/** A block is textured if its coarse energy is this many times above the noise and above this value. */
const TEXTURED = { overNoise: 10, energy: 1e-5 } as const;

/** The blocks that are textured on some plane. */
export function texturedBlocks({ coarse, noise }: BlockSharpness): number[] {
  const blocks = Array.from(coarse[0] ?? [], (_, block) => block);
  return blocks.filter(
    (block) => Math.max(...coarse.map((plane) => plane[block] as number)) > TEXTURED.energy + TEXTURED.overNoise * noise,
  );
}

/** In noise coarse detail has 0.007 to 0.01 of the energy of fine detail; in a scene more, however fine its texture, and more than this value. */
const SCENE = { overFine: 0.05, energy: TEXTURED.energy } as const;

/** Whether the planes show more than noise. */
export function showsScene({ fine, coarse }: BlockSharpness): boolean {
  const mean = (planes: readonly Float64Array[]): number => {
    const energies = planes.flatMap((plane) => [...plane]);
    return energies.reduce((sum, energy) => sum + energy, 0) / energies.length;
  };
  return mean(coarse) > Math.max(SCENE.overFine * mean(fine), SCENE.energy);
}

/** The plane on which a block is sharpest. */
export function peakOf({ fine }: BlockSharpness, block: number): number {
  return fine.reduce((best, plane, n) => ((plane[block] as number) > (fine[best]?.[block] as number) ? n : best), 0);
}

/** Energy of fine over coarse detail, which depends on focus and not on contrast: 0.1 to 2 in focus. */
export function ratioAt({ fine, coarse, noise }: BlockSharpness, block: number, plane: number): number {
  return ((fine[plane]?.[block] as number) - noise) / (coarse[plane]?.[block] as number);
}
