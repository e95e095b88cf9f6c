import type { Image } from "../../src/image/image.ts";
import { Cancelled, WorkerProblem, type Client } from "./client.ts";
import type { View, ViewResult } from "./contract.ts";
import { fetchExample, type Example } from "./examples.ts";
import { readDraft, type Draft } from "./state/distances.ts";
import type { Look } from "./state/look.ts";
import { sentence } from "./state/words.ts";
import type { Store } from "./store.ts";
import type { EngineWish, Event, Problem, RunResult, UserFile } from "./worker/protocol.ts";

/** The user's actions. */
export interface Controller {
  start(ask: EngineWish & { readonly page: string }): Promise<void>;
  open(name: string, files: readonly UserFile[]): Promise<void>;
  openExample(example: Example): Promise<void>;
  /** Stores what is being typed, so that rendering does not discard it; `edit` applies it. */
  type(draft: Draft): void;
  edit(draft: Draft): Promise<void>;
  setAlign(align: boolean): void;
  run(): Promise<void>;
  cancel(): void;
  show(view: View): void;
  /** Changes how the result is looked at, in all tabs. */
  setLook(look: Partial<Look>): void;
  loadFigures(): Promise<void>;
  /** One plane in working size, aligned. */
  picture(plane: number): Promise<Image>;
  back(): void;
  startOver(): void;
}

interface Context {
  readonly store: Store;
  readonly client: Client;
  /** Running tasks that can be cancelled. */
  readonly tasks: { checking: AbortController; running: AbortController };
}

export function createController(store: Store, client: Client): Controller {
  const context: Context = { store, client, tasks: { checking: new AbortController(), running: new AbortController() } };
  const { dispatch } = store;
  return {
    start: (ask) => start(context, ask),
    open: async (name, files) => {
      if (await open(context, name, files)) await check(context);
    },
    openExample: (example) => openExample(context, example),
    type: (draft) => {
      dispatch({ kind: "draft", draft });
    },
    edit: (draft) => edit(context, draft),
    setAlign: (align) => {
      dispatch({ kind: "align", align });
      void check(context);
    },
    run: () => run(context),
    cancel: () => {
      stop(context);
    },
    show: (view) => {
      dispatch({ kind: "view", view });
    },
    setLook: (look) => {
      dispatch({ kind: "look", look });
    },
    loadFigures: () => loadFigures(context),
    picture: (plane) => client.call("picture", { plane }),
    back: () => {
      dispatch({ kind: "back" });
      backToSetup(context);
    },
    startOver: () => {
      stop(context);
      forgetThumbnails(store);
      dispatch({ kind: "startOver" });
    },
  };
}

async function start({ store: { dispatch }, client }: Context, ask: EngineWish & { readonly page: string }): Promise<void> {
  const onEvent = (event: Event): void => {
    if (event.kind === "stage") dispatch({ kind: "engine", engine: { status: "loading", progress: event } });
  };
  try {
    dispatch({ kind: "engine", engine: { status: "ready", ...(await client.call("start", ask, { onEvent })) } });
  } catch (error) {
    dispatch({ kind: "engine", engine: { status: "failed", problem: problemOf(error) } });
  }
}

/** Returns whether the stack could be opened. */
async function open(context: Context, name: string, files: readonly UserFile[]): Promise<boolean> {
  const { store, client } = context;
  stop(context);
  forgetThumbnails(store);
  const onEvent = (event: Event): void => {
    if (event.kind === "stage") store.dispatch({ kind: "opening", opening: event });
  };
  store.dispatch({ kind: "opening", opening: { done: 0, of: files.length } });
  try {
    store.dispatch({ kind: "opened", stack: await client.call("open", { name, files }, { onEvent }) });
    return true;
  } catch (error) {
    store.dispatch({ kind: "problem", problem: problemOf(error) });
    return false;
  }
}

/** Opens an example and runs it at once. */
async function openExample(context: Context, example: Example): Promise<void> {
  context.store.dispatch({ kind: "opening", opening: { done: 0, of: example.files.length } });
  try {
    if (await open(context, example.title, await fetchExample(example))) await run(context);
  } catch (error) {
    context.store.dispatch({ kind: "problem", problem: problemOf(error) });
  }
}

async function check({ store, client, tasks }: Context): Promise<void> {
  tasks.checking.abort();
  tasks.checking = new AbortController();
  const { signal } = tasks.checking;
  const onEvent = (event: Event): void => {
    keepThumbnail(store, event);
  };
  store.dispatch({ kind: "check", check: { status: "busy" } });
  try {
    const findings = await client.call("check", { align: store.get().align }, { signal, onEvent });
    store.dispatch({ kind: "check", check: { status: "done", findings } });
  } catch (error) {
    if (!(error instanceof Cancelled)) store.dispatch({ kind: "check", check: { status: "failed", problem: problemOf(error) } });
  }
}

async function edit(context: Context, draft: Draft): Promise<void> {
  const { store, client, tasks } = context;
  store.dispatch({ kind: "draft", draft });
  const { stack } = store.get();
  const read = readDraft(draft, stack?.planes.length ?? 0);
  if (!stack || "unfinished" in read) return;
  if ("wrong" in read) {
    const message = `“${read.text}” is not a distance`;
    store.dispatch({ kind: "unfocused", problem: { message, remedy: "Enter a number such as 0.65, or 650 mm." } });
    return;
  }
  tasks.checking.abort();
  try {
    store.dispatch({ kind: "focused", stack: await client.call("focus", read.choice) });
    void check(context);
  } catch (error) {
    store.dispatch({ kind: "unfocused", problem: problemOf(error) });
  }
}

async function run(context: Context): Promise<void> {
  const { store, client, tasks } = context;
  stop(context);
  tasks.running = new AbortController();
  const { signal } = tasks.running;
  const onEvent = (event: Event): void => {
    keepThumbnail(store, event);
    if (event.kind === "stage") store.dispatch({ kind: "run", progress: event });
  };
  store.dispatch({ kind: "run", progress: { stage: "read", done: 0, of: 1 } });
  try {
    const result = await client.call("run", { align: store.get().align }, { signal, onEvent });
    store.dispatch({ kind: "engine", engine: { status: "ready", ...result.engine } });
    store.dispatch({ kind: "result", result: withPictures(result, store) });
  } catch (error) {
    if (error instanceof Cancelled) backToSetup(context);
    else store.dispatch({ kind: "problem", problem: problemOf(error) });
  }
}

/** After a cancelled run. An example has not been checked at that point. */
function backToSetup(context: Context): void {
  const { get, dispatch } = context.store;
  dispatch({ kind: "run", progress: undefined });
  if (get().stack && get().check.status !== "done") void check(context);
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

function stop({ tasks }: Context): void {
  tasks.checking.abort();
  tasks.running.abort();
}

function withPictures(result: RunResult, { get }: Store): ViewResult {
  const { thumbnails } = get();
  return { ...result, planes: result.planes.map(({ frame, ...plane }) => ({ ...plane, thumbnail: thumbnails[frame] ?? "" })) };
}

function keepThumbnail({ dispatch }: Store, event: Event): void {
  if (event.kind === "thumbnail") dispatch({ kind: "thumbnail", frame: event.frame, url: URL.createObjectURL(event.picture) });
}

function forgetThumbnails({ get }: Store): void {
  for (const url of Object.values(get().thumbnails)) URL.revokeObjectURL(url);
}

function problemOf(error: unknown): Problem {
  if (error instanceof WorkerProblem) return { message: error.message, ...(error.remedy === undefined ? {} : { remedy: error.remedy }) };
  return { message: sentence(error instanceof Error ? error.message : String(error)) };
}
