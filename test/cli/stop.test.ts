import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { aborted, stoppable } from "../../src/cli/stop.ts";
import { UserError } from "../../src/system/userError.ts";
import { capture } from "../helpers/command.ts";

/** Standard error as text, and a process that does not end when it should exit. */
function watched(context: TestContext, { isTTY }: { isTTY: boolean }): { text: () => string; exits: () => unknown[] } {
  const { text } = capture(context, process.stderr);
  const before = Object.getOwnPropertyDescriptor(process.stderr, "isTTY");
  Object.defineProperty(process.stderr, "isTTY", { value: isTTY, configurable: true });
  const { mock } = context.mock.method(process, "exit", () => undefined as never);
  context.after(() => {
    if (before) Object.defineProperty(process.stderr, "isTTY", before);
    else delete (process.stderr as { isTTY?: boolean }).isTTY;
  });
  return { text, exits: () => mock.calls.map((call) => call.arguments[0]) };
}

test("the first signal asks the work to stop and ends the progress line; the second ends the program with 130", async (context) => {
  const { text, exits } = watched(context, { isTTY: true });
  const listeners = process.listenerCount("SIGINT");
  const work = stoppable(
    async (signal) => {
      await aborted(signal);
      assert.deepEqual([text(), exits()], ["\ntidying up\n", []]);
      process.emit("SIGTERM");
      assert.deepEqual(exits(), [130]);
      signal.throwIfAborted();
    },
    { notice: "tidying up", reason: "stopped; all is tidy", remedy: "start again" },
  );
  process.emit("SIGINT");
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof UserError);
    assert.deepEqual([error.message, error.remedy, error.exitCode], ["stopped; all is tidy", "start again", 130]);
    return true;
  });
  assert.equal(process.listenerCount("SIGINT"), listeners, "nothing listens any more");
});

test("work that ends by itself gives its result, and can ask for its own end; elsewhere than on a terminal no line is ended", async (context) => {
  const { text } = watched(context, { isTTY: false });
  assert.equal(await stoppable(() => Promise.resolve(7)), 7);
  const stopped = await stoppable(async (signal, stop) => {
    stop();
    stop();
    await aborted(signal);
    return signal.aborted;
  });
  assert.deepEqual([stopped, text()], [true, ""]);
});
