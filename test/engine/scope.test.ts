import assert from "node:assert/strict";
import test from "node:test";

import { EngineError } from "../../src/engine/errors.ts";
import { keep, scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";

const engine = createTorchEngine({ threads: 1 });
const ones = () => engine.full([2, 2], 1);

test("a scope frees what it made and hands up what it returns", () => {
  const before = engine.liveTensors();
  const result = scope(() => {
    const a = ones();
    return { sum: a.add(a).mul(3) };
  });
  assert.equal(engine.liveTensors(), before + 1);
  assert.deepEqual([...engine.read(result.sum)], [6, 6, 6, 6]);
  result.sum.dispose();
  assert.equal(engine.liveTensors(), before);
});

test("tensors are found in arrays, maps, sets and nested objects of the result", () => {
  const before = engine.liveTensors();
  const found = scope(() => ({ list: [ones(), [ones()]], map: new Map([["a", ones()]]), set: new Set([ones()]), other: 3 }));
  assert.equal(engine.liveTensors(), before + 4);
  scope(() => [...found.map.values(), ...found.set, found.list[0]]); // not made here, so not freed here
  assert.equal(engine.liveTensors(), before + 4);
  // freed here: left to the garbage collector they would vanish in the middle of a later test's count
  for (const tensor of [...found.list.flat(), ...found.map.values(), ...found.set]) tensor.dispose();
  assert.equal(engine.liveTensors(), before);
});

test("an inner scope's result belongs to the outer scope", () => {
  const before = engine.liveTensors();
  scope(() => {
    const inner = scope(() => ones().add(ones()));
    assert.equal(engine.liveTensors(), before + 1);
    assert.equal(engine.item(inner.sum()), 8);
  });
  assert.equal(engine.liveTensors(), before);
});

test("a body that throws frees everything it made, and its error passes", () => {
  const before = engine.liveTensors();
  const body = () => {
    scope(() => {
      ones();
      scope(() => ones().add(engine.full([3], 1)));
    });
  };
  assert.throws(body, (error) => error instanceof EngineError && /add\(\[2, 2\], \[3\]\)/.test(error.message));
  assert.equal(engine.liveTensors(), before);
});

test("an async body is refused, and frees what it made before its first await", () => {
  const before = engine.liveTensors();
  assert.throws(
    () =>
      scope(async () => {
        ones();
        await Promise.resolve();
        throw new Error("never seen");
      }),
    /async/,
  );
  assert.equal(engine.liveTensors(), before);
});

test("kept tensors outlive every open scope", () => {
  const before = engine.liveTensors();
  const held = { value: ones() };
  held.value.dispose();
  scope(() => {
    scope(() => {
      held.value = keep(ones());
    });
  });
  assert.equal(engine.liveTensors(), before + 1);
  assert.equal(
    scope(() => engine.item(held.value.sum())),
    4,
  );
  held.value.dispose();
});

test("disposing twice is harmless", () => {
  const tensor = ones();
  tensor.dispose();
  tensor.dispose();
  assert.throws(() => tensor.add(1), /add\(disposed tensor, 1\).*disposed/);
});

test("forward and backward leave as many tensors as before", () => {
  const weight = engine.requireGradient(engine.full([3, 4], 0.5));
  const before = engine.liveTensors();
  scope(() => {
    const loss = engine.full([2, 3], 1).matmul(weight).square().mean();
    engine.backward(loss);
    assert.equal(engine.gradient(weight)?.shape.join(), "3,4");
  });
  assert.equal(engine.liveTensors(), before);
  weight.dispose();
});
