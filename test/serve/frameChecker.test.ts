import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createFrameChecker } from "../../src/serve/frameChecker.ts";
import { DEFAULT_LIMITS } from "../../src/serve/limits.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { rawTiff, tiffBomb } from "../io/hostileTiff.ts";
import { picture, tiff } from "./hostileFiles.ts";
import { stackForm, withServer } from "./server.ts";

const folder = temporaryFolder();
const program = new URL("./stuckChecker.ts", import.meta.url);

function file(name: string, bytes = new Uint8Array(10)): string {
  const path = join(folder, name);
  put(path, bytes);
  return path;
}

interface Stuck {
  readonly pid: number;
}

test("headers are checked in another process, and what it finds comes back whole", async () => {
  const check = createFrameChecker();
  const [png, pages] = [file("a", await picture(64, 48)), file("b", tiff([{}, {}]))];
  assert.deepEqual(await check([png, pages], DEFAULT_LIMITS), [
    { file: png, ending: "png", width: 64, height: 48, pages: 1, planes: [{ page: 0 }] },
    { file: pages, ending: "tif", width: 64, height: 48, pages: 2, planes: [{ page: 0 }, { page: 1 }] },
  ]);
  const limits = { ...DEFAULT_LIMITS, frames: 2 };
  await assert.rejects(check([png, pages], limits), { code: "too-large", message: /have 3 pages; at most 2/ });
  await assert.rejects(check([png, file("c", new Uint8Array())], limits), (error: Error & { cause: unknown }) => {
    assert.match(error.message, /image 2 is empty/);
    assert.equal((error.cause as { code?: string }).code, "bad-file");
    return true;
  });
  await assert.rejects(check([join(folder, "gone")], limits), { code: "ENOENT" });
});

test("a check that never ends, takes all memory or crashes costs its own process only, and the next one gets another", async () => {
  const check = createFrameChecker({ program, seconds: 1, memory: 400 << 20 });
  await assert.rejects(check([file("forever")], DEFAULT_LIMITS), {
    code: "invalid",
    message: /image 1 could not be checked: .*longer than 1 s/,
  });
  const patient = createFrameChecker({ program, memory: 400 << 20, seconds: 600 });
  await assert.rejects(patient([file("memory")], DEFAULT_LIMITS), { code: "invalid", message: /more than 400 MB of memory/ });
  await assert.rejects(patient([file("crash")], DEFAULT_LIMITS), { code: "invalid", message: /could not be checked/ });
  assert.equal((await check([file("good")], DEFAULT_LIMITS)).length, 1);
});

test("a process is kept for the next check, then ended when it has nothing to do", async () => {
  const check = createFrameChecker({ program, idleSeconds: 0.2 });
  const pid = async (): Promise<number> => ((await check([file("good")], DEFAULT_LIMITS))[0] as unknown as Stuck).pid;
  const first = await pid();
  assert.equal(await pid(), first);
  const isAlive = (): boolean => {
    try {
      return process.kill(first, 0);
    } catch {
      return false;
    }
  };
  while (isAlive()) await setTimeout(50);
  assert.notEqual(await pid(), first);
});

test(
  "the TIFF that stopped the server for 20 seconds, and its kin, are refused without the server's memory",
  { timeout: 120_000 },
  async () => {
    const kin = [258, 273, 279, 339, 347].map((tag) => tiffBomb({ tag, type: tag === 258 || tag === 339 ? 3 : 4 }));
    const big = tiffBomb({ tag: 279, type: 16, count: 2 ** 40, big: true });
    const round = rawTiff([[{ tag: 330, type: 4, value: 8 }]]);
    await withServer({}, async ({ url }) => {
      const send = (bytes: Uint8Array<ArrayBuffer>): Promise<Response> =>
        fetch(`${url}/v1/depth`, { method: "POST", body: stackForm([bytes]) });
      await send(await picture(64, 48)); // everything is loaded now
      const before = process.resourceUsage().maxRSS;
      for (const bytes of [tiffBomb(), ...kin, big, round]) {
        const sent = send(bytes);
        assert.equal((await fetch(`${url}/v1/health/live`)).status, 200);
        assert.equal((await sent).status, 422);
      }
      const grown = (process.resourceUsage().maxRSS - before) / 1024;
      assert.ok(grown < 150, `the server grew by ${grown} MB`);
    });
  },
);
