import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";

import { Problem } from "./problem.ts";

export interface GuardOptions {
  /** The address the server listens at. */
  readonly host: string;
  /** Origins of pages that may use the server. */
  readonly origins: readonly string[];
}

/** Whether an address or name is this machine's own, reached by no other. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/**
 * Refuses web pages that were not allowed. A page may send a request anywhere without being allowed to read the answer, and by a
 * name server of its own it may even become “the same origin” as a server on the reader's machine: a loopback server answers to
 * loopback names only, and any server only to its own origin and those it was given.
 */
export function createGuard({ host, origins }: GuardOptions): (headers: { host?: string; origin?: string }) => void {
  const local = isLoopback(host);
  return ({ host: asked = "", origin }) => {
    const name = asked
      .replace(/:\d*$/, "")
      .replace(/^\[(.*)\]$/, "$1")
      .toLowerCase();
    if (local && !isLoopback(name))
      throw new Problem("forbidden", {
        detail: "the Host header names another machine",
        remedy: "use a name that the server was started with",
      });
    if (origin === undefined || origins.includes(origin) || isSame(origin, asked)) return;
    throw new Problem("forbidden", {
      detail: "the request comes from another site's page",
      remedy: "whoever runs the server may allow the page's origin",
    });
  };
}

function isSame(origin: string, host: string): boolean {
  try {
    return new URL(origin).host === host.toLowerCase();
  } catch {
    return false; // "null", which sandboxed pages send, and nonsense
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether an Authorization header carries the token. Hashes are compared, so neither the time taken nor the length reveals anything. */
export function createBearerCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization = "") => {
    const given = /^Bearer ([\w\-.~+/]+=*) *$/i.exec(authorization)?.[1];
    return timingSafeEqual(digest(given ?? ""), expected) && given !== undefined;
  };
}
