import { join } from "node:path";

import { DualFocusError } from "../errors.ts";
import { takeLock } from "../system/lock.ts";
import { makeFolder } from "../system/outputFolder.ts";

const FILE = ".server";
/** Seconds between two signs of life, and after which an owner that cannot be seen from here counts as dead. */
const HEARTBEAT = { touchEvery: 5, leftAfter: 60 } as const;

/**
 * Makes a folder this process's own until the function it resolves to is called. Two servers with queues of their own would each take
 * the other's jobs for leftovers of a killed server.
 */
export async function claimFolder(folder: string): Promise<() => void> {
  await makeFolder(folder, { mode: 0o700 });
  return takeLock(join(folder, FILE), {
    ...HEARTBEAT,
    mode: 0o600,
    refusal: (_, cause) =>
      new DualFocusError("store-in-use", `${folder}: another server uses it`, { facts: { folder, seconds: HEARTBEAT.leftAfter }, cause }),
  });
}
