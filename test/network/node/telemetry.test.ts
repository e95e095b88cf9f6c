import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";

import { temporaryFolder } from "../../data/files.ts";

const repository = join(import.meta.dirname, "..", "..", "..");

/** Every file below a folder. */
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

interface Place {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A user that has never run anything: every folder a program might write to is empty. */
function freshUser(): Place {
  const root = temporaryFolder();
  const folders = { HOME: "home", TMPDIR: "tmp", XDG_CACHE_HOME: "cache", XDG_CONFIG_HOME: "config", XDG_DATA_HOME: "data" };
  for (const name of [...Object.values(folders), "work"]) mkdirSync(join(root, name));
  const paths = Object.fromEntries(Object.entries(folders).map(([variable, name]) => [variable, join(root, name)]));
  return { root, env: { PATH: process.env["PATH"], ...paths } };
}

/** `dualfocus depth` on a shipped stack in a process of its own, perhaps through another program. */
function runDepth({ root, env }: Place, through: readonly string[] = []): { readonly status: number | null; readonly stderr: string } {
  const node = [process.execPath, ...process.execArgv, join(repository, "src", "cli", "main.ts")];
  const depth = ["depth", join(repository, "examples", "macro"), "-o", join(root, "work", "out"), "--quiet", "--device", "cpu"];
  const [program, ...args] = [...through, ...node, ...depth] as [string, ...string[]];
  return spawnSync(program, args, { cwd: join(root, "work"), env, encoding: "utf8" });
}

const canTrace = process.platform === "linux" && spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status === 0;

test("a run leaves nothing behind but its results and reaches for no network: ONNX Runtime's telemetry is off", () => {
  const user = freshUser();
  const trace = `${user.root}.trace`;
  const traced = ["strace", "-f", "--quiet=all", "-e", "trace=socket,connect,sendto", "-o", trace];
  try {
    const { status, stderr } = runDepth(user, canTrace ? traced : []);
    assert.equal(status, 0, stderr);
    const left = filesOf(user.root);
    assert.ok(left.includes(join("work", "out", "result.json")));
    assert.deepEqual(left.filter((file) => !file.startsWith(join("work", "out"))), []); // prettier-ignore
    if (canTrace) assert.doesNotMatch(readFileSync(trace, "utf8"), /AF_INET|AF_NETLINK|nscd|resolve/);
  } finally {
    rmSync(trace, { force: true });
  }
});
