import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { estimateDepth } from "../../src/depth/estimate.ts";
import { openNetwork } from "../../src/network/node/openNetwork.ts";
import { focalStack } from "../../src/stack/focalStack.ts";
import { withStack } from "../../src/stack/node/openStack.ts";
import { withVideoFrames } from "../../src/stack/node/video.ts";
import { readStack } from "../../src/stack/stackSource.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { CLIP_SIZE, filmed, PLANES, renderedSweep, WAITING, withoutFfmpeg } from "../helpers/sweepClip.ts";

const root = temporaryFolder();
const skip = withoutFfmpeg;

/** The plane that a frame of the clip shows. */
const planeOf = (frame: number): number => Math.min(Math.max(Math.floor((frame - WAITING) / 2), 0), PLANES - 1);

test("depth from a video of rendered planes is that of the planes themselves, within 5 %", { skip }, async () => {
  const { images, focusDistances } = renderedSweep();
  const clip = filmed(images, join(root, "clip.mp4"));
  const network = await openNetwork("small", { device: "cpu", threads: 2 });
  try {
    const seen: number[] = [];
    const { planes, video, name, notes } = await withStack([clip], { onProgress: (done) => seen.push(done) }, async (source) => ({
      planes: source.files.map((file) => planeOf(Number(/\d+/.exec(basename(file))))),
      video: await estimateDepth(await readStack(source), { network }),
      name: source.name,
      notes: source.notes,
    }));
    assert.equal(name, clip);
    assert.match(notes[0] ?? "", /^clip\.mp4: \d+ of 68 frames are used, from frame \d+ to \d+$/);
    assert.ok(seen.length >= 68 && seen.at(-1) === 68, `progress: ${seen.at(-1)}`);
    assert.ok(planes.length >= 5 && new Set(planes).size === planes.length, `planes ${planes.join(" ")}`);
    const stack = focalStack({ images: planes.map((n) => images[n] as never), focusDistances: [...planes.keys()], space: "index" });
    const { depth } = await estimateDepth(stack, { network });
    const metres = (index: number): number => {
      const below = Math.min(Math.max(Math.floor(index), 0), planes.length - 2);
      const [a, b] = [focusDistances[planes[below] as number] as number, focusDistances[planes[below + 1] as number] as number];
      return a + (b - a) * (index - below);
    };
    const errors = depth.values.map((index, i) => Math.abs(metres(video.depth.values[i] as number) / metres(index) - 1));
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    assert.ok(mean < 0.05, `depth differs by ${(100 * mean).toFixed(1)} % on average`);
  } finally {
    await network.dispose();
  }
  assert.deepEqual(framesLeft(), []);
});

/** Temporary folders of this process. */
const framesLeft = (): string[] => {
  const parent = join(tmpdir(), "dualfocus-frames");
  return existsSync(parent) ? readdirSync(parent).filter((name) => name.includes(`@${process.pid}@`)) : [];
};

test("as many frames as distances, and these for the frames", { skip }, async () => {
  const clip = existsSync(join(root, "clip.mp4")) ? join(root, "clip.mp4") : filmed(renderedSweep().images, join(root, "clip.mp4"));
  const found = await withStack([clip], { distances: "0.5, 0.7, 1, 1.7", unit: "m" }, (source) =>
    Promise.resolve({ distances: source.focusDistances, space: source.space, size: source.size }),
  );
  assert.deepEqual(found, { distances: [0.5, 0.7, 1, 1.7], space: "depth", size: CLIP_SIZE });
});

test("a run that is stopped leaves no frames", { skip }, async () => {
  const stop = new AbortController();
  const running = withStack([join(root, "clip.mp4")], { signal: stop.signal }, () => {
    stop.abort(new Error("stopped"));
    stop.signal.throwIfAborted();
    return Promise.resolve();
  });
  await assert.rejects(running, /stopped/);
  const early = new AbortController();
  const before = withStack([join(root, "clip.mp4")], { signal: early.signal, onProgress: () => { early.abort(new Error("early")); } }, () => Promise.resolve()); // prettier-ignore
  await assert.rejects(before, /early/);
  assert.deepEqual(framesLeft(), []);
});

test("what is no video, no sweep or not alone is refused", { skip }, async () => {
  const use = (): Promise<void> => Promise.resolve();
  put(join(root, "words.mp4"), "no video at all");
  await assert.rejects(withStack([join(root, "words.mp4")], {}, use), /words\.mp4: not a readable video: Invalid data found/);
  await assert.rejects(withStack([join(root, "nowhere.mov")], {}, use), /nowhere\.mov: there is no such file/);
  await assert.rejects(withStack(["a.jpg", "b.webm"], {}, use), /b\.webm: is a video, given together with other files/);
  const still = join(root, "still.mp4");
  execFileSync("ffmpeg", [
    "-v",
    "error",
    "-y",
    "-f",
    "lavfi",
    "-i",
    "testsrc=size=160x120:rate=10:duration=2,loop=20:1",
    "-pix_fmt",
    "yuv420p",
    still,
  ]);
  await assert.rejects(withStack([still], {}, use), /still\.mp4: the focus does not move in this video/);
  const sound = join(root, "sound.mp4");
  execFileSync("ffmpeg", ["-v", "error", "-y", "-f", "lavfi", "-i", "sine=duration=1", sound]);
  await assert.rejects(withStack([sound], {}, use), /sound\.mp4: there is no video in it/);
});

test("a list of other files that is called a video opens none of them; frames of a few pixels are refused", { skip }, async () => {
  const use = (): Promise<never> => assert.fail("it was opened");
  const pattern = (file: string, size: string): string => {
    execFileSync("ffmpeg", ["-v", "error", "-y", "-f", "lavfi", "-i", `testsrc=size=${size}:rate=10:duration=0.4`, join(root, file)]);
    return join(root, file);
  };
  pattern("private.mp4", "160x120");
  put(join(root, "list.mp4"), "ffconcat version 1.0\nfile private.mp4\n");
  put(join(root, "playlist.mp4"), "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nprivate.mp4\n#EXT-X-ENDLIST\n");
  for (const name of ["list.mp4", "playlist.mp4"])
    await assert.rejects(withStack([join(root, name)], {}, use), new RegExp(`${name.replace(".", "\\.")}: not a readable video: `));
  await assert.rejects(withStack([pattern("tiny.mp4", "16x16")], {}, use), { code: "image-too-small" });
  for (const ending of ["mov", "mkv", "webm", "avi", "3gp", "mts"])
    await assert.rejects(withStack([pattern(`whole.${ending}`, "176x144")], {}, use), { code: "no-sweep" }, `${ending} is read`);
});

test("without ffmpeg the message says how to install it", async () => {
  put(join(root, "a.mp4"), "x");
  const programs = { ffmpeg: join(root, "no-ffmpeg"), ffprobe: join(root, "no-ffprobe") };
  await assert.rejects(
    withVideoFrames(join(root, "a.mp4"), { programs }, () => Promise.resolve()),
    { code: "ffmpeg-missing", message: /a\.mp4: videos are read by ffprobe, which is not installed/ },
  );
});
