import assert from "node:assert/strict";
import { test } from "node:test";

import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Tensor } from "../../src/engine/engine.ts";
import { FineDetail, type DetailPyramid } from "../../src/model/fineDetail.ts";
import { createParameters } from "../../src/nn/module.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { randomImages } from "../helpers/network.ts";

const engine = createTorchEngine({ threads: 1 });
const read = (tensor: Tensor): Float32Array => engine.read(tensor) as Float32Array;

/** One filter that passes red through. */
function passRed(): FineDetail {
  const data = new Float32Array(27);
  data[4] = 1;
  return new FineDetail(createParameters(engine, { weights: new Map([["filters.weight", { shape: [1, 3, 3, 3], data }]]) }).source, {
    filters: 1,
  });
}

const learned = (): FineDetail => new FineDetail(createParameters(engine, { random: createRandom(5) }).source, { filters: 4 });

const scaled = (energy: number): number => (Math.log(energy + 1e-6) + 7) / 3;

test("sharpness, its ratio to the best plane's and the change to the next plane, worked by hand", () => {
  scope(() => {
    const [red, N, side] = [[0.5, 0.1], 2, 16];
    const data = Float32Array.from({ length: N * 3 * side * side }, (_, i) => {
      const [plane, channel] = [Math.floor(i / (3 * side * side)), Math.floor(i / (side * side)) % 3];
      return channel === 0 ? (red[plane] as number) : 0.7;
    });
    const { quarter, eighth, sixteenth } = passRed().forward(engine.constant(data, { shape: [1, N, 3, side, side] }));
    const [near, far, change] = [scaled(0.25), scaled(0.01), scaled(0.16)];
    const expected = [near, far, 0, far - near, change, change];
    for (const [volume, cells] of [
      [quarter, 4],
      [eighth, 2],
      [sixteenth, 1],
    ] as const) {
      assert.deepEqual(volume.shape, [1, 3, N, cells, cells]);
      assertClose(read(volume), Float32Array.from(expected.flatMap((value) => Array<number>(cells * cells).fill(value))), 1e-4);
    }
  });
});

test("a coarser cell has the mean energy of the finer ones", () => {
  scope(() => {
    const side = 32;
    const images = engine.constant(randomImages({ B: 1, N: 2, H: side, W: side }), { shape: [1, 2, 3, side, side] });
    const { quarter, eighth } = learned().forward(images);
    for (const channels of [
      { start: 0, end: 4 }, // sharpness
      { start: 8, end: 12 }, // change
    ]) {
      const [fine, coarse] = [quarter, eighth].map((volume) => {
        const [h, w] = volume.shape.slice(3) as [number, number];
        return volume.slice(1, channels).mul(3).sub(7).exp().sub(1e-6).reshape([8, h, w]); // prettier-ignore
      }) as [Tensor, Tensor];
      assertClose(read(fine.avgPool({ kernel: [2, 2], stride: [2, 2] })), read(coarse), 1e-5);
    }
  });
});

test("how sharp planes are to one another does not depend on the texture's contrast, nor on its brightness", () => {
  scope(() => {
    const [N, side] = [3, 32];
    const images = engine.constant(randomImages({ B: 1, N, H: side, W: side }), { shape: [1, N, 3, side, side] });
    const ratio = ({ quarter }: DetailPyramid): Tensor =>
      quarter.slice(1, { start: 4, end: 8 }).slice(3, { start: 1, end: -1 }).slice(4, { start: 1, end: -1 });
    const detail = learned();
    const [full, faint] = [images, images.mul(0.3).add(0.6)].map((given) => read(ratio(detail.forward(given)))) as [
      Float32Array,
      Float32Array,
    ];
    assert.ok(
      full.some((value) => value < -0.05),
      "planes differ",
    );
    assertClose(faint, full, 0.01);
  });
});

test("identical planes have no change and equal sharpness", () => {
  scope(() => {
    const one = engine.constant(randomImages({ B: 1, N: 1, H: 32, W: 32 }), { shape: [1, 1, 3, 32, 32] });
    const { quarter } = learned().forward(engine.concat([one, one], 1));
    assert.ok(read(quarter.slice(1, { start: 4, end: 8 })).every((value) => value === 0));
    assertClose(read(quarter.slice(1, { start: 8 })), new Float32Array(4 * 2 * 64).fill(scaled(0)), 1e-6);
  });
});
