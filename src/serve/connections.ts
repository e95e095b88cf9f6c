import type { Server } from "node:http";
import type { Socket } from "node:net";

import { clientKey } from "./rateLimit.ts";

export interface ConnectionLimit {
  /** Connections of one client, by its address, at a time. */
  readonly perClient: number;
  readonly onRefused: (socket: Socket) => void;
}

/** Lets no client take the connections of all others: what one has beyond its share is refused before a byte of it is read. */
export function limitConnections(server: Server, { perClient, onRefused }: ConnectionLimit): void {
  const open = new Map<string, number>();
  server.prependListener("connection", (socket: Socket) => {
    const client = clientKey(socket.remoteAddress ?? "");
    const count = (open.get(client) ?? 0) + 1;
    open.set(client, count);
    socket.once("close", () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left === 0) open.delete(client);
      else open.set(client, left);
    });
    if (count > perClient) onRefused(socket);
  });
}
