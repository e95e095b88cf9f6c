import assert from "node:assert/strict";
import { test } from "node:test";

import { createClient } from "../../../web/src/client.ts";
import { INITIAL, reduce } from "../../../web/src/state/state.ts";
import { createStore } from "../../../web/src/store.ts";
import type { OpenedStack, Reply, Request } from "../../../web/src/worker/protocol.ts";

Object.assign(globalThis, { __EXAMPLES__: {} }); // the build's
const { createController } = await import("../../../web/src/controller.ts");

const stackIn = (order: readonly number[]): OpenedStack => ({
  ...{
    id: 1,
    name: "photos",
    unit: "index",
    width: 64,
    height: 64,
    notes: [],
    leftOut: [],
  },
  planes: order.map((frame, value) => ({
    file: `${frame}.png`,
    frame,
    value,
    source: "argument",
  })),
});

test("images moved faster than the worker answers stay where the last move put them", async () => {
  const asked: Request[] = [];
  let hear: (event: { data: Reply }) => void = () => undefined;
  const port = {
    postMessage: (request: Request) => void asked.push(request),
    addEventListener: (kind: string, listener: typeof hear) => {
      if (kind === "message") hear = listener;
    },
  };
  const store = createStore(reduce(INITIAL, { kind: "opened", stack: stackIn([0, 1, 2]) }));
  const controller = createController(store, createClient(port as unknown as Parameters<typeof createClient>[0]));
  const moves = [controller.move(0, 1), controller.move(0, 2)];
  const orders = asked.flatMap((request) =>
    "call" in request && request.call === "focus" ? [{ id: request.id, order: request.ask.order ?? [] }] : [],
  );
  assert.deepEqual(orders.map(({ order }) => order), [[1, 0, 2], [1, 2, 0]]); // prettier-ignore
  for (const { id, order } of orders) {
    hear({ data: { id, answer: stackIn(order) } });
    await new Promise(setImmediate);
    assert.deepEqual(store.get().draft.order, [1, 2, 0]);
  }
  await Promise.all(moves);
  assert.equal(asked.filter((request) => "call" in request && request.call === "check").length, 1);
});
