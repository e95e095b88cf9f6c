import assert from "node:assert/strict";
import { test } from "node:test";

import { depthSettings } from "../../src/depth/settings.ts";
import { encodeTiff } from "../../src/io/tiff.ts";
import { checkFrameSet, type CheckedFrame } from "../../src/serve/frames.ts";
import { stackForm, withServer } from "./server.ts";

const frame = (ending: string, pages = 1): CheckedFrame => ({ file: "a", ending, width: 64, height: 48, pages });
const [MULTI_PAGE, TIFFS, PHOTOS] = [[frame("tif", 3)], Array.from({ length: 3 }, () => frame("tif")), Array.from({ length: 3 }, () => frame("png"))]; // prettier-ignore

const check = (frames: readonly CheckedFrame[], distances: string | number[], unit?: string): void => {
  checkFrameSet(frames, depthSettings.parse({ distances, unit }));
};

test("lengths for TIFFs may be the positions of a microscope, zero and negative ones among them; for photos they are distances", () => {
  for (const distances of ["0um+2um", "-3000um+2um", "-1m+-1m", "0um,-0.02mm,-10um", [-1, 0, 1]]) {
    check(MULTI_PAGE, distances);
    check(TIFFS, distances);
    assert.throws(() => {
      check(PHOTOS, distances);
    }, /image \d: \S+ u?m is not a focus distance/);
  }
});

test("positions are finite and different, and dioptres are not positions", () => {
  const refused = (message: RegExp, distances: string | number[], unit?: string): void => {
    assert.throws(() => {
      check(MULTI_PAGE, distances, unit);
    }, message);
  };
  refused(/image 1 and image 2 and image 3 have the same focus distance, -1 um/, "-1um+0um");
  refused(/image 2 and image 3 have the same focus distance, 0 m/, [-1, 0, 0]);
  refused(/image 1: -Infinity m is not a focus distance/, "-inf,1,2");
  refused(/image 1: -1 dpt is not a focus distance/, [-1, 0, 1], "dpt");
});

test("an OME-TIFF is accepted with positions whose zero is arbitrary", async () => {
  const planes = [4, -2, 1].map((z, n) => `<Plane TheZ="${n}" TheC="0" TheT="0" PositionZ="${z}" PositionZUnit="µm"/>`);
  const xml = `<OME><Image><Pixels DimensionOrder="XYZCT" SizeZ="3" SizeC="1" SizeT="1"><TiffData/>${planes.join("")}</Pixels></Image></OME>`;
  const pages = [1000, 2000, 4000].map((value, n) => ({
    width: 24,
    height: 16,
    channels: 1 as const,
    data: new Uint16Array(384).fill(value),
    ...(n === 0 ? { description: xml } : {}),
  }));
  const cells = new Uint8Array(encodeTiff(pages));
  await withServer({}, async ({ url }) => {
    for (const distances of ["0um+2um", "-3000um+2um", [-1, 0, 1]]) {
      const response = await fetch(`${url}/v1/depth`, { method: "POST", body: stackForm([cells], { distances }) });
      assert.equal(response.status, 202, await response.text());
    }
  });
});
