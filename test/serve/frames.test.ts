import assert from "node:assert/strict";
import { test } from "node:test";

import { depthSettings } from "../../src/depth/settings.ts";
import { encodeTiff } from "../../src/io/tiff.ts";
import { checkFrameSet, type CheckedFrame } from "../../src/serve/frames.ts";
import { stackForm, withServer } from "./server.ts";

const frame = (ending: string, planes: CheckedFrame["planes"] = [{ page: 0 }]): CheckedFrame => ({
  ...{ file: "a", ending, width: 64, height: 48 },
  ...{ pages: planes.length, planes },
});
const three = <T>(value: (n: number) => T): T[] => [0, 1, 2].map(value);
const MULTI_PAGE = [
  frame(
    "tif",
    three((page) => ({ page, position: page * 1e-6 })),
  ),
];
const PLANE_FILES = three((n) => frame("tif", [{ page: 0, position: n * 1e-6 }]));
const PLAIN: Readonly<Record<string, readonly CheckedFrame[]>> = {
  "a TIFF": [
    frame(
      "tif",
      three((page) => ({ page })),
    ),
  ],
  TIFFs: three(() => frame("tif")),
  "TIFFs of two planes each": three(() => frame("tif", [{ page: 0, position: 0 }, { page: 1, position: 1e-6 }])), // prettier-ignore
  "TIFFs, one without a position": [...PLANE_FILES.slice(1), frame("tif")],
  photos: three(() => frame("png")),
};

const check = (frames: readonly CheckedFrame[], distances: string | number[], unit?: string): void => {
  checkFrameSet(frames, depthSettings.parse({ distances, unit }));
};

test("lengths for a microscope's TIFFs are positions, zero and negative ones among them; for anything else they are distances", () => {
  for (const distances of ["0um+2um", "-3000um+2um", "-1m+-1m", "0um,-0.02mm,-10um", [-1, 0, 1]]) {
    check(MULTI_PAGE, distances);
    check(PLANE_FILES, distances);
    for (const [name, frames] of Object.entries(PLAIN))
      assert.throws(() => {
        check(frames, distances);
      }, /image \d: \S+ u?m is not a focus distance/, name); // prettier-ignore
  }
  for (const frames of [MULTI_PAGE, PLANE_FILES, ...Object.values(PLAIN)]) {
    check(frames, [1, 2, 3]);
    assert.throws(() => {
      check(frames, [1, 2]);
    }, /^Problem: the stack: 3 images but 2 focus distances$/);
  }
});

test("thumbnails are not planes", () => {
  const frames = [{ ...frame("tif"), pages: 2 }];
  assert.throws(() => {
    check(frames, [1, 2]);
  }, /a stack has at least two images, got 1/);
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

test("an OME-TIFF is accepted with positions whose zero is arbitrary; without its description they are refused at once", async () => {
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
  const plain = new Uint8Array(encodeTiff(pages.map(({ width, height, channels, data }) => ({ width, height, channels, data }))));
  await withServer({}, async ({ url }) => {
    for (const distances of ["0um+2um", "-3000um+2um", [-1, 0, 1]]) {
      const response = await fetch(`${url}/v1/depth`, { method: "POST", body: stackForm([cells], { distances }) });
      assert.equal(response.status, 202, await response.text());
      const refusal = await fetch(`${url}/v1/depth`, { method: "POST", body: stackForm([plain], { distances }) });
      assert.deepEqual([refusal.status, ((await refusal.json()) as { code: string }).code], [422, "distances-invalid"]);
    }
  });
});
