import { render } from "preact";

import { createClient } from "./client.ts";
import { QUERY } from "./contract.ts";
import { createController, keepThumbnail } from "./controller.ts";
import { followHistory, placeOf } from "./history.ts";
import { keepOffline } from "./offline/keepOffline.ts";
import { createStore } from "./store.ts";
import { App } from "./view/App.tsx";
import type { EngineWish } from "./worker/protocol.ts";

const root = document.getElementById("app");
if (!root) throw new Error("index.html has no #app");

const worker = new Worker(new URL("./worker/main.ts", import.meta.url), { type: "module" });
const store = createStore();
const client = createClient(worker, (thumbnail) => {
  keepThumbnail(store, thumbnail);
});
const controller = createController(store, client);
followHistory(store, controller);
render(<App store={store} controller={controller} />, root);
void controller.restore(placeOf(location.hash));
void controller.start({ page: document.baseURI, ...wishOf(new URLSearchParams(location.search)) }).then(() => {
  const { engine } = store.get();
  if (engine.status === "ready") void keepOffline(engine);
});

/** The page's query parameters; invalid values are ignored. */
function wishOf(query: URLSearchParams): EngineWish {
  const device = query.get(QUERY.device);
  const threads = Number(query.get(QUERY.threads));
  return {
    ...(device === "webgpu" || device === "wasm" ? { device } : {}),
    ...(Number.isInteger(threads) && threads > 0 ? { threads } : {}),
  };
}
