import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, withoutPassword } from "../../src/queue/redis.ts";
import { runCommand } from "../helpers/command.ts";

/** Ways to get an address with a password wrong. */
const MALFORMED = [
  ...["localhost", ":secret@host:6379", "secret@host", "user:secret@host:6379", "host:6379/secret", "secret"],
  ...[
    "redis:/:secret@host",
    "redis:secret@host",
    "redis//:secret@host",
    "REDIS://:secret@host",
    "redis ://:secret@host",
    " redis://:secret@host",
  ],
  ...[
    "http://:secret@host",
    "unix:///run/redis.sock?password=secret",
    "redis://",
    "redis://:secret@",
    "redis://user:secret",
    "redis:///secret",
  ],
  ...[
    "redis://:secret@host:port",
    "redis://:secret@ho st",
    "redis://:sec ret@host",
    "redis://:secret@host:99999",
    "redis://:secret@[::1",
    "",
  ],
];

test("an address that is not one of a Redis is refused without a part of it being shown", async (context) => {
  for (const url of MALFORMED) {
    assert.throws(
      () => connect(url, { patient: false }),
      (error: Error & { code?: string }) => error.code === "bad-redis-address" && !error.message.includes("secret"),
      url,
    );
    assert.ok(!withoutPassword(url).includes("secret"), url);
  }
  for (const command of ["serve", "worker"]) {
    const { code, out, err } = await runCommand(context, command, "--store", "/tmp/unused", "--redis", "redis:/:secret@host");
    assert.deepEqual([code, (out + err).includes("secret")], [2, false], err);
  }
});

test("of an address that is right, people see the host and the port", () => {
  const shown = {
    "redis://host": "redis://host",
    "redis://:secret@host:6379/0": "redis://host:6379",
    "rediss://user:secret@host:6380/secret?password=secret#secret": "rediss://host:6380",
    "redis://:sec@ret@host:6379": "redis://host:6379",
    "redis://:sec%2Fret@[::1]:6379": "redis://[::1]:6379",
  };
  for (const [url, expected] of Object.entries(shown)) assert.equal(withoutPassword(url), expected);
});
