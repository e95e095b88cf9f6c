import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { zipSync } from "fflate";

import { decodePng } from "../../src/io/png.ts";
import { withStack } from "../../src/stack/node/openStack.ts";
import { TEST_IDS } from "../../web/src/contract.ts";
import { temporaryFolder } from "../data/files.ts";
import { withPage } from "../helpers/browser.ts";
import { filmed, renderedSweep, withoutFfmpeg } from "../helpers/sweepClip.ts";
import { drop, exampleFiles, find, openStand } from "../helpers/webPage.ts";
import { dngFile } from "../io/dngFile.ts";

const script = `
  import { unpackFiles } from "../web/src/worker/unpack.ts";
  const caller = { signal: new AbortController().signal, onEvent: ({ done }) => (globalThis.seen = done) };
  const given = async (names) => Promise.all(names.map(async (name) =>
    ({ path: name, file: new File([await (await fetch("/" + name)).blob()], name) })));
  const plain = async ({ path, file }) => ({ path, name: file.name, bytes: Array.from(new Uint8Array(await file.arrayBuffer())) });
  globalThis.unpack = async (...names) => {
    try {
      const { files, notes } = await unpackFiles(await given(names), caller);
      return { files: await Promise.all(files.map(plain)), notes, seen: globalThis.seen };
    } catch (error) { return { error: error.message }; }
  };
  globalThis.pixels = async (bytes) => {
    const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
    return [bitmap.width, bitmap.height];
  };
`;

interface Unpacked {
  readonly files: readonly { readonly path: string; readonly name: string; readonly bytes: number[] }[];
  readonly notes: readonly string[];
  readonly seen?: number;
  readonly error?: string;
}

const root = temporaryFolder();

test("the frames of a video are those that the command takes", { skip: withoutFfmpeg, timeout: 120_000 }, async (t) => {
  const { images } = renderedSweep();
  const clips = ["clip.mp4", "clip.webm"].map((name) => filmed(images, join(root, name)));
  const files = Object.fromEntries(clips.map((clip) => [`/${basename(clip)}`, readFileSync(clip)]));
  await withPage({ script, files }, async (page) => {
    for (const clip of clips) {
      const command = await withStack([clip], {}, ({ files: taken, notes }) =>
        Promise.resolve({ files: taken.map((file) => basename(file)), notes }),
      );
      const here = await page.evaluate<Unpacked>(`unpack("${basename(clip)}")`);
      t.diagnostic(`${basename(clip)}: ${here.files.map(({ path }) => /\d+/.exec(path)?.[0]).join(" ")}`);
      assert.deepEqual(
        here.files.map(({ path }) => path),
        command.files,
      );
      assert.equal(here.notes[0], command.notes[0]);
      assert.ok((here.seen ?? 0) > 90, `the last progress was ${here.seen} %`);
      assert.deepEqual(await page.evaluate(`pixels(${JSON.stringify(here.files[0]?.bytes)})`), [160, 96]);
    }
  });
});

test("archives are unpacked, and what cannot be is named", { timeout: 60_000 }, async () => {
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7) % 251);
  const archive = zipSync({
    "stack/a.jpg": [bytes(5000), { level: 0 }],
    "stack/b.jpg": [bytes(70000), { level: 6 }],
    "__MACOSX/stack/._a.jpg": bytes(10),
    "stack/.DS_Store": bytes(10),
  });
  const locked = Uint8Array.from(archive);
  const entry = Buffer.from(archive).indexOf(Buffer.from([0x50, 0x4b, 1, 2]));
  locked[entry + 8] = (locked[entry + 8] as number) | 1;
  const damaged = Uint8Array.from(archive).fill(0xaa, 5600, 5700);
  const files = {
    "/a.zip": archive,
    "/half.zip": archive.subarray(0, 3000),
    "/locked.zip": locked,
    "/damaged.zip": damaged,
    "/one.mp4": bytes(100),
    "/two.mp4": bytes(100),
    "/c.png": bytes(50),
  };
  await withPage({ script, files }, async (page) => {
    const unpack = (...names: string[]): Promise<Unpacked> => page.evaluate<Unpacked>(`unpack(...${JSON.stringify(names)})`);
    const found = await unpack("a.zip", "c.png");
    assert.deepEqual(
      found.files.map(({ path, name }) => [path, name]),
      [["stack/a.jpg", "a.jpg"], ["stack/b.jpg", "b.jpg"], ["c.png", "c.png"]], // prettier-ignore
    );
    assert.deepEqual(found.files[0]?.bytes, [...bytes(5000)]);
    assert.deepEqual(found.files[1]?.bytes, [...bytes(70000)]);
    assert.match((await unpack("half.zip")).error ?? "", /^half\.zip: not a readable ZIP archive/);
    assert.match((await unpack("locked.zip")).error ?? "", /^locked\.zip: stack\/a\.jpg is encrypted/);
    assert.match((await unpack("damaged.zip")).error ?? "", /^damaged\.zip: stack\/b\.jpg in it is damaged/);
    assert.match((await unpack("one.mp4")).error ?? "", /^one\.mp4: not a readable video/);
    assert.match((await unpack("one.mp4", "two.mp4")).error ?? "", /^there are 2 videos/);
    assert.deepEqual((await unpack("one.mp4", "c.png")).files.length, 2); // a stack with a video beside it
  });
});

test("the page itself opens raw files in an archive, and a video, under its own policy", { timeout: 120_000 }, async (t) => {
  const stand = await openStand();
  t.after(() => stand.close());
  const { page, problems, requests } = await stand.visit();
  const planes = find(page, TEST_IDS.planes).locator("li");
  const images = exampleFiles("macro").filter(({ name }) => name.endsWith(".png"));
  const raws = images.map(({ name, bytes }) => [name.replace("png", "dng"), dngFile(decodePng(bytes))] as const);
  await drop(page, [{ name: "macro.zip", bytes: zipSync(Object.fromEntries(raws)) }]);
  await page.getByRole("heading", { name: "macro" }).waitFor();
  assert.equal(await planes.count(), images.length);
  assert.ok(requests.some((url) => url.endsWith("/libraw/libraw.wasm")));
  if (withoutFfmpeg === false) {
    await drop(page, [{ name: "sweep.webm", bytes: readFileSync(join(root, "clip.webm")) }]);
    await page.getByRole("heading", { name: "sweep" }).waitFor();
    await page.getByText(/sweep\.webm: \d+ of 68 frames are used/).waitFor();
    assert.ok((await planes.count()) >= 5);
  }
  assert.deepEqual(problems, []);
});
