import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createRandom } from "../../src/random.ts";
import { fuzzReader, REGRESSIONS } from "./fuzz.ts";
import { inputOf, runInput } from "./input.ts";
import { complaint } from "./judge.ts";
import { mutate } from "./mutate.ts";
import { READERS, type Reader } from "./readers.ts";
import { FormatError } from "../../src/io/formatError.ts";

test("every input that once went wrong is read or refused as it should be", { timeout: 120_000 }, async () => {
  for (const [name, reader] of Object.entries(READERS)) {
    const folder = join(REGRESSIONS, name);
    for (const file of existsSync(folder) ? readdirSync(folder) : [])
      assert.equal(await runInput(reader, new Uint8Array(readFileSync(join(folder, file)))), undefined, `${name}/${file}`);
  }
});

test("inputs follow from the random seed and their index, and differ", async () => {
  const reader = READERS["npy"] as Reader;
  const seeds = await reader.seeds();
  const input = (index: number, seed = 1): Uint8Array => inputOf(reader, { name: "npy", seeds, seed, index });
  assert.deepEqual(input(7), input(7));
  const different = new Set(Array.from({ length: 100 }, (_, index) => Buffer.from(input(index)).toString("latin1")));
  assert.ok(different.size > 90);
  assert.notDeepEqual(input(7), input(7, 2));
});

test("a length is changed into those at which readers go wrong", () => {
  const good = new Uint8Array(64).fill(0xaa);
  new DataView(good.buffer).setUint32(20, 40, true); // the only number that may be a length
  const random = createRandom(5);
  const seen = new Set<number>();
  for (let n = 0; n < 2000; n++) {
    const bytes = mutate([good], random);
    if (bytes.length >= 24) seen.add(new DataView(bytes.buffer).getUint32(20, true));
  }
  for (const edge of [0x7fffffff, 0xffffffff, 0x40000000, 0]) assert.ok(seen.has(edge), `${edge} was never tried`);
});

test("what is not an error for people is noticed", () => {
  assert.equal(complaint(new FormatError("bytes: it is truncated"), "bytes"), undefined);
  assert.match(complaint(new RangeError("Invalid typed array length: 8556380162"), "bytes") ?? "", /not an error for people/);
  assert.match(complaint(new FormatError("bytes: Invalid typed array length: 1"), "bytes") ?? "", /the inside shows/);
  assert.match(complaint(new FormatError("it is truncated"), "bytes") ?? "", /does not name the file/);
});

const kept = mkdtempSync(join(tmpdir(), "dualfocus-fuzz-kept-"));
after(() => {
  rmSync(kept, { recursive: true, force: true });
});

test("a short run feeds a reader in another process and finds nothing", { timeout: 120_000 }, async () => {
  const { inputs, findings } = await fuzzReader("npy", { seconds: 1, seed: 3, keep: kept });
  assert.deepEqual(findings, []);
  assert.ok(inputs > 10, `only ${inputs} inputs`);
});
