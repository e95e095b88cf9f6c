import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";

import { packageVersion } from "../system/packageFolder.ts";
import { jobPrefix } from "../queue/job.ts";
import type { JobQueue, JobStatus } from "../queue/queue.ts";
import type { FileStore } from "../queue/store.ts";
import { docsPage } from "./docsPage.ts";
import { jobEvents, LAST_EVENT } from "./events.ts";
import type { Limits } from "./limits.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { protect, type AppEnvironment, type Protection } from "./protect.ts";
import { asProblem, Problem, problemResponse } from "./problem.ts";
import type { Readiness } from "./readiness.ts";
import { bodyOf, noSuchJob, openResult } from "./results.ts";
import { deleteRoute, eventsRoute, healthRoute, jobRoute, liveRoute, quotaRoute, resultRoute, submitRoute } from "./routes.ts";
import { describeJob, describeQuota } from "./schemas.ts";
import { createSubmit } from "./submit.ts";

export interface AppOptions extends Protection {
  readonly queue: JobQueue;
  readonly store: FileStore;
  /** Folder for what is being received. */
  readonly uploads: string;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  /** Aborted when the server is about to stop. */
  readonly stopping: AbortSignal;
}

type App = OpenAPIHono<AppEnvironment>;
type Description = ReturnType<App["getOpenAPI31Document"]>;

/** The HTTP API. */
export function createApp(options: AppOptions): App {
  const app: App = new OpenAPIHono<AppEnvironment>({
    defaultHook: (result) => {
      if (!result.success) throw noSuchJob(); // only ids and names of results are checked there, and a wrong one names nothing
    },
  });
  app.onError((error, c) => {
    const problem = asProblem(error);
    const cause = problem.code === "internal" && error instanceof Error ? error.stack : undefined;
    if (cause !== undefined) options.log("error", "failure", { request: c.get("request"), cause });
    return problemResponse(problem);
  });
  app.notFound(() =>
    problemResponse(new Problem("not-found", { detail: "there is nothing at this path", remedy: "GET /docs lists what there is" })),
  );
  protect(app, options);
  addJobs(app, options);
  addEvents(app, options);
  addHealth(app, options);
  addDescription(app);
  return app;
}

function addJobs(app: App, options: AppOptions): void {
  const { queue, store, metrics } = options;
  const submit = createSubmit({ ...options, onActive: metrics.uploads, onAccepted: metrics.accepted });
  const find = ownJob(queue);
  app.openAPIRegistry.registerPath(submitRoute); // not app.openapi, which would read the whole body to check it
  app.post(submitRoute.path, async (c) => {
    if (options.stopping.aborted)
      throw new Problem("busy", { detail: "the server is stopping", remedy: "try again", headers: { "Retry-After": "10" } });
    const id = await submit(c.env.incoming, c.get("tenant"));
    c.header("Location", `/v1/jobs/${id}`);
    return c.json(await describeJob(await find(id, c), store), 202);
  });
  app.openapi(jobRoute, async (c) => c.json(await describeJob(await find(c.req.valid("param").id, c), store), 200));
  app.openapi(resultRoute, async (c) => {
    const { id, name } = c.req.valid("param");
    const { headers, stream } = await openResult(await find(id, c), name, store);
    if (c.req.method === "HEAD") {
      stream.destroy();
      return c.body(null, 200, headers);
    }
    const onError = (error: unknown): void => {
      options.log("error", "result broke off", { cause: String(error) });
    };
    return c.body(bodyOf(stream, { outgoing: c.env.outgoing, onError }), 200, headers);
  });
  app.openapi(deleteRoute, async (c) => {
    const { id } = await find(c.req.valid("param").id, c);
    if (!(await queue.remove(id))) throw noSuchJob();
    await store.remove(jobPrefix(id));
    return c.body(null, 204);
  });
  app.openapi(quotaRoute, async (c) => {
    const tenant = c.get("tenant");
    return c.json(describeQuota(tenant, await queue.usage(tenant.name)), 200);
  });
}

/** Finds a job of the tenant who asks. One of another tenant is none: even that it exists is not said. */
function ownJob(queue: JobQueue): (id: string, c: Context<AppEnvironment>) => Promise<JobStatus> {
  return async (id, c) => {
    const status = await queue.get(id);
    if (status?.tenant !== c.get("tenant").name) throw noSuchJob();
    return status;
  };
}

function addEvents(app: App, { queue, store, limits, log, stopping }: AppOptions): void {
  const find = ownJob(queue);
  let listeners = 0;
  app.openapi(eventsRoute, async (c) => {
    const { id } = await find(c.req.valid("param").id, c);
    if (c.req.header("Last-Event-ID") === LAST_EVENT) return c.body(null, 204); // tells an EventSource not to come back
    const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" }; // nginx would hold them
    if (c.req.method === "HEAD") return c.body(null, 200, headers);
    if (listeners >= limits.listeners)
      throw new Problem("busy", {
        detail: "too many clients follow jobs",
        remedy: "poll GET /v1/jobs/ID instead",
        headers: { "Retry-After": "30" },
      });
    listeners += 1;
    const events = jobEvents(id, {
      ...{ queue, store, heartbeatSeconds: limits.heartbeatSeconds, signal: stopping },
      onEnd: () => (listeners -= 1),
      onError: (error) => {
        log("error", "events broke off", { cause: String(error) });
      },
    });
    return c.body(events, 200, headers);
  });
}

function addHealth(app: App, { metrics, readiness }: AppOptions): void {
  app.openapi(healthRoute, async (c) => {
    const reason = await readiness();
    const ready = reason === undefined;
    return c.json({ live: true as const, ready, version: packageVersion(), ...(ready ? {} : { reason }) }, ready ? 200 : 503);
  });
  app.openapi(liveRoute, (c) => c.json({ live: true as const }, 200));
  app.get("/metrics", async (c: Context<AppEnvironment>) => {
    if (!c.get("tenant").metrics)
      throw new Problem("forbidden", { detail: "the metrics count everyone's jobs", remedy: "use a token that may read metrics" });
    return c.body(await metrics.text(), 200, { "Content-Type": metrics.type });
  });
}

function addDescription(app: App): void {
  let description: Description | undefined;
  const describe = (): Description => (description ??= describeApi(app)); // once all routes are known
  app.get("/openapi.json", (c) => c.json(describe()));
  app.get("/docs", (c) => c.html(docsPage(describe())));
}

export function describeApi(app: App): Description {
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "Where the server was started with tokens. Each sees its own jobs and has its own quota.",
  });
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "DualFocus",
      version: packageVersion(),
      description: "Metric depth from focal stacks: send the images, follow the job, fetch the results.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
  });
}
