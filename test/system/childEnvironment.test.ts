import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { createSlot } from "../../src/queue/slot.ts";
import { createFrameChecker } from "../../src/serve/frameChecker.ts";
import { DEFAULT_LIMITS } from "../../src/serve/limits.ts";
import { withVideoFrames } from "../../src/stack/node/video.ts";
import { childEnvironment } from "../../src/system/childEnvironment.ts";
import { put, temporaryFolder } from "../data/files.ts";

const folder = temporaryFolder();

const BUCKET = { AWS_ACCESS_KEY_ID: "bucket-id", AWS_SECRET_ACCESS_KEY: "bucket-secret", AWS_SESSION_TOKEN: "bucket-session" };
const SECRETS = {
  ...BUCKET,
  DUALFOCUS_REDIS: "redis://:queue-secret@127.0.0.1:6379",
  REDIS_PASSWORD: "queue-secret",
  DUALFOCUS_TOKEN: "token-secret",
  NODE_AUTH_TOKEN: "registry-secret",
  SOMEONE_ELSES: "other-secret",
};
const WANTED = { CUDA_VISIBLE_DEVICES: "0", LC_TIME: "C" };

before(() => {
  Object.assign(process.env, SECRETS, WANTED); // this file is a process of its own
});

test("a process gets the variables of its needs, and no others", () => {
  const environment = { ...SECRETS, ...WANTED, PATH: "/bin", https_proxy: "http://proxy", Path: "C:\\", NODE_OPTIONS: "--x" };
  assert.deepEqual(childEnvironment([], environment), {});
  assert.deepEqual(childEnvironment(["system"], environment), { LC_TIME: "C", PATH: "/bin", Path: "C:\\", NODE_OPTIONS: "--x" });
  assert.deepEqual(childEnvironment(["device"], environment), { CUDA_VISIBLE_DEVICES: "0" });
  assert.deepEqual(childEnvironment(["bucket"], environment), { ...BUCKET, https_proxy: "http://proxy" });
});

/** Which of the secrets a text holds. */
const secretsIn = (text: string): string[] => Object.values(SECRETS).filter((secret) => text.includes(secret));

test("the process that checks uploads knows no secret", async () => {
  const check = createFrameChecker({ program: new URL("../serve/stuckChecker.ts", import.meta.url) });
  const file = join(folder, "environment");
  put(file, "x");
  const [frame] = (await check([file], DEFAULT_LIMITS)) as unknown as { environment: NodeJS.ProcessEnv }[];
  assert.equal(frame?.environment["LC_TIME"], "C");
  assert.deepEqual(secretsIn(JSON.stringify(frame.environment)), []);
});

const withoutProc = existsSync("/proc/self/environ") ? false : "there is no /proc";

test(
  "processes that compute know the bucket's keys only if the store is a bucket, and never the queue",
  { skip: withoutProc },
  async () => {
    const options = { scratch: folder, device: "cpu", threads: 1, memory: 2 ** 30, together: 1, timeLimit: 1000 } as const;
    const environmentOf = async (store: string): Promise<string> => {
      const slot = createSlot({ ...options, store });
      try {
        return readFileSync(`/proc/${slot.pid}/environ`, "utf8");
      } finally {
        await slot.close();
      }
    };
    const local = await environmentOf(join(folder, "store"));
    assert.match(local, /CUDA_VISIBLE_DEVICES=0/);
    assert.deepEqual(secretsIn(local), []);
    assert.deepEqual(secretsIn(await environmentOf("s3://bucket/prefix")), Object.values(BUCKET));
  },
);

test("ffmpeg knows no secret", { skip: process.platform === "win32" }, async () => {
  const program = join(folder, "ffprobe");
  put(program, "#!/bin/sh\nenv | tr '\\n' ' ' >&2\nexit 1\n");
  chmodSync(program, 0o700);
  await assert.rejects(
    withVideoFrames(join(folder, "a.mp4"), { programs: { ffmpeg: program, ffprobe: program } }, () => Promise.resolve()),
    ({ message }: Error) => {
      assert.match(message, /LC_TIME=C/);
      assert.deepEqual(secretsIn(message), []);
      return true;
    },
  );
});
