import assert from "node:assert/strict";
import { test } from "node:test";
import { complaintOf, describeFrames, frameCountOf } from "../../src/stack/node/ffmpegOutput.ts";
import type { SweepFrame } from "../../src/stack/sweep.ts";

const count = (document: unknown): number => frameCountOf(JSON.stringify(document), "a.mp4");

test("the number of frames is what the file states, else its length times its rate, else unknown", () => {
  assert.equal(count({ streams: [{ nb_frames: "68", avg_frame_rate: "30/1" }], format: { duration: "9" } }), 68);
  assert.equal(count({ streams: [{ avg_frame_rate: "30000/1001" }], format: { duration: "2.0" } }), 60);
  for (const stream of [{ nb_frames: "N/A" }, { nb_frames: "-4" }, { nb_frames: "1e300" }, { nb_frames: {} }, { avg_frame_rate: "0/0" }, { avg_frame_rate: 25 }])
    assert.equal(count({ streams: [stream], format: { duration: "1" } }), 0); // prettier-ignore
  assert.equal(count({ streams: [{ avg_frame_rate: "25/1" }], format: null }), 0);
});

test("what ffprobe should not say is refused by the file's name", () => {
  for (const document of [{}, { streams: [] }, { streams: {} }, { streams: [null] }])
    assert.throws(() => count(document), /^FormatError: a\.mp4: there is no video in it/);
  for (const text of ["no JSON", "null", "3", '{"streams": ['])
    assert.throws(() => frameCountOf(text, "a.mp4"), /a\.mp4: not a readable video: what ffprobe says about it is not JSON/);
});

const [width, height] = [24, 18];
const pgm = (value: number, size = `${width} ${height}`, pixels = width * height): Buffer =>
  Buffer.concat([Buffer.from(`P5\n${size}\n255\n`), Buffer.alloc(pixels, value)]);

async function framesOf(bytes: Buffer, chunk: number): Promise<SweepFrame[]> {
  const found: SweepFrame[] = [];
  const chunks = (async function* () {
    for (let at = 0; at < bytes.length; at += chunk) yield await Promise.resolve(bytes.subarray(at, at + chunk));
  })();
  await describeFrames(chunks, { file: "a.mp4", onFrame: (frame) => found.push(frame) });
  return found;
}

test("frames are found wherever the pieces of the output end", async () => {
  const bytes = Buffer.concat([10, 20, 30].map((value) => pgm(value)));
  for (const chunk of [7, 100, 448, 10_000]) {
    const frames = await framesOf(bytes, chunk);
    assert.deepEqual(frames.map(({ tone }) => tone[0]), [10, 20, 30]); // prettier-ignore
    assert.ok(
      frames.every(({ tone, detail }) => tone.every((value, i) => value === tone[0] && detail[i] === 0)),
      "no block is empty",
    );
  }
});

test("frames that ffmpeg was not asked for are not waited for", async () => {
  await assert.rejects(framesOf(pgm(0, "99999 99999"), 64), /a\.mp4: .*a frame of 99999×99999 pixels, not 480 at most/);
  await assert.rejects(framesOf(pgm(0, "23 18"), 64), {
    code: "image-too-small",
    message: /a\.mp4: .*only 23×18 pixels; 24×18 are needed/,
  });
  await assert.rejects(framesOf(pgm(0, "0 0"), 64), { code: "image-too-small" });
  await assert.rejects(framesOf(Buffer.alloc(100, "x"), 64), /a\.mp4: .*something else than frames/);
  await assert.rejects(framesOf(pgm(0).subarray(0, 300), 64), /a\.mp4: .*broke off within a frame/);
  const endless = Buffer.concat(Array.from({ length: 20_001 }, () => pgm(9)));
  await assert.rejects(framesOf(endless, 1 << 16), /a\.mp4: the video has more than 20000 frames; cut it down/);
});

test("of what ffmpeg complains about, the reason is given", () => {
  assert.equal(complaintOf("[mov @ 0x55] moov atom not found\nfile:/home/me/a.mp4: Invalid data found when processing input\n"), "Invalid data found when processing input"); // prettier-ignore
  assert.equal(complaintOf("[hls @ 0x55] Not allowed"), "Not allowed");
  assert.equal(complaintOf("\n"), "ffmpeg cannot decode it");
});
