import type { Server } from "node:http";

import { DualFocusError } from "../errors.ts";
import { errnoOf, reasonOf } from "./errno.ts";

/** Makes a server listen; rejects with the reason if it cannot. Port 0 is any that is free. */
export async function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const facts = { host, port, errno: errnoOf(cause) ?? "" };
      reject(new DualFocusError("address-unavailable", `${host}, port ${port}: ${reasonOf(cause)}`, { facts, cause }));
    });
    server.listen(port, host, resolve);
  });
}
