import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAlignment, parseAlignment } from "../../src/align/alignment.ts";
import { parseDistanceFile, parseDistances } from "../../src/stack/distanceList.ts";
import { DualFocusError } from "../../src/errors.ts";
import { imageJStack, omeStack } from "../../src/stack/omeTiff.ts";
import { parseStackJson } from "../../src/stack/stackFormat.ts";
import { createRandom } from "../../src/random.ts";

const OME = `<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="Pixels:0"
 DimensionOrder="XYZCT" SizeX="8" SizeY="8" SizeZ="3" SizeC="1" SizeT="1" PhysicalSizeZ="2.5" PhysicalSizeZUnit="µm" Type="uint8">
 <TiffData IFD="0" FirstZ="0"/><Plane TheZ="0" TheC="0" TheT="0" PositionZ="1.5" PositionZUnit="µm"/></Pixels></Image></OME>`;

const READERS: readonly {
  readonly name: string;
  readonly good: string;
  readonly read: (text: string) => unknown;
  readonly names?: RegExp;
}[] = [
  {
    name: "stack.json",
    good: JSON.stringify({
      unit: "mm",
      focus: [60, 61.5, 63],
      files: ["a.png", "b.png", "c.png"],
      camera: { focalLength: 0.05, fNumber: 2, pixelPitch: 1e-5 },
    }),
    read: (text) => parseStackJson(text, "broken"),
  },
  {
    name: "a list of distances",
    good: "file,distance\na.jpg,0.5m\nb.jpg,650 mm\nc.jpg,inf\n",
    read: (text) => parseDistanceFile(text, "broken"),
  },
  { name: "distances as typed", good: "0.5, 650mm, 1.25dpt, inf", read: parseDistances, names: /is not a focus distance/ },
  { name: "OME-XML", good: OME, read: (text) => omeStack(text, { file: "broken", pages: 3 }) },
  {
    name: "an ImageJ description",
    good: "ImageJ=1.53t\nimages=3\nslices=3\nunit=micron\nspacing=2.5\nloop=false\n",
    read: (text) => imageJStack(text, { file: "broken", pages: 3 }),
  },
  {
    name: "alignment.json",
    good: formatAlignment({
      ...{ width: 64, height: 48, reference: 0 },
      frames: [{ transform: { scale: 1.01, angle: 0.002, shift: [1, -2] }, gain: [1], residual: 0.1, ok: true }],
    }),
    read: (text) => parseAlignment(text, "broken"),
  },
];

/** What damage turns digits and words into. */
const SHARDS = [
  "-",
  "NaN",
  "1e999",
  "null",
  '"',
  "{",
  "]",
  "<",
  "&#x0;",
  "\0",
  "\ud800",
  "٣",
  " ",
  "\n",
  "9".repeat(400),
  "[".repeat(3000),
];

for (const { name, good, read, names = /broken/ } of READERS)
  test(`${name}: any text is read or refused by an error of ours that names it`, () => {
    assert.ok(read(good), "what is whole is read");
    const random = createRandom(11);
    const noise = (length: number): string => String.fromCharCode(...Array.from({ length }, () => random.integer(0x250)));
    let refused = 0;
    for (let round = 0; round < 400; round++) {
      const at = random.integer(good.length);
      const shard = round % 3 === 0 ? noise(1 + random.integer(20)) : (SHARDS[random.integer(SHARDS.length)] as string);
      for (const text of [good.slice(0, at), good.slice(0, at) + shard + good.slice(at + random.integer(6)), noise(random.integer(300))])
        try {
          read(text);
        } catch (error) {
          refused += 1;
          assert.ok(error instanceof DualFocusError, `${JSON.stringify(text.slice(0, 200))}: ${String(error)}`);
          assert.match(error.message, names);
        }
    }
    assert.ok(refused > 0 || name === "an ImageJ description", "some of it is refused");
  });
