import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { MemberError, spawnProcesses } from "../../src/train/launcher.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-launcher-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Starts one process per body, rank by rank; each finds `file(name)` to write to. */
async function launch(bodies: readonly string[], graceSeconds: number): Promise<{ failure: MemberError | undefined }> {
  const prelude = `const { writeFileSync: write, existsSync: exists } = require("node:fs"); const file = (name) => ${JSON.stringify(folder)} + "/" + name;`;
  const program = `${prelude} [${bodies.map((body) => `() => {${body}}`).join(",")}][process.env.RANK]()`;
  let failure: MemberError | undefined;
  await spawnProcesses(bodies.length, { args: ["--input-type=commonjs", "-e", program], graceSeconds }).catch((error: unknown) => {
    assert.ok(error instanceof MemberError, String(error));
    failure = error;
  });
  return { failure };
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** Does `body` when the other has written `name`. */
const when = (name: string, body: string): string =>
  `const timer = setInterval(() => { if (exists(file("${name}"))) { clearInterval(timer); ${body} } }, 20);`;

test("processes that end well are no failure, and each knows its place", async () => {
  const body = (rank: number): string =>
    `const { RANK, WORLD_SIZE, LOCAL_RANK } = process.env; write(file("place${rank}"), [RANK, WORLD_SIZE, LOCAL_RANK].join(" "));`;
  const { failure } = await launch([body(0), body(1)], 10);
  assert.equal(failure, undefined);
  assert.deepEqual(
    [0, 1].map((rank) => readFileSync(join(folder, `place${rank}`), "utf8")),
    ["0 2 0", "1 2 1"],
  );
});

test("when one fails another is asked to stop, and the first failure is the one reported", { timeout: 120_000 }, async () => {
  const stops = `process.on("SIGTERM", () => { write(file("stopped"), ""); process.exit(7); }); write(file("ready"), ""); setInterval(() => 0, 1000);`;
  const { failure } = await launch([stops, when("ready", "process.exit(3);")], 3600); // not waited for: the one asked has ended
  assert.equal(failure?.exitCode, 3);
  assert.equal(failure.message, "process 1 of 2 ended with exit code 3");
  assert.ok(existsSync(join(folder, "stopped")));
});

test(
  "a process that hangs is killed after the grace when another fails",
  { timeout: 120_000, skip: process.platform !== "linux" },
  async () => {
    const hangs = `write(file("hung"), String(process.pid)); process.kill(process.pid, "SIGSTOP");`;
    const { failure } = await launch([when("hung", "process.exit(3);"), hangs], 0.5);
    assert.equal(failure?.exitCode, 3);
    assert.ok(!isAlive(Number(readFileSync(join(folder, "hung"), "utf8"))));
  },
);

test("a process ended by a signal has the exit code of a shell", async () => {
  const { failure } = await launch([`process.kill(process.pid, "SIGKILL");`, "setInterval(() => 0, 1000);"], 10);
  assert.equal(failure?.exitCode, 137);
  assert.equal(failure.message, "process 0 of 2 was ended by SIGKILL");
});
