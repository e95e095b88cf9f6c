import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";

import { jobIdSchema } from "../queue/job.ts";
import type { Log } from "./log.ts";
import type { AppEnvironment } from "./protect.ts";
import type { Tenant } from "./tenants.ts";

/** Logs who did what to which job, allowed or not: the name that belongs to the token, never the token itself. */
export function audit(log: Log): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    await next();
    const { status, headers } = c.res;
    const made = headers.get("Location")?.split("/").at(-1); // of a job that was just submitted
    const job = jobIdSchema.safeParse(made ?? c.req.path.split("/")[3]).data;
    const tenant = c.get("tenant") as Tenant | undefined; // none if the token was refused
    const action = `${c.req.method} ${routePath(c, -1)}`;
    log(status === 401 || status === 403 ? "warning" : "info", "audit", {
      request: c.get("request"),
      tenant: tenant?.name,
      action,
      job,
      status,
    });
  };
}
