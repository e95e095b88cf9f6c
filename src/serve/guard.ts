import { isIP } from "node:net";

import { Problem } from "./problem.ts";

export interface GuardOptions {
  /** The address the server listens at. */
  readonly host: string;
  /** Further names and addresses that it answers to. */
  readonly hosts: readonly string[];
  /** Origins of pages that may use the server. */
  readonly origins: readonly string[];
}

/** Whether an address or name is this machine's own, reached by no other. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

const isEveryAddress = (host: string): boolean => host === "0.0.0.0" || host === "::";

/**
 * Refuses web pages that were not allowed. A page may send a request anywhere without being allowed to read the answer, and with a name
 * server of its own it may even become “the same origin” as a server that only its reader can reach (DNS rebinding). So a server answers to
 * names it knows: loopback names, its own address and those it was given. One that listens on every address also answers to any address,
 * which needs no name server and so cannot be rebound. Of pages it takes its own origin, under such a name, and those it was given.
 */
export function createGuard({ host, hosts, origins }: GuardOptions): (headers: { host?: string; origin?: string }) => void {
  const known = new Set([host, ...hosts].map((name) => name.toLowerCase()));
  const isKnown = (name: string): boolean => isLoopback(name) || known.has(name) || (isEveryAddress(host) && isIP(name) !== 0);
  return ({ host: asked = "", origin }) => {
    if (!isKnown(nameOf(asked)))
      throw new Problem("misdirected", {
        detail: "the Host header names another machine",
        remedy: "use a name that the server was started with",
        headers: { Connection: "close" },
      });
    if (origin === undefined || origins.includes(origin) || isSame(origin, asked)) return;
    throw new Problem("forbidden", {
      detail: "the request comes from another site's page",
      remedy: "whoever runs the server may allow the page's origin",
    });
  };
}

/** The name or address in a Host header, without its port. */
const nameOf = (host: string): string =>
  host
    .replace(/:\d*$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();

function isSame(origin: string, host: string): boolean {
  try {
    return new URL(origin).host === host.toLowerCase();
  } catch {
    return false; // "null", which sandboxed pages send, and nonsense
  }
}
