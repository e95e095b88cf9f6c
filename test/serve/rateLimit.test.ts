import assert from "node:assert/strict";
import { test } from "node:test";
import { clientKey, createRateLimit } from "../../src/serve/rateLimit.ts";

test("a client may ask as often as a minute allows at once, then as often as it refills; others do not suffer", () => {
  let now = 0;
  const waitOf = createRateLimit({ perMinute: 30, now: () => now });
  for (let n = 0; n < 30; n++) assert.equal(waitOf("a"), 0);
  assert.equal(waitOf("a"), 2, "one request every two seconds");
  assert.equal(waitOf("b"), 0);
  now = 1;
  assert.equal(waitOf("a"), 1);
  now = 2;
  assert.equal(waitOf("a"), 0);
  assert.equal(waitOf("a"), 2);
  now = 1000;
  for (let n = 0; n < 30; n++) assert.equal(waitOf("a"), 0);
  assert.equal(waitOf("a"), 2, "no more is saved up than a minute's");
});

test("no limit is no limit, and a flood of addresses does not fill the memory", () => {
  const unlimited = createRateLimit({ perMinute: 0 });
  for (let n = 0; n < 1000; n++) assert.equal(unlimited("a"), 0);
  const waitOf = createRateLimit({ perMinute: 1, now: () => 0 });
  waitOf("first");
  assert.ok(waitOf("first") > 0);
  for (let n = 0; n < 10_000; n++) waitOf(`flood ${n}`);
  assert.equal(waitOf("first"), 0, "whoever was not seen for longest is forgotten");
});

test("an IPv6 client is its /64 network, an IPv4 client its address however it is written", () => {
  assert.equal(clientKey("203.0.113.7"), "203.0.113.7");
  assert.equal(clientKey("::ffff:203.0.113.7"), "203.0.113.7");
  assert.equal(clientKey("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(clientKey("2001:db8:1:2::6"), "2001:db8:1:2::/64");
  assert.equal(clientKey("2001:db8::1"), "2001:db8:0:0::/64");
  assert.equal(clientKey("::1"), "0:0:0:0::/64");
});
