import { hasFocusChange } from "../../src/check/finding.ts";
import type { Image } from "../../src/image/image.ts";
import { Cancelled, WorkerProblem, type Client } from "./client.ts";
import type { View, ViewResult } from "./contract.ts";
import { fetchExample, type Example } from "./examples.ts";
import { moved, readDraft, turned, withFrame, withoutFrame, type Draft } from "./state/distances.ts";
import type { Look } from "./state/look.ts";
import { advance, begin, expectedWork, learnedRates, replanned, type Progress, type StageStep, type Work } from "./state/progress.ts";
import { INITIAL, shownDraft, type Place, type State } from "./state/state.ts";
import { turnedFigures, turnedResult } from "./state/turn.ts";
import { sentence } from "./state/words.ts";
import { loadResult, MOST_FILE_BYTES, removeResult, storedFacts, storeResult, type StoredResult } from "./storage/lastResult.ts";
import { storedRates, storeRates } from "./storage/rates.ts";
import type { Store } from "./store.ts";
import { freeThumbnail, thumbnailBlob, thumbnailUrl } from "./thumbnails.ts";
import type { EngineWish, Event, OpenedStack, Problem, RunResult, Thumbnail, UnpackedFiles, UserFile } from "./worker/protocol.ts";

/** The user's actions. */
export interface Controller {
  start(ask: EngineWish & { readonly page: string }): Promise<void>;
  /** Looks for a stored result; shows it if the page's address names a place that only it can fill. */
  restore(wanted: Place): Promise<void>;
  open(name: string, files: readonly UserFile[]): Promise<void>;
  openExample(example: Example): Promise<void>;
  cancelOpening(): void;
  /** Stores what is being typed, so that rendering does not discard it; `edit` applies it. */
  type(draft: Draft): void;
  edit(draft: Draft): Promise<void>;
  /** Puts an image at another place of the order, from 0. */
  move(frame: number, to: number): Promise<void>;
  leaveOut(frame: number): Promise<void>;
  putBack(frame: number): Promise<void>;
  /** Reverses the order of the images: of the stack before a run, of the result after it. */
  turnStack(): Promise<void>;
  turnResult(): Promise<void>;
  setAlign(align: boolean): void;
  run(): Promise<void>;
  cancel(): void;
  show(view: View): void;
  /** Changes how the result is looked at, in all tabs. */
  setLook(look: Partial<Look>): void;
  loadFigures(): Promise<void>;
  /** One plane in working size, aligned. */
  picture(plane: number): Promise<Image>;
  go(place: Place): void;
  /** Shows the last result, from storage if it is not in memory. */
  openLast(): Promise<void>;
  /** Deletes the stored result. */
  forget(): Promise<void>;
  dismissProblem(): void;
}

interface Context {
  readonly store: Store;
  readonly client: Client;
  /** Running tasks that can be cancelled. */
  readonly tasks: { opening: AbortController; editing: AbortController; checking: AbortController; running: AbortController };
  /** What was opened last, to be stored with its result. */
  opened: (UnpackedFiles & { readonly stack: number; readonly name: string }) | undefined;
}

export function createController(store: Store, client: Client): Controller {
  const context: Context = {
    store,
    client,
    tasks: {
      opening: new AbortController(),
      editing: new AbortController(),
      checking: new AbortController(),
      running: new AbortController(),
    },
    opened: undefined,
  };
  const { get, dispatch } = store;
  return {
    start: (ask) => start(context, ask),
    restore: (wanted) => restore(context, wanted),
    open: async (name, files) => {
      if (await open(context, name, files)) await check(context);
    },
    openExample: (example) => openExample(context, example),
    cancelOpening: () => {
      context.tasks.opening.abort();
    },
    type: (draft) => {
      dispatch({ kind: "draft", draft });
    },
    edit: (draft) => edit(context, draft),
    move: (frame, to) => edit(context, moved(shownDraft(get()), frame, to)),
    leaveOut: (frame) => edit(context, withoutFrame(shownDraft(get()), frame)),
    putBack: (frame) => edit(context, withFrame(shownDraft(get()), frame)),
    turnStack: () => edit(context, turned(shownDraft(get()))),
    turnResult: () => turnResult(context),
    setAlign: (align) => {
      dispatch({ kind: "align", align });
      void check(context);
    },
    run: () => run(context),
    cancel: () => {
      stopRun(context);
    },
    show: (view) => {
      dispatch({ kind: "view", view });
    },
    setLook: (look) => {
      dispatch({ kind: "look", look });
    },
    loadFigures: () => loadFigures(context),
    picture: (plane) => client.call("picture", { plane }),
    go: (place) => {
      stopRun(context);
      dispatch({ kind: "go", place });
      checkIfNeeded(context);
    },
    openLast: async () => {
      if (get().result) dispatch({ kind: "go", place: "result" });
      else await restore(context, "result");
    },
    forget: async () => {
      await removeResult().catch(() => undefined);
      dispatch({ kind: "forget" });
    },
    dismissProblem: () => {
      dispatch({ kind: "problem", problem: undefined });
    },
  };
}

async function start(context: Context, ask: EngineWish & { readonly page: string }): Promise<void> {
  const { store, client } = context;
  const { dispatch } = store;
  const onEvent = (event: Event): void => {
    if (event.kind === "stage") dispatch({ kind: "engine", engine: { status: "loading", progress: event } });
  };
  try {
    dispatch({ kind: "engine", engine: { status: "ready", ...(await client.call("start", ask, { onEvent })) } });
    step(store, { stage: "graph", done: 1, of: 1 });
  } catch (error) {
    dispatch({ kind: "engine", engine: { status: "failed", problem: problemOf(error) } });
  }
}

/** Returns whether the stack could be opened. Until then all stays as it is: a bad drop takes nothing away. */
async function open(context: Context, name: string, given: readonly UserFile[]): Promise<boolean> {
  const { store, client, tasks } = context;
  tasks.checking.abort();
  tasks.opening = new AbortController();
  const { signal } = tasks.opening;
  const onEvent = (event: Event): void => {
    if (event.kind !== "stage") return;
    store.dispatch({ kind: "opening", opening: event });
    step(store, event);
  };
  store.dispatch({ kind: "opening", opening: { stage: "open", done: 0, of: given.length } });
  try {
    const unpacked = await client.call("unpack", { files: given }, { signal, onEvent });
    const stack = await client.call("open", { name, ...unpacked }, { signal, onEvent });
    forgetThumbnails(store);
    context.opened = { stack: stack.id, name, ...unpacked };
    store.dispatch({ kind: "opened", stack });
    return true;
  } catch (error) {
    store.dispatch({ kind: "problem", problem: error instanceof Cancelled ? undefined : problemOf(error) });
    if (store.get().check.status === "busy") store.dispatch({ kind: "check", check: { status: "waiting" } });
    checkIfNeeded(context);
    return false;
  }
}

/** Opens an example and runs it at once, with one bar for both. */
async function openExample(context: Context, example: Example): Promise<void> {
  const { store, tasks } = context;
  tasks.running = new AbortController();
  const { signal } = tasks.running;
  store.dispatch({ kind: "run", progress: runProgress(INITIAL) });
  try {
    const files = await fetchExample(example);
    if (signal.aborted || !(await open(context, example.title, files))) return;
    if (store.get().run) await run(context);
    else checkIfNeeded(context); // cancelled meanwhile
  } catch (error) {
    store.dispatch({ kind: "problem", problem: problemOf(error) });
  }
}

function stopRun({ store, tasks }: Context): void {
  tasks.running.abort();
  if (store.get().run) store.dispatch({ kind: "run", progress: undefined });
}

async function check(context: Context): Promise<void> {
  const { store, client, tasks } = context;
  tasks.checking.abort();
  tasks.checking = new AbortController();
  const { signal } = tasks.checking;
  const { read, align, check: checking } = workOf(store.get());
  const work = { read, align: store.get().align ? align : 0, check: checking };
  store.dispatch({ kind: "check", check: { status: "busy", progress: begin(work, { now: seconds() }) } });
  const onEvent = (event: Event): void => {
    if (event.kind === "stage" && !signal.aborted) step(store, event);
  };
  try {
    const answer = await client.call("check", { align: store.get().align }, { signal, onEvent });
    store.dispatch({ kind: "check", check: { status: "done", ...answer } });
  } catch (error) {
    if (!(error instanceof Cancelled)) store.dispatch({ kind: "check", check: { status: "failed", problem: problemOf(error) } });
  }
}

/** An example that was stopped has not been checked yet; neither has a restored stack. */
function checkIfNeeded(context: Context): void {
  const { place, stack, run: running, check: state } = context.store.get();
  if (place === "setup" && stack && !running && state.status === "waiting") void check(context);
}

async function edit(context: Context, draft: Draft): Promise<void> {
  const { store, client, tasks } = context;
  store.dispatch({ kind: "draft", draft });
  const read = readDraft(draft);
  if (!store.get().stack || "unfinished" in read) return;
  if ("wrong" in read) {
    const message = `“${read.text}” is not a distance`;
    store.dispatch({
      kind: "unfocused",
      problem: {
        message,
        remedy:
          "Enter a number such as 0.65, or 650 mm. For all images: one number for each, or the first and the step, such as 150mm+0.1mm.",
      },
    });
    return;
  }
  tasks.checking.abort();
  tasks.editing.abort(); // the answer to an earlier change would undo this one
  tasks.editing = new AbortController();
  const { signal } = tasks.editing;
  try {
    store.dispatch({ kind: "focused", stack: await client.call("focus", read.choice, { signal }) });
    void check(context);
  } catch (error) {
    if (!(error instanceof Cancelled)) store.dispatch({ kind: "unfocused", problem: problemOf(error) });
  }
}

/** A check that is under way goes on, and the run takes over what it has found. */
async function run(context: Context): Promise<void> {
  const { store, client, tasks } = context;
  tasks.running.abort();
  tasks.running = new AbortController();
  const { signal } = tasks.running;
  const onEvent = (event: Event): void => {
    if (event.kind === "stage") step(store, event);
  };
  const { stack, align } = store.get();
  const { run: begun } = store.get();
  const planned = runProgress(store.get());
  store.dispatch({ kind: "run", progress: begun ? replanned(begun, planned) : planned });
  const looking = client.call("firstLook", {}, { signal });
  looking.then(
    (look) => {
      if (!signal.aborted) store.dispatch({ kind: "firstLook", look });
    },
    () => undefined, // whatever is wrong, the run says it
  );
  try {
    const result = await client.call("run", { align }, { signal, onEvent });
    learn(result);
    const before = store.get();
    store.dispatch({ kind: "engine", engine: { status: "ready", ...result.engine } });
    store.dispatch({ kind: "result", result: withThumbnails(result, before), stack: stack?.id });
    revokeUnused(before, store.get());
    void keep(context);
  } catch (error) {
    if (error instanceof Cancelled) checkIfNeeded(context);
    else store.dispatch({ kind: "problem", problem: problemOf(error) });
  }
}

async function turnResult(context: Context): Promise<void> {
  const { store, client } = context;
  const { result, figures } = store.get();
  if (!result) return;
  const stack = await client.call("turn", {});
  store.dispatch({
    kind: "turned",
    result: turnedResult(result),
    stack,
    figures: figures.status === "done" ? { status: "done", ...turnedFigures(figures, result.planes.length) } : figures,
  });
  await keep(context);
}

/** Stores the result in the browser, replacing the one before. */
async function keep({ store, client, opened }: Context): Promise<void> {
  const { result, resultStack, align, draft, stack, thumbnails } = store.get();
  if (!result) return;
  store.dispatch({ kind: "stored", stored: { status: "busy" } });
  try {
    const read = readDraft(draft);
    const bytes = opened?.files.reduce((sum, { file }) => sum + file.size, 0) ?? Infinity;
    const isWhole =
      opened && stack && opened.stack === resultStack && stack.id === resultStack && "choice" in read && bytes <= MOST_FILE_BYTES;
    const stored: StoredResult = {
      view: { ...result, planes: result.planes.map((plane) => ({ ...plane, thumbnail: "" })) },
      images: await client.call("pack", {}),
      thumbnails: blobsOf(isWhole ? thumbnails : byPlane(result)),
      align,
      ...(isWhole ? { opened: { name: opened.name, files: opened.files, notes: opened.notes, focus: read.choice } } : {}),
    };
    store.dispatch({ kind: "stored", stored: { status: "stored", ...(await storeResult(stored)) } });
  } catch {
    store.dispatch({ kind: "stored", stored: { status: "failed" } }); // no storage, or not enough: the browser asks before it closes the page
  }
}

const byPlane = ({ planes }: ViewResult): Record<number, string> =>
  Object.fromEntries(planes.flatMap(({ thumbnail }, n) => (thumbnail === "" ? [] : [[n, thumbnail]])));

const blobsOf = (urls: Readonly<Record<number, string>>): Record<number, Blob> =>
  Object.fromEntries(
    Object.entries(urls).flatMap(([frame, url]) => {
      const blob = thumbnailBlob(url);
      return blob ? [[frame, blob]] : [];
    }),
  );

async function restore(context: Context, wanted: Place): Promise<void> {
  const { store, client } = context;
  const { dispatch, get } = store;
  try {
    const facts = await storedFacts();
    const stored = facts && wanted !== "start" ? await loadResult() : undefined;
    if (stored && get().place === "start" && !get().run && !get().opening) {
      const stack = await client.call("restore", storedJob(stored));
      if (stored.opened && stack) context.opened = { ...stored.opened, stack: stack.id };
      const urls = Object.fromEntries(Object.entries(stored.thumbnails).map(([frame, blob]) => [frame, thumbnailUrl(blob)]));
      const thumbnails = urls as Record<number, string>;
      dispatch({ kind: "restored", result: restoredView(stored, { stack, thumbnails }), stack, align: stored.align, thumbnails });
      if (wanted === "setup") dispatch({ kind: "go", place: "setup" });
    }
    dispatch({ kind: "stored", stored: facts ? { status: "stored", ...facts } : { status: "none" } });
    checkIfNeeded(context);
  } catch {
    await removeResult().catch(() => undefined);
    dispatch({ kind: "stored", stored: { status: "none" } });
  }
}

const storedJob = ({ view, images, opened }: StoredResult) => ({
  stack: { ...images, focusDistances: view.focusDistances, space: view.result.depth.space },
  ...(opened ? { files: opened } : {}),
});

function restoredView(
  { view }: StoredResult,
  { stack, thumbnails }: { stack: OpenedStack | undefined; thumbnails: Readonly<Record<number, string>> },
): ViewResult {
  const frameOf = (file: string, n: number): number => stack?.planes.find((plane) => plane.file === file)?.frame ?? n;
  const single = new Set(view.planes.map(({ file }) => file)).size === 1; // pages of one file
  return {
    ...view,
    focusChange: hasFocusChange(view.findings), // results stored by earlier versions do not say it
    planes: view.planes.map((plane, n) => ({ ...plane, thumbnail: thumbnails[single ? n : frameOf(plane.file, n)] ?? "" })),
  };
}

async function loadFigures({ store: { get, dispatch }, client }: Context): Promise<void> {
  if (get().figures.status === "busy" || get().figures.status === "done") return;
  dispatch({ kind: "figures", figures: { status: "busy" } });
  try {
    dispatch({ kind: "figures", figures: { status: "done", ...(await client.call("figures", {})) } });
  } catch (error) {
    dispatch({ kind: "figures", figures: { status: "failed", problem: problemOf(error) } });
  }
}

const seconds = (): number => performance.now() / 1000;

/** Expected seconds of every stage of the open stack. */
const workOf = ({ stack }: State): ReturnType<typeof expectedWork> =>
  expectedWork({ planes: stack?.planes.length ?? 5, width: stack?.width ?? 400, height: stack?.height ?? 300 }, storedRates());

/** Everything from opening to result; what the check has done of it is done. */
function runProgress(state: State): Progress {
  const expected = workOf(state);
  const work = { ...expected, align: state.align ? expected.align : 0, graph: state.engine.status === "ready" ? 0 : expected.graph };
  const { check: checking } = state;
  const { read, align, check: rest } = (checking.status === "busy" ? checking.progress?.left : undefined) ?? work;
  const known: Work =
    checking.status === "done" ? { read: 0, align: 0, check: 0 } : { read: read ?? 0, align: align ?? 0, check: rest ?? 0 };
  const open = state.stack ? 0 : work.open;
  return begin(work, { left: { ...work, open, ...known }, now: seconds() });
}

/** A step of whatever is under way: the check, the run, or the check that the run waits for. */
function step({ get, dispatch }: Store, event: StageStep): void {
  const now = seconds();
  const { check: checking, run: running } = get();
  if (checking.status === "busy" && checking.progress)
    dispatch({ kind: "check", check: { ...checking, progress: advance(checking.progress, event, now) } });
  if (running) dispatch({ kind: "run", progress: advance(running, event, now) });
}

/** The next run's time is expected from this one's. */
function learn({ planes, result, summary }: RunResult): void {
  const { load, align, check: checked, infer, fill, enlarge } = summary.seconds as Record<string, number | undefined>;
  const facts = { planes: planes.length, width: result.depth.width, height: result.depth.height };
  const measured = { read: load ?? 0, align: align ?? 0, check: checked ?? 0, infer: infer ?? 0, fill: fill ?? 0, enlarge: enlarge ?? 0 };
  storeRates(learnedRates(storedRates(), facts, measured));
}

function withThumbnails(result: RunResult, { thumbnails }: State): ViewResult {
  return { ...result, planes: result.planes.map(({ frame, ...plane }) => ({ ...plane, thumbnail: thumbnails[frame] ?? "" })) };
}

/** Keeps a thumbnail of the open stack; one of an earlier stack may still be on its way. */
export function keepThumbnail({ get, dispatch }: Store, { stack, frame, picture }: Thumbnail): void {
  if (get().stack?.id === stack) dispatch({ kind: "thumbnail", frame, url: thumbnailUrl(picture) });
}

const urlsOf = ({ thumbnails, result }: State): Set<string> =>
  new Set([...Object.values(thumbnails), ...(result?.planes.map(({ thumbnail }) => thumbnail) ?? [])]);

/** Frees the thumbnails that no longer belong to anything shown. */
function revokeUnused(before: State, now: State): void {
  const used = urlsOf(now);
  for (const url of urlsOf(before)) if (!used.has(url)) freeThumbnail(url);
}

/** Those of the open stack, before another takes its place; a result keeps its own. */
function forgetThumbnails({ get }: Store): void {
  revokeUnused(get(), { ...get(), thumbnails: {} });
}

function problemOf(error: unknown): Problem {
  if (error instanceof WorkerProblem) return error.problem;
  return { message: sentence(error instanceof Error ? error.message : String(error)) };
}
