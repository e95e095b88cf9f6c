import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { SOURCE } from "../../src/image/simd/bytes.ts";
import { workspace } from "../../src/image/simd/workspace.ts";

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
