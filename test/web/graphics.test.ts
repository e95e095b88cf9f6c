import assert from "node:assert/strict";
import { test } from "node:test";

import { withPage } from "../helpers/browser.ts";

/** A slanted floor with a ball before it, by hand: 96 × 64 pixels, depths from 1 to 3 m. */
const script = `
  import { createRandom } from "../src/random.ts";
  import { refocusExactly } from "../web/src/refocus/reference.ts";
  import { planRefocus } from "../web/src/refocus/plan.ts";
  import { createRefocus } from "../web/src/refocus/refocus.ts";
  import { createScene3d } from "../web/src/scene3d/scene3d.ts";

  const [width, height] = [96, 64];
  const random = createRandom(1);
  const inBall = (i) => Math.hypot((i % width) - 20, Math.floor(i / width) - 20) < 12;
  const values = Float32Array.from({ length: width * height }, (_, i) => (inBall(i) ? 1 : 3 - Math.floor(i / width) / height));
  const data = Float32Array.from({ length: 3 * width * height }, (_, i) => {
    const [pixel, channel] = [Math.floor(i / 3), i % 3];
    const tone = 0.5 + 0.4 * Math.sin(pixel % width) * Math.cos(pixel / width / 2);
    return Math.min(Math.max((inBall(pixel) === (channel === 0) ? 1 : 0.5) * tone + 0.1 * random.uniform(), 0), 1);
  });
  const valid = new Uint8Array(width * height).fill(1);
  const result = {
    depth: { width, height, values, valid, space: "depth" },
    unit: "m",
    allInFocus: { width, height, channels: 3, data },
    camera: { focalLength: 0.05, fNumber: 2, pixelPitch: 2e-4 },
  };
  const canvas = document.createElement("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("style", "width: 480px; height: 320px; display: block");
  document.body.append(canvas);
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

  globalThis.refocused = async (setting) => {
    const view = createRefocus(canvas, { result, focusDistances: [] });
    view.set({ focus: 9, fNumber: 9 }); // overtaken by the next before it is drawn
    view.set(setting);
    await nextFrame();
    const copy = document.createElement("canvas");
    Object.assign(copy, { width: canvas.width, height: canvas.height });
    const context = copy.getContext("2d");
    context.drawImage(canvas, 0, 0);
    const shown = context.getImageData(0, 0, canvas.width, canvas.height).data;
    view.dispose();
    const exact = refocusExactly(planRefocus(result, { side: 1024 }), setting).data;
    const drawn = Float32Array.from(exact, (_, i) => shown[4 * Math.floor(i / 3) + (i % 3)] / 255);
    return { drawn: Array.from(drawn), exact: Array.from(exact), sharp: Array.from(data), kind: canvas.getContext("webgl2") ? "gpu" : "cpu" };
  };
  globalThis.photographed = async () => {
    const wide = { ...result, camera: { ...result.camera, fNumber: 0.8 } };
    const photo = (focus) => refocusExactly(planRefocus(wide, { side: 1024 }), { focus, fNumber: 0.8 });
    const distances = [1, 1.5, 2, 2.8];
    const view = createRefocus(canvas, { result: wide, focusDistances: distances });
    const used = view.use(distances.map(photo));
    const shots = [];
    for (const setting of [{ focus: 1.5, fNumber: 0.8 }, { focus: 1, fNumber: 1.2 }]) {
      view.draw(setting);
      const copy = document.createElement("canvas");
      Object.assign(copy, { width: canvas.width, height: canvas.height });
      const context = copy.getContext("2d");
      context.drawImage(canvas, 0, 0);
      const shown = context.getImageData(0, 0, canvas.width, canvas.height).data;
      const exact = refocusExactly(planRefocus(wide, { side: 1024 }), setting).data;
      shots.push({ drawn: Array.from(exact, (_, i) => shown[4 * Math.floor(i / 3) + (i % 3)] / 255), exact: Array.from(exact), sharp: Array.from(data) });
    }
    const saved = await view.picture({ focus: 1.5, fNumber: 0.8 }, "image/png");
    view.dispose();
    return { used, shots, saved: saved.type };
  };
  globalThis.openScene = () => {
    globalThis.measured = [];
    globalThis.scene = createScene3d(canvas, { result });
    scene.onMeasure((measurement) => measured.push(measurement ?? null));
    canvas.focus();
    return nextFrame();
  };
  globalThis.nextFrame = nextFrame;
`;

interface Refocused {
  readonly drawn: number[];
  readonly exact: number[];
  readonly sharp: number[];
  readonly kind: string;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const difference = (a: readonly number[], b: readonly number[]): number => mean(a.map((value, i) => Math.abs(value - (b[i] as number))));

test("the shader draws what disks with occlusion give, near and far focused, wide open and not", { timeout: 300_000 }, async (t) => {
  await withPage({ script, gpu: "graphics" }, async (page) => {
    for (const setting of [
      { focus: 1, fNumber: 0.8 },
      { focus: 2.8, fNumber: 0.8 },
      { focus: 1.5, fNumber: 1.4 },
    ]) {
      const { drawn, exact, sharp, kind } = await page.evaluate<Refocused>(`refocused(${JSON.stringify(setting)})`);
      const [error, effect] = [difference(drawn, exact), difference(sharp, exact)];
      t.diagnostic(`focus ${setting.focus} m, f/${setting.fNumber} (${kind}): error ${error.toFixed(4)}, effect ${effect.toFixed(4)}`);
      assert.equal(kind, "gpu");
      assert.ok(effect > 0.015 && error < 0.004 + 0.2 * effect, `${error} of ${effect}`);
    }
  });
});

test(
  "with the photographs, blur is theirs: the picture at one's focus and aperture is that photograph",
  { timeout: 300_000 },
  async (t) => {
    await withPage({ script, gpu: "graphics" }, async (page) => {
      const { used, shots, saved } = await page.evaluate<{ used: boolean; shots: Omit<Refocused, "kind">[]; saved: string }>(
        "photographed()",
      );
      assert.ok(used);
      assert.equal(saved, "image/png");
      for (const [i, limit] of [0.1, 0.35].entries()) {
        const { drawn, exact, sharp } = shots[i] as (typeof shots)[number];
        const [error, effect] = [difference(drawn, exact), difference(sharp, exact)];
        t.diagnostic(`${i === 0 ? "as photographed" : "a stop narrower"}: error ${error.toFixed(4)}, effect ${effect.toFixed(4)}`);
        assert.ok(effect > 0.005 && error < limit * effect + 0.004, `${error} of ${effect}`);
      }
    });
  },
);

test("without graphics the CPU refocuses, and the 3-D view says what is missing", { timeout: 300_000 }, async () => {
  await withPage(
    {
      script:
        `HTMLCanvasElement.prototype.getContext = ((original) => function (kind, ...rest) {
    return kind === "webgl2" ? null : original.call(this, kind, ...rest);
  })(HTMLCanvasElement.prototype.getContext);` + script,
    },
    async (page) => {
      const { drawn, exact, kind } = await page.evaluate<Refocused>(`refocused({ focus: 1, fNumber: 1.4 })`);
      assert.equal(kind, "cpu");
      assert.ok(difference(drawn, exact) < 0.003, "but for rounding");
      await assert.rejects(page.evaluate("openScene()"), /needs WebGL 2/);
    },
  );
});

test("the surface turns by mouse and keys, stretches, and is measured in metres however it is seen", { timeout: 300_000 }, async () => {
  await withPage({ script, gpu: "graphics" }, async (page) => {
    await page.evaluate("openScene()");
    const canvas = page.locator("canvas");
    const look = async (): Promise<string> => {
      await page.evaluate("nextFrame()");
      return (await canvas.screenshot()).toString("base64");
    };
    const seen = [await look()];
    const changed = async (what: string): Promise<void> => {
      const now = await look();
      assert.ok(!seen.includes(now), what);
      seen.push(now);
    };
    await page.mouse.move(240, 160);
    await page.mouse.down();
    await page.mouse.move(330, 190, { steps: 4 });
    await page.mouse.up();
    await changed("dragging turns");
    for (const key of ["ArrowLeft", "ArrowUp", "+"]) {
      await page.keyboard.press(key);
      await changed(`${key} changes the view`);
    }
    await page.keyboard.press("Home");
    assert.equal(await look(), seen[0], "Home shows the first view again");
    await page.evaluate("scene.setExaggeration(3)");
    await changed("exaggeration stretches");
    await page.evaluate("scene.setExaggeration(1)");
    for (const command of ['face("side")', 'face("front")', 'drawAs("points")', 'drawAs("wireframe")']) {
      await page.evaluate(`scene.${command}`);
      await changed(command);
    }
    await page.evaluate('scene.drawAs("surface"); scene.startTurning(() => { globalThis.held = true; })');
    await page.waitForTimeout(300);
    await changed("it turns by itself");
    assert.equal(await page.evaluate("globalThis.held"), undefined);
    await page.mouse.click(240, 160); // taking hold stops it
    assert.equal(await page.evaluate("globalThis.held"), true);
    await page.keyboard.press("Home");
    assert.equal(await look(), seen[0], "and it stays where it is put");
    await page.evaluate("scene.startRuler()");
    await page.mouse.click(200, 180);
    await page.mouse.click(340, 220);
    const [first, second] = await page.evaluate<(string | null)[]>("measured");
    const millimetres = Number(/^(\d+) mm/.exec(second ?? "")?.[1]);
    assert.ok(first === null && millimetres > 200 && millimetres < 1000, `${second} across part of the floor`);
    await changed("the ruler is drawn");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    assert.match((await page.evaluate<(string | null)[]>("measured")).at(-1) ?? "", /^0 /, "twice the same point, by the keyboard");
    await page.evaluate("scene.stopRuler(); scene.dispose()");
    assert.equal((await page.evaluate<(string | null)[]>("measured")).at(-1), null);
  });
});
