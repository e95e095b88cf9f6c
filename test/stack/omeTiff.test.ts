import assert from "node:assert/strict";
import { test } from "node:test";
import { imageJStack, omeStack } from "../../src/stack/omeTiff.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const ome = (pixels: string, body: string): string => `<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">
  <Image ID="Image:0"><Pixels ${pixels}>${body}</Pixels></Image></OME>`;
const where = { file: "stack.ome.tif", pages: 3 };
const positions = (xml: string, at = where): (number | undefined)[] | undefined =>
  omeStack(xml, at)?.planes.map(({ position }) => position);

test("PositionZ with its unit becomes metres, each plane on its page", () => {
  const planes = [2.5, -1, 0].map((z, n) => `<Plane TheZ="${n}" TheC="0" TheT="0" PositionZ="${z}" PositionZUnit="mm"/>`).join("");
  const data = [2, 1, 0].map((page, n) => `<TiffData FirstZ="${n}" IFD="${page}" PlaneCount="1"/>`).join("");
  const xml = ome('DimensionOrder="XYZCT" SizeZ="3" SizeC="1" SizeT="1" SignificantBits="12" PhysicalSizeX="0.5"', data + planes);
  assert.deepEqual(omeStack(xml, where), {
    planes: [
      { page: 2, position: 0.0025 },
      { page: 1, position: -0.001 },
      { page: 0, position: 0 },
    ],
    notes: [],
    pixelSize: 0.5e-6,
    significantBits: 12,
  });
});

test("without positions the spacing counts; without a unit it is micrometres; a reference frame is no unit", () => {
  const size = 'DimensionOrder="XYZCT" SizeZ="3" SizeC="1" SizeT="1"';
  assertClose((positions(ome(`${size} PhysicalSizeZ="0.5"`, "<TiffData/>")) ?? []).slice(1) as number[], [0.5e-6, 1e-6], 1e-12);
  assertClose(
    (positions(ome(`${size} PhysicalSizeZ="2" PhysicalSizeZUnit="&#181;m"`, "")) ?? []).slice(1) as number[],
    [2e-6, 4e-6],
    1e-12,
  );
  const frame = '<TiffData/><Plane TheZ="0" TheC="0" TheT="0" PositionZ="7" PositionZUnit="reference frame"/>';
  assert.deepEqual(positions(ome(size, frame)), [undefined, undefined, undefined]);
});

test("pages follow the order of the dimensions, and the first channel and time are used", () => {
  const twoChannels = (order: string): number[] | undefined =>
    omeStack(ome(`DimensionOrder="${order}" SizeZ="3" SizeC="2" SizeT="1"`, "<TiffData/>"), { file: "a", pages: 6 })?.planes.map(
      ({ page }) => page,
    );
  assert.deepEqual(twoChannels("XYZCT"), [0, 1, 2]);
  assert.deepEqual(twoChannels("XYCZT"), [0, 2, 4]);
  const noted = omeStack(ome('DimensionOrder="XYCZT" SizeZ="3" SizeC="2" SizeT="1"', ""), { file: "a", pages: 6 });
  assert.deepEqual(noted?.notes, ["a: the first of 2 channels is used"]);
  const times = omeStack(ome('DimensionOrder="XYZCT" SizeZ="1" SizeC="1" SizeT="3"', "<TiffData/>"), where);
  assert.equal(times?.planes.length, 3);
  assert.match(times.notes[0] ?? "", /3 time points, which are taken as focus planes/);
});

test("one file of a set takes its own plane; a file of others' pages is refused", () => {
  const data = ["a.ome.tif", "b.ome.tif"]
    .map((file, z) => `<TiffData FirstZ="${z}" IFD="0" PlaneCount="1"><UUID FileName="${file}">urn:uuid:${z}</UUID></TiffData>`)
    .join("");
  const planes = '<Plane TheZ="0" TheC="0" TheT="0" PositionZ="1"/><Plane TheZ="1" TheC="0" TheT="0" PositionZ="3"/>';
  const xml = ome('DimensionOrder="XYZCT" SizeZ="2" SizeC="1" SizeT="1"', data + planes);
  assert.deepEqual(omeStack(xml, { file: "/data/b.ome.tif", pages: 1 })?.planes, [{ page: 0, position: 3e-6 }]);
  assert.throws(
    () => omeStack(xml, { file: "c.ome.tif", pages: 1 }),
    /c\.ome\.tif: its pages are spread over other files, such as a\.ome\.tif/,
  );
});

test("ImageJ's slices and spacing are understood", () => {
  const description = "ImageJ=1.53t\nimages=6\nchannels=2\nslices=3\nhyperstack=true\nunit=micron\nspacing=0.25\nloop=false\n";
  const stack = imageJStack(description, { file: "a.tif", pages: 6 });
  assert.deepEqual(
    stack?.planes.map(({ page }) => page),
    [0, 2, 4],
  );
  assertClose(stack.planes.map(({ position }) => position ?? NaN).slice(1), [0.25e-6, 0.5e-6], 1e-12);
  assert.equal(imageJStack("a photograph", { file: "a.tif", pages: 6 }), undefined);
});

test("descriptions that are no OME-XML are left alone and broken ones are refused", () => {
  assert.equal(omeStack("a photograph", where), undefined);
  assert.throws(() => omeStack("<OME></OME>", where), /stack\.ome\.tif: its OME-XML describes no pixels/);
  assert.throws(() => omeStack(ome('SizeZ="many" SizeC="1" SizeT="1"', ""), where), /SizeZ="many"/);
  const good = ome(
    'DimensionOrder="XYZCT" SizeZ="3" SizeC="1" SizeT="1"',
    '<TiffData IFD="0" FirstZ="0" PlaneCount="3"/><Plane TheZ="0" PositionZ="1"/>',
  );
  const random = createRandom(5);
  for (let round = 0; round < 2000; round++) {
    const letters = Array.from(good);
    for (let hit = 0; hit < 4; hit++) letters[random.integer(letters.length)] = String.fromCharCode(32 + random.integer(90));
    try {
      omeStack(letters.join("").slice(0, random.integer(good.length)), where);
      omeStack(letters.join(""), where);
    } catch (error) {
      assert.equal((error as Error).name, "FormatError", String(error));
    }
  }
});
