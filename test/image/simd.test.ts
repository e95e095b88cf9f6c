import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mock, test } from "node:test";

import { SOURCE } from "../../src/image/simd/bytes.ts";
import { workspace } from "../../src/image/simd/workspace.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

mock.timers.enable({ apis: ["setTimeout"] });

const LARGE = 6 * 2 ** 20; // numbers: more than is kept

test("the compiled kernels are those of the source (else run scripts/buildKernels.js)", () => {
  const source = readFileSync(join(import.meta.dirname, "..", "..", "native", "simd", "kernels.ts"));
  assert.equal(createHash("sha256").update(source).digest("hex"), SOURCE);
});

test("what a scope takes is freed at its end, and survives when the memory grows", () => {
  const { put, take, view, scoped } = workspace();
  const first = scoped(() => {
    const address = put(Float32Array.of(1, 2, 3));
    take(1 << 22); // more than there is: the memory moves
    assert.deepEqual([...view(address, 3)], [1, 2, 3]);
    assert.ok(take(1) > address);
    return address;
  });
  assert.equal(
    scoped(() => take(1)),
    first,
  );
  assert.throws(() => take(1), /inside scoped/);
});

test("kernels count to the last value, whether it fills four lanes or not", () => {
  const { kernels, put, take, view, scoped } = workspace();
  const random = createRandom(2);
  for (const count of [3, 4, 11]) {
    const [one, two] = [0, 1].map(() => Float32Array.from({ length: count }, () => random.uniform())) as [Float32Array, Float32Array];
    scoped(() => {
      const [a, b, out, least, most, at] = [put(one), put(two), take(count + 1), take(count), take(count), take(count)];
      view(out, count + 1).fill(-1);
      kernels.squaredDifferences(out, a, b, count);
      assertClose(view(out, count), one.map((value, i) => (value - (two[i] as number)) ** 2), 1e-7); // prettier-ignore
      assert.equal(view(out, count + 1)[count], -1);
      view(least, count).set(one);
      view(most, count).set(one);
      view(at, count).fill(0);
      kernels.extendRange(least, most, at, b, count, 1); // bits of the plane index: 1 is 1e-45 as f32
      assert.deepEqual(
        [...view(least, count)],
        Array.from(one, (value, i) => Math.min(value, two[i] as number)),
      );
      assert.deepEqual(
        [...view(most, count)],
        Array.from(one, (value, i) => Math.max(value, two[i] as number)),
      );
      assert.deepEqual([...view(at, count)].map((value) => value !== 0), Array.from(one, (value, i) => (two[i] as number) > value)); // prettier-ignore
      kernels.rootOfShare(least, most, count, 0.25);
      const shares = Array.from(one, (value, i) => Math.min(value, two[i] as number) / Math.max(value, two[i] as number));
      assertClose(view(least, count), shares.map((share) => (share < 0.25 ? 0 : Math.sqrt(share))), 1e-6); // prettier-ignore
    });
  }
});

test("the error of a square is the sum over its rows", () => {
  const { kernels, put, scoped } = workspace();
  const [width, side, left] = [11, 8, 3];
  const one = Float32Array.from({ length: width * side }, (_, i) => (i * 37) % 17);
  const two = Float32Array.from({ length: width * side }, (_, i) => (i * 11) % 13);
  let want = 0;
  for (let y = 0; y < side; y++)
    for (let x = left; x < left + side; x++) want += ((one[y * width + x] as number) - (two[y * width + x] as number)) ** 2;
  assert.equal(
    scoped(() => kernels.squareError(put(one) + 4 * left, put(two) + 4 * left, width, side)),
    want,
  );
});

test("the energy of a block is its mean square, without what is left over at the edges", () => {
  const { kernels, put, take, doubles, scoped } = workspace();
  const [width, height, side] = [11, 9, 4];
  const one = Float32Array.from({ length: width * height }, (_, i) => (i * 37) % 17);
  const two = Float32Array.from({ length: width * height }, (_, i) => (i * 11) % 13);
  const want = new Float64Array(4);
  for (let y = 0; y < 8; y++)
    for (let x = 0; x < 8; x++) {
      const block = 2 * Math.floor(y / side) + Math.floor(x / side);
      want[block] = (want[block] as number) + ((one[y * width + x] as number) - (two[y * width + x] as number)) ** 2 / side ** 2;
    }
  scoped(() => {
    const energies = take(2 * 4);
    kernels.blockEnergies(energies, put(one), put(two), width, 2, 2, side);
    assert.deepEqual(doubles(energies, 4), want);
  });
});

test("the memory of a large stack is given back ten seconds after its last use; a small one stays", () => {
  mock.timers.tick(20_000); // what other tests have used
  const used = (length: number): ReturnType<typeof workspace> => {
    const own = workspace();
    own.scoped(() => workspace().take(length));
    return own;
  };
  const small = used(16);
  mock.timers.tick(60_000);
  assert.equal(workspace(), small);
  const large = used(LARGE);
  mock.timers.tick(9_999);
  assert.equal(used(16), large);
  mock.timers.tick(10_000);
  assert.equal(workspace(), large, "used since");
  mock.timers.tick(10_000);
  assert.notEqual(workspace(), large);
});

test("whoever still holds a workspace that was given back has it to the end of the scope, beside the new one", () => {
  const old = workspace();
  old.scoped(() => old.take(LARGE));
  mock.timers.tick(20_000);
  const fresh = workspace();
  assert.notEqual(fresh, old);
  fresh.scoped(() => {
    const address = fresh.put(Float32Array.of(4, 5));
    old.scoped(() => {
      assert.equal(workspace(), old);
      old.put(Float32Array.of(6, 7));
    });
    assert.equal(workspace(), fresh);
    assert.deepEqual([...fresh.view(address, 2)], [4, 5]);
  });
});

test("the view of the whole memory follows when the memory moves", () => {
  const { put, take, heap, scoped } = workspace();
  scoped(() => {
    const address = put(Float32Array.of(7, 8));
    const before = heap();
    assert.equal(heap(), before);
    take(before.length); // more than there is
    assert.deepEqual([...heap().subarray(address / 4, address / 4 + 2)], [7, 8]);
    assert.ok(heap().length > before.length);
  });
});
