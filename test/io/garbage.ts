import assert from "node:assert/strict";
import { FormatError } from "../../src/io/formatError.ts";
import { createRandom } from "../../src/random.ts";

/**
 * Random bytes, every kind of truncation and random damage of a good file: the reader must answer or throw a FormatError that names the
 * file; anything else (another error, a crash, a hang that trips the test timeout) fails.
 */
export async function assertSurvivesGarbage(
  read: (bytes: Uint8Array, file: string) => unknown,
  good: Uint8Array,
  rounds = 60,
): Promise<void> {
  const random = createRandom(7);
  const noise = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.integer(256));
  for (let round = 0; round < rounds; round++) {
    const cut = good.slice(0, random.integer(good.length));
    const damaged = good.slice();
    for (let hit = 0; hit <= random.integer(8); hit++) damaged[random.integer(Math.min(damaged.length, 400))] = random.integer(256);
    const headed = noise(8 + random.integer(200));
    headed.set(good.subarray(0, 8));
    for (const bytes of [noise(random.integer(300)), cut, damaged, headed]) {
      try {
        await read(bytes, "broken.bin");
      } catch (error) {
        assert.ok(error instanceof FormatError, `${bytes.length} bytes: ${String(error)}`);
        assert.match(error.message, /broken\.bin/);
      }
    }
  }
}
