import { join } from "node:path";

import { UserError } from "../system/userError.ts";
import { takeLock } from "../system/lock.ts";
import { makeFolder } from "../system/outputFolder.ts";

const FILE = ".server";
/** Seconds between two signs of life, and after which an owner that cannot be seen from here is taken for dead. */
const HEARTBEAT = { touchEvery: 5, leftAfter: 60 } as const;

/**
 * Makes a folder this process's own until the function it resolves to is called. Two servers with queues of their own would each take
 * the other's jobs for what a killed server has left.
 */
export async function claimFolder(folder: string): Promise<() => Promise<void>> {
  await makeFolder(folder);
  const release = takeLock(join(folder, FILE), {
    ...HEARTBEAT,
    mode: 0o600,
    refusal: (_, cause) =>
      new UserError(`${folder}: another server uses it`, {
        exitCode: 2,
        remedy: `give this one another --store, or let both use --redis; one that was killed is forgotten after ${HEARTBEAT.leftAfter} seconds`,
        cause,
      }),
  });
  return () => {
    release();
    return Promise.resolve();
  };
}
