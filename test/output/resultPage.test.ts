import assert from "node:assert/strict";
import { test } from "node:test";

import { iccProfile } from "../io/iccFiles.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import type { DepthResult } from "../../src/output/result.ts";
import { decodePageData, encodePageData, makeResultPage, resultPage, shrinkResult, type PageData } from "../../src/output/resultPage.ts";

const [width, height] = [7, 5];
const pixels = width * height;
const values = Float32Array.from({ length: pixels }, (_, i) => (i === 9 ? NaN : 0.5 + i / 50));
const result: DepthResult = {
  depth: depthMap({ width, height, values, space: "depth" }),
  unit: "m",
  camera: { focalLength: 0.05, fNumber: 2, pixelPitch: 1e-4 },
  range: [0.5, 1],
  confidence: values.map((_, i) => i / pixels),
  error: values.map((_, i) => 0.001 * (i + 1)),
  beyond: Int8Array.from(values, (_, i) => (i % 3) - 1),
  filled: Uint8Array.from(values, (_, i) => i % 2),
  planeIndex: Uint8Array.from(values, (_, i) => i),
};
const picture = { bytes: Uint8Array.from({ length: 70_000 }, (_, i) => i), mimeType: "image/jpeg" } as const;
const options = { name: "</script><b>Käfer & Co", facts: "a beetle", planes: 6, focusDistances: [0.5, 1], focusChange: true, picture };

test("a result comes back from its page: depth and error to 16 bits, unknown stays unknown", () => {
  const back = decodePageData(encodePageData(result, options));
  const near = (actual: Float32Array, expected: Float32Array, tolerance: number): void => {
    for (const [i, value] of expected.entries())
      if (i !== 9) assert.ok(Math.abs((actual[i] as number) - value) <= tolerance, `pixel ${i}: ${actual[i]} ≠ ${value}`);
  };
  near(back.depth.values, values, 2e-5);
  near(back.error ?? new Float32Array(), result.error as Float32Array, 1e-6);
  near(back.confidence ?? new Float32Array(), result.confidence as Float32Array, 1 / 255);
  assert.deepEqual([back.depth.valid[8], back.depth.valid[9]], [1, 0]);
  assert.deepEqual(
    [back.beyond, back.filled, back.planeIndex, back.unit, back.camera, back.range],
    [result.beyond, result.filled, result.planeIndex, "m", result.camera, [0.5, 1]],
  );
});

test("plane indices above 255 become 255 in the page, whether its maps are shrunk or not; signs stay", () => {
  const many = { ...result, planeIndex: new Uint16Array(pixels).fill(300), beyond: new Int8Array(pixels).fill(-1) };
  for (const side of [width, 3]) {
    const { planeIndex, beyond, depth } = decodePageData(encodePageData(shrinkResult(many, side), options));
    assert.equal(depth.width, side);
    assert.deepEqual([new Set(planeIndex), new Set(beyond)], [new Set([255]), new Set([-1])], `${side} pixels wide`);
  }
});

test("maps that are computed when they are read are computed once for a smaller page, and not at all for one of their size", () => {
  const reads: string[] = [];
  const names = ["error", "beyond", "planeIndex"] as const;
  const lazy: DepthResult = { ...result };
  for (const name of names)
    Object.defineProperty(lazy, name, {
      enumerable: true,
      get() {
        reads.push(name);
        return result[name];
      },
    });
  assert.equal(shrinkResult(lazy, width), lazy);
  assert.deepEqual(reads, []);
  assert.equal(shrinkResult(lazy, 3).error?.length, 3 * 2);
  assert.deepEqual(reads.sort(), [...names].sort());
});

test("the page is one file that asks for nothing, whatever its name and script contain", () => {
  const data = encodePageData(result, options);
  const html = resultPage(data, { script: 'const end = "</script>";', style: "a{}" });
  assert.match(html, /default-src 'none'/);
  assert.doesNotMatch(html, /<(link|img|iframe)\b|src=/);
  assert.equal(html.split(/<\/script>/i).length - 1, 2, "only its own two scripts end");
  assert.match(html, /<title>&#60;\/script&#62;&#60;b&#62;Käfer &#38; Co: depth/);
  const json = /id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
  assert.deepEqual(JSON.parse(json) as PageData, data);
  assert.deepEqual(Buffer.from(data.picture.split(",")[1] ?? "", "base64"), Buffer.from(picture.bytes));
});

test("the picture in the page is in sRGB, whatever the space of the photos", async () => {
  const allInFocus = {
    width,
    height,
    channels: 3 as const,
    data: new Float32Array(3 * pixels).map((_, i) => [0.702, 0.302, 0.302][i % 3] as number),
  };
  const shown: number[][] = [];
  const jpeg = ({ data }: { data: Uint8Array }): Promise<Uint8Array> => {
    shown.push([...data.subarray(0, 3)]);
    return Promise.resolve(picture.bytes);
  };
  for (const profile of [undefined, iccProfile()])
    await makeResultPage({ ...result, allInFocus, ...(profile ? { profile } : {}) }, options, { viewer: { script: "", style: "" }, jpeg });
  // By hand: the red of sRGB is 1.3984 r - 0.3984 g, its green g, its blue about b.
  const [plain = [], adobe = []] = shown;
  assert.deepEqual(plain, [179, 77, 77]);
  const curve = (light: number): number => 255 * (1.055 * light ** (1 / 2.4) - 0.055);
  const [red, green] = [(179 / 255) ** 2.19921875, (77 / 255) ** 2.19921875];
  assert.ok(Math.abs((adobe[0] as number) - curve(1.3984 * red - 0.3984 * green)) < 1.5, adobe.join());
  assert.ok(Math.abs((adobe[1] as number) - curve(green)) < 1.5, adobe.join());
});
