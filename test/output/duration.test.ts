import assert from "node:assert/strict";
import { test } from "node:test";

import { duration } from "../../src/output/duration.ts";

test("durations read as people say them", () => {
  const seconds = [0.04, 9.94, 9.96, 59.4, 59.6, 185, 3599.4, 3599.6, 7830];
  const said = ["0.0 s", "9.9 s", "10 s", "59 s", "1 min 0 s", "3 min 5 s", "59 min 59 s", "1 h 0 min", "2 h 10 min"];
  assert.deepEqual(seconds.map(duration), said);
});
