import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { methodNotAllowed } from "hono/method-not-allowed";
import { routePath } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import { randomUUID } from "node:crypto";

import { audit } from "./audit.ts";
import { STYLE_HASH } from "./docsPage.ts";
import { createGuard } from "./guard.ts";
import type { Limits } from "./limits.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { Problem, problemResponse } from "./problem.ts";
import { clientKey, createRateLimit, type RateLimit } from "./rateLimit.ts";
import { createTokenCheck, ONLY_TENANT, type Tenant, type Token } from "./tenants.ts";

/** Node's own request and response, as `c.env`; the number of the request, for the log; whose token it carries, on routes that need one. */
export type AppEnvironment = { Bindings: HttpBindings; Variables: { request: string; tenant: Tenant } };

export interface Protection {
  /** The address the server listens at. */
  readonly host: string;
  /** Further names and addresses that it answers to. */
  readonly hosts: readonly string[];
  /** Without any, everyone who reaches the server may use it. */
  readonly tokens: readonly Token[];
  /** Origins of pages that may use the server; none by default. */
  readonly origins: readonly string[];
  /** The server is behind a proxy: the last address it has put into X-Forwarded-For is the client's. */
  readonly behindProxy: boolean;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Metrics;
}

type Handler = MiddlewareHandler<AppEnvironment>;

/** What every request passes before it reaches its route, outermost first. */
export function protect(app: OpenAPIHono<AppEnvironment>, options: Protection): void {
  app.use(observe(options));
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        styleSrc: [STYLE_HASH],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
      },
      xFrameOptions: "DENY",
      crossOriginResourcePolicy: options.origins.length > 0 ? "cross-origin" : "same-origin",
      strictTransportSecurity: false, // for whoever ends TLS to decide
    }),
  );
  app.use(guard(options));
  if (options.origins.length > 0)
    app.use(
      cors({
        origin: [...options.origins],
        allowMethods: ["GET", "POST", "DELETE"],
        allowHeaders: ["Authorization", "Content-Type", "Last-Event-ID"],
        exposeHeaders: ["Location", "Retry-After", "Content-Disposition", "X-Request-Id"],
        maxAge: 600,
      }),
    );
  app.use(limitRate(options));
  app.use(unlessOpen(audit(options.log)));
  app.use(unlessOpen(authorize(options.tokens)));
  app.use(unlessOpen(limitTenantRate()));
  app.use(methodNotAllowed<AppEnvironment>({ app, onMethodNotAllowed: (_, allowed) => problemResponse(wrongMethod(allowed)) }));
}

const wrongMethod = (allowed: readonly string[]): Problem =>
  new Problem("method-not-allowed", {
    detail: "this path does not take that method",
    remedy: `use ${allowed.join(" or ")}`,
    headers: { Allow: allowed.join(", ") },
  });

/** Counts and logs the request by its route; neither the path nor the client's address is logged. */
function observe({ log, metrics }: Protection): Handler {
  return async (c, next) => {
    const [start, request] = [performance.now(), randomUUID()];
    c.set("request", request);
    await next();
    c.header("X-Request-Id", request); // for people who ask what went wrong
    const { status } = c.res;
    const matched = routePath(c, -1);
    const route = matched === "/*" || matched === "*" ? "none" : matched;
    const seconds = (performance.now() - start) / 1000;
    const method = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"].includes(c.req.method) ? c.req.method : "other";
    metrics.request({ method, route, status, seconds });
    log(status >= 500 ? "error" : "info", "request", { request, method, route, status, seconds: Number(seconds.toFixed(4)) });
  };
}

function guard(options: Protection): Handler {
  const check = createGuard(options);
  return async (c, next) => {
    const [host, origin] = [c.req.header("Host"), c.req.header("Origin")];
    check({ ...(host === undefined ? {} : { host }), ...(origin === undefined ? {} : { origin }) });
    await next();
  };
}

/** Paths that are open to everyone and not limited: for monitors, and for people who want to know how to use the rest. */
const isOpen = (path: string): boolean => path.startsWith("/v1/health") || path === "/openapi.json" || path === "/docs";

const unlessOpen =
  (handler: Handler): Handler =>
  (c, next) =>
    isOpen(c.req.path) ? next() : handler(c, next);

function limitRate({ behindProxy, limits }: Protection): Handler {
  const waitOf = createRateLimit({ perMinute: limits.requestsPerMinute });
  return unlessOpen(async (c, next) => {
    const forwarded = behindProxy ? c.req.header("X-Forwarded-For")?.split(",").at(-1)?.trim() : undefined;
    const wait = waitOf(clientKey(forwarded ?? c.env.incoming.socket.remoteAddress ?? ""));
    if (wait > 0) throw tooOften(wait, limits.requestsPerMinute);
    await next();
  });
}

/** By the tenant's quota, from wherever its requests come. */
function limitTenantRate(): Handler {
  const limits = new Map<string, RateLimit>();
  return async (c, next) => {
    const { name, quota } = c.get("tenant");
    const perMinute = quota.requestsPerMinute;
    const waitOf = limits.get(name) ?? createRateLimit({ perMinute: perMinute === Infinity ? 0 : perMinute });
    limits.set(name, waitOf);
    const wait = waitOf(name);
    if (wait > 0) throw tooOften(wait, perMinute);
    await next();
  };
}

function tooOften(wait: number, perMinute: number): Problem {
  const seconds = Math.ceil(wait);
  return new Problem("rate-limited", {
    detail: `more than ${perMinute} requests per minute`,
    remedy: `try again in ${seconds} seconds`,
    headers: { "Retry-After": String(seconds) },
  });
}

function authorize(tokens: readonly Token[]): Handler {
  const tenantOf = createTokenCheck(tokens);
  return async (c, next) => {
    const tenant = tokens.length === 0 ? ONLY_TENANT : tenantOf(c.req.header("Authorization"));
    if (!tenant)
      throw new Problem("unauthorized", {
        detail: "the token is missing or wrong",
        remedy: "send the header Authorization: Bearer TOKEN",
        headers: { "WWW-Authenticate": 'Bearer realm="dualfocus"' },
      });
    c.set("tenant", tenant);
    await next();
  };
}
