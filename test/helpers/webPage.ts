import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

import { startWebServer, type WebServer } from "../../src/cli/webServer.ts";
import { openSite } from "../../src/cli/webSite.ts";
import type { Image } from "../../src/image/image.ts";
import { decodePng, encodePng } from "../../src/io/png.ts";
import { TEST_IDS, type View } from "../../web/src/contract.ts";
import type { CallName } from "../../web/src/worker/protocol.ts";
import { CHROMIUM, GPU, QUIET } from "./browser.ts";

/** How long a step may take [ms]: machines that test are busy, and everything here is computed without a graphics card. */
const PATIENCE = 120_000;

const root = join(import.meta.dirname, "..", "..");

/** The page as `dualfocus web` serves it, and a browser to look at it with. */
export interface Stand {
  readonly url: string;
  readonly server: WebServer;
  /** A new tab that shares nothing with the others. */
  visit(options?: VisitOptions): Promise<Visit>;
  readonly close: () => Promise<void>;
}

export interface VisitOptions extends Pick<
  BrowserContextOptions,
  "viewport" | "colorScheme" | "serviceWorkers" | "hasTouch" | "permissions"
> {
  /** Runs in the page before its own scripts. */
  readonly script?: string;
  /** For instance `?device=wasm&threads=1`. */
  readonly query?: string;
  /** Instead of the stand's own. */
  readonly url?: string;
}

export interface Visit {
  readonly page: Page;
  /** Console errors, uncaught errors and failed requests, in words. */
  readonly problems: string[];
  /** Every address that was asked for. */
  readonly requests: string[];
  readonly close: () => Promise<void>;
}

/** One for all tests of a file. Needs the built page: `npm test` and `npm run build` see to that. */
export async function openStand({
  gpu = "graphics",
  flags = [],
}: { gpu?: keyof typeof GPU; flags?: readonly string[] } = {}): Promise<Stand> {
  const server = await startWebServer(openSite(root), { host: "localhost", port: 0 });
  const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: [...QUIET, ...GPU[gpu], ...flags] });
  return {
    url: server.url,
    server,
    visit: (options = {}) => visit(browser, server.url, options),
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

async function visit(
  browser: Browser,
  stand: string,
  { query = "?device=wasm", url = stand, script, ...options }: VisitOptions,
): Promise<Visit> {
  const context = await browser.newContext({ acceptDownloads: true, serviceWorkers: "block", reducedMotion: "reduce", ...options });
  const [problems, requests]: [string[], string[]] = [[], []];
  context.on("console", (message) => {
    const isOurs = !message.text().includes("blocked by Playwright"); // which says so where it keeps service workers out
    if (isOurs && ["error", "warning"].includes(message.type())) problems.push(`console ${message.type()}: ${message.text()}`);
  });
  context.on("weberror", (error) => problems.push(`uncaught: ${error.error().message}`));
  context.on("request", (request) => requests.push(request.url()));
  context.setDefaultTimeout(PATIENCE);
  if (script !== undefined) await context.addInitScript(script);
  const page = await context.newPage();
  await page.goto(url + query);
  return { page, problems, requests, close: () => context.close() };
}

export const find = (page: Page, id: string) => page.getByTestId(id);

/** A visit's `script` with which a test can follow what the page asks of its worker, and keep answers from the page. */
export const WATCHED_WORKER = `{
  const [open, held, kept] = [new Map(), new Set(), []];
  window.watchedWorker = {
    open, // call by id, until the page has its answer
    hold: (call) => void held.add(call),
    release: () => {
      held.clear();
      for (const deliver of kept.splice(0)) deliver();
    },
  };
  window.Worker = class extends Worker {
    constructor(...from) {
      super(...from);
      this.addEventListener("message", (event) => {
        const { data, isTrusted } = event;
        if (!open.has(data?.id) || "event" in data) return;
        if (isTrusted && "answer" in data && held.has(open.get(data.id))) {
          event.stopImmediatePropagation();
          kept.push(() => this.dispatchEvent(new MessageEvent("message", { data })));
        } else open.delete(data.id);
      });
    }
    postMessage(request, ...rest) {
      if (request?.call !== undefined) open.set(request.id, request.call);
      super.postMessage(request, ...rest);
    }
  };
}`;

/** Keeps the worker's answers to these calls from the page, which waits for them, until what this returns is called. Needs `WATCHED_WORKER`. */
export async function holdAnswers(page: Page, call: CallName): Promise<() => Promise<void>> {
  await page.evaluate(`watchedWorker.hold("${call}")`);
  return () => page.evaluate("watchedWorker.release()");
}

/** Waits until the page has the answers to all these calls. Needs `WATCHED_WORKER`. */
export async function answered(page: Page, call: CallName): Promise<void> {
  type Watched = typeof globalThis & { readonly watchedWorker: { readonly open: ReadonlyMap<number, CallName> } };
  await page.waitForFunction((name) => ![...(globalThis as Watched).watchedWorker.open.values()].includes(name), call);
}

/** Waits until the network can be used; says on which device. */
export async function ready(page: Page): Promise<{ device: string | null; threads: string | null; reason: string }> {
  const engine = find(page, TEST_IDS.engine);
  await page.locator(`[data-testid="${TEST_IDS.engine}"][data-status="ready"]`).waitFor();
  return {
    device: await engine.getAttribute("data-device"),
    threads: await engine.getAttribute("data-threads"),
    reason: (await engine.textContent()) ?? "",
  };
}

/** Drops files, as a hand would, onto the page. */
export async function drop(page: Page, files: readonly { readonly name: string; readonly bytes: Uint8Array }[]): Promise<void> {
  const sent = files.map(({ name, bytes }) => ({ name, base64: Buffer.from(bytes).toString("base64") }));
  const dataTransfer = await page.evaluateHandle((all) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of all) transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    return transfer;
  }, sent);
  await page.locator("main").dispatchEvent("drop", { dataTransfer });
}

/** The files of a shipped example, as a user would drop them. */
export function exampleFiles(name: string): { name: string; bytes: Uint8Array }[] {
  const folder = join(root, "examples", name);
  const files = readdirSync(folder).filter((file) => /^(plane_\d+\.png|stack\.json)$/.test(file));
  return files.map((file) => ({ name: file, bytes: readFileSync(join(folder, file)) }));
}

export const SMALL_SIDE = 64;

/** The middle of the desk: quick to compute. */
export function smallStack(): { name: string; bytes: Uint8Array }[] {
  return exampleFiles("desk").map(({ name, bytes }) =>
    name.endsWith(".png") ? { name, bytes: encodePng(middleOf(decodePng(bytes), SMALL_SIDE), { depth: 8 }) } : { name, bytes },
  );
}

function middleOf({ width, height, channels, data }: Image, side: number): Image {
  const [left, top] = [Math.floor((width - side) / 2), Math.floor((height - side) / 2)];
  const cut = new Float32Array(side * side * channels);
  for (let y = 0; y < side; y++) {
    const from = ((top + y) * width + left) * channels;
    cut.set(data.subarray(from, from + side * channels), y * side * channels);
  }
  return { width: side, height: side, channels, data: cut };
}

/** From a ready page to the result of what was dropped or clicked. */
export const finished = (page: Page): Promise<void> => find(page, TEST_IDS.result).waitFor();

export const show = (page: Page, view: View): Promise<void> => find(page, TEST_IDS.tab + view).click();

/** Clicks a download and hands its bytes over. */
export async function download(page: Page, id: string): Promise<{ name: string; bytes: Uint8Array }> {
  const [event] = await Promise.all([page.waitForEvent("download"), find(page, id).click()]);
  const folder = mkdtempSync(join(tmpdir(), "dualfocus-download-"));
  try {
    const file = join(folder, "file");
    await event.saveAs(file);
    return { name: event.suggestedFilename(), bytes: await readFile(file) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A picture of an element, to see whether it changed. */
export const look = async (page: Page, id: string): Promise<string> => (await find(page, id).screenshot()).toString("base64");

/** Reads until what is read is wanted, or the patience ends; returns what was read last. */
export async function readUntil<T>(read: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  const limit = performance.now() + PATIENCE;
  let value = await read();
  while (!isWanted(value) && performance.now() < limit) value = await read();
  return value;
}

/** Waits until an element looks other than `before`. */
export async function changed(page: Page, id: string, before: string): Promise<string> {
  const now = await readUntil(
    () => look(page, id),
    (each) => each !== before,
  );
  if (now === before) throw new Error(`${id} still looks the same`);
  return now;
}
