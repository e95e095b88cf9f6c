import assert from "node:assert/strict";
import { after, test } from "node:test";

import { TEST_IDS } from "../../web/src/contract.ts";
import { focusSteps } from "../../web/src/camera/camera.ts";
import { assertClose } from "../helpers/close.ts";
import { find, openStand } from "../helpers/webPage.ts";

const stand = await openStand({ flags: ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"] });
after(() => stand.close());

/** Gives Chromium's fake camera a focus, and keeps what it is set to. */
const FOCUS = `
  globalThis.settings = [];
  MediaStreamTrack.prototype.getCapabilities = () =>
    ({ focusMode: ["manual", "continuous"], focusDistance: { min: 0.1, max: 100, step: 0.01 }, exposureMode: ["manual", "continuous"] });
  MediaStreamTrack.prototype.applyConstraints = async ({ advanced }) => { globalThis.settings.push(advanced[0]); };
`;

/** A camera without one; counts how often it is given back. */
const FIXED = `
  globalThis.stopped = 0;
  const { stop } = MediaStreamTrack.prototype;
  MediaStreamTrack.prototype.getCapabilities = () => ({});
  MediaStreamTrack.prototype.stop = function () { stopped += 1; stop.call(this); };
`;

test("focus distances have even steps in 1/distance", () => {
  assertClose(focusSteps({ near: 0.25, far: 1, count: 4 }), [1 / 4, 1 / 3, 1 / 2, 1], 1e-12);
});

test(
  "where a camera's focus can be set, photos are taken at distances from near to far and opened as a stack",
  { timeout: 120_000 },
  async () => {
    const { page, problems, close } = await stand.visit({ script: FOCUS, permissions: ["camera"] });
    await find(page, TEST_IDS.openCamera).click();
    await find(page, TEST_IDS.cameraNear).waitFor();
    await find(page, TEST_IDS.cameraNear).fill("50"); // half way in 1/distance from 0.1 m to 10 m
    await find(page, TEST_IDS.camera).getByRole("combobox").selectOption("5");
    await find(page, TEST_IDS.cameraShoot).click();
    const planes = find(page, TEST_IDS.planes).locator("li");
    await planes.first().waitFor();
    assert.equal(await planes.count(), 5);
    const near = 2 / (1 / 0.1 + 1 / 10);
    const expected = focusSteps({ near, far: 10, count: 5 });
    const shown = await Promise.all([0, 1, 2, 3, 4].map((n) => find(page, `${TEST_IDS.distance}${n}`).inputValue()));
    assertClose(shown.map(Number), expected, 6e-4); // names have millimetres
    const settings = await page.evaluate<Record<string, unknown>[]>("settings");
    assert.ok(settings.some((each) => each["exposureMode"] === "manual"), "the exposure is held"); // prettier-ignore
    const focused = settings.flatMap(({ focusDistance }) => (typeof focusDistance === "number" ? [focusDistance] : []));
    assertClose(focused.slice(-5), expected, 1e-9);
    assert.deepEqual(problems, []);
    await close();
  },
);

test("a camera without such a focus is given back, with advice; without any camera there is no button", { timeout: 120_000 }, async () => {
  const fixed = await stand.visit({ script: FIXED, permissions: ["camera"] });
  await find(fixed.page, TEST_IDS.openCamera).click();
  await fixed.page.getByText(/does not let a page set its focus/).waitFor();
  assert.equal(await fixed.page.evaluate("stopped"), 1);
  await fixed.page.getByRole("button", { name: "Close the camera" }).click();
  await find(fixed.page, TEST_IDS.camera).waitFor({ state: "detached" });
  await fixed.close();
  const none = await stand.visit({ script: "navigator.mediaDevices.enumerateDevices = async () => [];" });
  await find(none.page, TEST_IDS.example + "desk").waitFor();
  assert.equal(await find(none.page, TEST_IDS.openCamera).count(), 0);
  await none.close();
});
