import assert from "node:assert/strict";
import { test } from "node:test";
import { zipSync } from "fflate";

import { unpackFiles } from "../../../web/src/worker/unpack.ts";
import type { UserFile } from "../../../web/src/worker/protocol.ts";
import { unzip } from "../../../web/src/worker/zip.ts";

const given = (bytes: Uint8Array, path = "a.zip"): UserFile => ({ path, file: new File([Uint8Array.from(bytes)], path) });
const never = new AbortController().signal;
const all = { wanted: () => true, signal: never };
const text = (content: string): Uint8Array => new TextEncoder().encode(content);

/** The archive with another size stated for its only file. */
function claiming(archive: Uint8Array, size: number): Uint8Array {
  const bytes = Buffer.from(archive);
  bytes.writeUInt32LE(size, bytes.indexOf(Buffer.from([0x50, 0x4b, 1, 2])) + 24);
  return bytes;
}

test("a file that grows beyond the size that its archive states is stopped there", async (t) => {
  const original = globalThis.DecompressionStream;
  t.after(() => {
    globalThis.DecompressionStream = original;
  });
  let made = 0;
  const counting = (): TransformStream<Uint8Array, Uint8Array> =>
    new TransformStream({
      transform: (chunk, controller) => {
        made += chunk.length;
        controller.enqueue(chunk);
      },
    });
  globalThis.DecompressionStream = function (format: CompressionFormat) {
    const { readable, writable } = new original(format);
    return { writable, readable: readable.pipeThrough(counting()) };
  } as unknown as typeof DecompressionStream;
  const archive = zipSync({ "a.png": new Uint8Array(64 << 20) });
  await assert.rejects(unzip(given(claiming(archive, 1000)), all), /^FormatError: a\.zip: a\.png in it is not of the size .* 1000 bytes/);
  assert.ok(made < 16 << 20, `${made} bytes were unpacked`);
});

test("a file that is shorter than its archive states is refused for that, not as damaged", async () => {
  const archive = zipSync({ "a.png": text("plain text, ".repeat(20)) });
  await assert.rejects(unzip(given(claiming(archive, 241)), all), /a\.png in it is not of the size/);
  const [found] = await unzip(given(archive), all);
  assert.equal(await found?.file.text(), "plain text, ".repeat(20));
});

test("a cancelled archive is not unpacked to its end", async () => {
  const controller = new AbortController();
  const asked: string[] = [];
  const wanted = (path: string): boolean => {
    asked.push(path);
    if (path === "b.png") controller.abort();
    return true;
  };
  const archive = zipSync({ "a.png": text("a"), "b.png": text("b"), "c.png": text("c") });
  await assert.rejects(unzip(given(archive), { wanted, signal: controller.signal }), { name: "AbortError" });
  assert.deepEqual(asked, ["a.png", "b.png"]);
});

test("only what a stack may need is unpacked from an archive; one without any of it says so", async () => {
  const caller = { signal: never, onEvent: () => undefined };
  const names = ["s/a.JPG", "s/b.dng", "s/stack.json", "s/distances.csv", "s/depth.png", "s/clip.mp4"];
  const others = ["s/manual.pdf", "s/copy.zip", "s/notes.txt", "__MACOSX/s/a.jpg", "s/.hidden.png"];
  const archive = zipSync(Object.fromEntries([...names, ...others].map((name) => [name, text(name)])));
  const { files } = await unpackFiles([given(archive)], caller);
  assert.deepEqual(
    files.map(({ path }) => path),
    names,
  );
  await assert.rejects(unpackFiles([given(zipSync({ "a.pdf": text("a") }), "docs.zip")], caller), {
    code: "no-images",
    message: "docs.zip: no images in it",
  });
});
