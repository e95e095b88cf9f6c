import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { bytesToSrgb } from "../../src/io/profileColours.ts";
import { createRandom } from "../../src/random.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { iccProfile } from "./iccFiles.ts";

const root = temporaryFolder();
const raw = { width: 64, height: 64, channels: 3 as const };

test("colours become sRGB as Little CMS converts them, from Display P3 (parametric curves) and Adobe RGB (a gamma)", async () => {
  const random = createRandom(8);
  const pixels = Uint8Array.from({ length: 64 * 64 * 3 }, () => 256 * random.uniform());
  put(join(root, "adobe.icc"), iccProfile());
  for (const profile of ["p3", join(root, "adobe.icc")]) {
    const file = await sharp(pixels, { raw }).withIccProfile(profile).png().toBuffer();
    const { icc } = await sharp(file).metadata();
    const found = new Uint8Array(await sharp(file, { ignoreIcc: true }).raw().toBuffer());
    const before = found.slice();
    bytesToSrgb(found, new Uint8Array(icc ?? []));
    const wanted = await sharp(file).toColourspace("srgb").raw().toBuffer();
    const most = (bytes: Uint8Array): number =>
      wanted.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (bytes[i] as number))), 0);
    assert.ok(most(found) <= 2, `${profile}: ${most(found)}`);
    assert.ok(most(before) > 20, "the profile matters");
    const withAlpha = Uint8ClampedArray.from({ length: 4 * 64 * 64 }, (_, i) =>
      i % 4 === 3 ? 77 : (before[3 * (i >> 2) + (i % 4)] as number),
    );
    bytesToSrgb(withAlpha, new Uint8Array(icc ?? []), 4);
    assert.deepEqual([...withAlpha.filter((_, i) => i % 4 !== 3)], [...found]);
    assert.ok(withAlpha.every((value, i) => i % 4 !== 3 || value === 77));
  }
});

test("a profile that is damaged, or has no primaries, leaves the numbers as they are", () => {
  const endless = Buffer.from(iccProfile());
  endless.writeUInt32BE(0x7fffffff, endless.indexOf("curv") + 8);
  for (const profile of [iccProfile("GRAY"), iccProfile().subarray(0, 200), new Uint8Array(0), endless]) {
    const data = Uint8Array.of(10, 200, 90);
    bytesToSrgb(data, profile);
    assert.deepEqual([...data], [10, 200, 90]);
  }
});
