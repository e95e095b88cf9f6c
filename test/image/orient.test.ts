import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import { turnUpright } from "../../src/image/orient.ts";

test("all eight orientations come out as sharp turns them", async () => {
  const stored = { width: 3, height: 2, channels: 3, data: Uint8Array.from({ length: 18 }, (_, i) => 10 * i) };
  for (let orientation = 1; orientation <= 8; orientation++) {
    const file = await sharp(stored.data, { raw: { width: 3, height: 2, channels: 3 } })
      .withMetadata({ orientation })
      .png()
      .toBuffer();
    const { data, info } = await sharp(file).autoOrient().raw().toBuffer({ resolveWithObject: true });
    const upright = turnUpright(stored, orientation);
    assert.deepEqual(
      [upright.width, upright.height, [...upright.data]],
      [info.width, info.height, [...data]],
      `orientation ${orientation}`,
    );
  }
});
