import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { Image } from "../../../src/image/image.ts";
import { encodePng } from "../../../src/io/png.ts";
import type { DepthNetwork } from "../../../src/network/depthNetwork.ts";
import type { FocalStack } from "../../../src/stack/focalStack.ts";
import type { NetworkEngine } from "../../../web/src/worker/engine.ts";
import { firstLook } from "../../../web/src/worker/firstLook.ts";
import { checkJob, openJob, refocusJob, runJob, type Caller, type Job } from "../../../web/src/worker/job.ts";
import type { Event } from "../../../web/src/worker/protocol.ts";
import { slantedStack } from "../../helpers/texturedStack.ts";
import { warpImage } from "../../helpers/warp.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "examples", "breathing");

/** Photos in this order, without distances. No thumbnails: they need a browser. */
async function opened(name: string, photos: readonly Uint8Array[], caller: Caller): Promise<Job> {
  const files = photos.map((photo, n) => {
    const path = `${String(n).padStart(2, "0")}.png`;
    return { path, file: new File([Uint8Array.from(photo)], path) };
  });
  const job = await openJob({ name, files, notes: [] }, caller);
  for (const frame of job.source.frames) job.shown.add(frame);
  return job;
}

/** The images of the hand-held example, whose focus breathing shows which end is near, from far to near. */
function farFirst(caller: Caller): Promise<Job> {
  const names = readdirSync(folder).filter((name) => name.startsWith("plane_"));
  return opened("far first", names.reverse().map((name) => readFileSync(join(folder, name))), caller); // prettier-ignore
}

class Enough extends Error {}

/** Keeps what it is given and stops there. */
function watching(): { readonly network: DepthNetwork; readonly seen: FocalStack[] } {
  const seen: FocalStack[] = [];
  const predict = (stack: FocalStack): Promise<never> => {
    seen.push(stack);
    return Promise.reject(new Enough());
  };
  return { network: { predict } as unknown as DepthNetwork, seen };
}

function listening(): { readonly caller: Caller; readonly stages: () => string[] } {
  const events: Event[] = [];
  const caller = { signal: new AbortController().signal, onEvent: (event: Event) => events.push(event) };
  return { caller, stages: () => [...new Set(events.flatMap((event) => (event.kind === "stage" ? [event.stage] : [])))] };
}

const engineOf = (network: DepthNetwork): NetworkEngine => ({ network, info: { device: "wasm", threads: 1, reason: "" }, seconds: 0 });
const meanOf = ({ data }: Image): number => data.reduce((sum, value) => sum + value, 0) / data.length;
const ends = ({ images }: FocalStack): number[] => [meanOf(images[0] as Image), meanOf(images.at(-1) as Image)];

test("a first look at a stack of unknown order waits for it, and then has the nearest image first", { timeout: 120_000 }, async () => {
  const { caller } = listening();
  const job = await farFirst(caller);
  const [look, run] = [watching(), watching()];
  const looking = firstLook(job, look.network, caller);
  looking.catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(look.seen.length, 0);
  await assert.rejects(runJob(job, { align: true, engine: engineOf(run.network), caller }), Enough);
  await assert.rejects(looking, Enough);
  const [first, full] = [look.seen[0], run.seen[0]] as [FocalStack, FocalStack];
  const [near, far] = ends(full) as [number, number];
  assert.ok(near > far, "the near end of the example is the brighter one");
  assert.ok((ends(first)[0] as number) > (ends(first)[1] as number), `inside out: ${ends(first).join()}`);
});

test("a run takes the alignment and the findings over from the check, unless something changed since", { timeout: 120_000 }, async () => {
  const checking = listening();
  const unchecked = await farFirst(checking.caller);
  const { job, answer } = await checkJob(unchecked, true, checking.caller);
  assert.deepEqual(checking.stages(), ["open", "read", "align", "check"]);
  assert.equal(answer.order.certainty === "unknown", false);
  const stagesOf = async (each: Job, align: boolean): Promise<{ stages: string[]; seen: FocalStack[] }> => {
    const [{ network, seen }, { caller, stages }] = [watching(), listening()];
    await assert.rejects(runJob(each, { align, engine: engineOf(network), caller }), Enough);
    return { stages: stages().filter((stage) => stage !== "read"), seen }; // larger copies are read again
  };
  const kept = await stagesOf(job, true);
  assert.deepEqual(kept.stages, []); // alignment and findings were there
  const fresh = await stagesOf(unchecked, true);
  assert.deepEqual(fresh.stages, ["align", "check"]);
  assert.deepEqual(kept.seen[0]?.images, fresh.seen[0]?.images);
  assert.deepEqual((await stagesOf(job, false)).stages, ["check"]);
  const turned = await refocusJob(job, { unit: "index", order: [...job.source.frames].reverse() });
  assert.deepEqual((await stagesOf(turned, true)).stages, ["check"]);
});

test("shuffled photos are aligned in the order they are sorted into after a check, too", { timeout: 120_000 }, async () => {
  const { stack } = slantedStack({ width: 192, height: 128, planes: 7, blurPerPlane: 1 });
  const shaken = stack.images.map((image, n) =>
    warpImage(image, { scale: 1, angle: 0, shift: [3 * Math.sin(2 * n + 1), 3 * Math.cos(3 * n + 1)] }),
  );
  const shuffled = [3, 0, 5, 2, 6, 1, 4].map((n) => encodePng(shaken[n] as Image));
  const { caller } = listening();
  const unchecked = await opened("shuffled", shuffled, caller);
  const { job, answer } = await checkJob(unchecked, true, caller);
  assert.ok(answer.order.sorted);
  const seenBy = async (each: Job): Promise<FocalStack | undefined> => {
    const { network, seen } = watching();
    await assert.rejects(runJob(each, { align: true, engine: engineOf(network), caller }), Enough);
    return seen[0];
  };
  assert.deepEqual((await seenBy(job))?.images, (await seenBy(unchecked))?.images);
});

test("an opening that is cancelled is rejected, whether images are still unread or all of them known", async () => {
  const controller = new AbortController();
  let probed = 0;
  const onEvent = (): void => {
    probed += 1;
    controller.abort();
  };
  await assert.rejects(farFirst({ signal: controller.signal, onEvent }), { name: "AbortError" });
  assert.equal(probed, 1);

  const late = new AbortController();
  const names = ["plane_00.png", "plane_01.png"];
  const images = names.map((path) => ({ path, file: new File([readFileSync(join(folder, path))], path) }));
  const cancelling = Object.assign(new File(["0.5\n1\n"], "distances.txt"), {
    text: () => {
      late.abort();
      return Promise.resolve("0.5\n1\n");
    },
  });
  const ask = { name: "late", files: [...images, { path: "distances.txt", file: cancelling }], notes: [] };
  await assert.rejects(openJob(ask, { signal: late.signal, onEvent: () => undefined }), { name: "AbortError" });
});
