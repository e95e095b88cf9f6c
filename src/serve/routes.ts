import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";

import { jobIdSchema } from "../queue/job.ts";
import { problemSchema, PROBLEMS, type ProblemCode } from "./problem.ts";
import { CONTENT_TYPES, depthForm, healthView, jobView, quotaView, RESULT_NAMES } from "./schemas.ts";

type Answers = Record<number, { description: string; content: { "application/problem+json": { schema: typeof problemSchema } } }>;

/** The answers that are no success, by their codes. */
function problems(...codes: readonly ProblemCode[]): Answers {
  const content = { "application/problem+json": { schema: problemSchema } };
  const titles = (status: number): string[] => codes.filter((code) => PROBLEMS[code].status === status).map((code) => PROBLEMS[code].title);
  return Object.fromEntries(
    codes.map((code) => PROBLEMS[code].status).map((status) => [status, { description: titles(status).join(", or: "), content }]),
  );
}

const openRequest = ["forbidden", "misdirected"] as const;
const anyRequest = [...openRequest, "unauthorized", "rate-limited", "internal"] as const;
const json = <T>(schema: T): { "application/json": { schema: T } } => ({ "application/json": { schema } });
const id = jobIdSchema.meta({ param: { name: "id", in: "path", description: "what POST /v1/depth answered" } });
const security = [{ bearer: [] }];

export const submitRoute = createRoute({
  method: "post",
  path: "/v1/depth",
  operationId: "submitStack",
  summary: "Send a focal stack; its depth is found in a job of its own.",
  security,
  request: {
    body: {
      required: true,
      content: { "multipart/form-data": { schema: depthForm, encoding: { options: { contentType: "application/json" } } } },
    },
  },
  responses: {
    202: {
      description: "The job is queued.",
      headers: { Location: { description: "where the job's state is", schema: { type: "string" } } },
      content: json(jobView),
    },
    ...problems(...anyRequest, "bad-request", "timeout", "too-large", "unsupported-type", "invalid", "quota-exceeded", "busy", "no-space"),
  },
});

export const jobRoute = createRoute({
  method: "get",
  path: "/v1/jobs/{id}",
  operationId: "getJob",
  summary: "How a job stands, and its results once it is done.",
  security,
  request: { params: z.object({ id }) },
  responses: { 200: { description: "The job.", content: json(jobView) }, ...problems(...anyRequest, "not-found") },
});

export const eventsRoute = createRoute({
  method: "get",
  path: "/v1/jobs/{id}/events",
  operationId: "followJob",
  summary: "The job's progress as server-sent events.",
  description:
    "The data of each event is the job as GET /v1/jobs/{id} gives it: at once, then after each change. Events are called `progress`, the " +
    "last one `end`. A lost connection may simply be opened again.",
  security,
  request: { params: z.object({ id }) },
  responses: {
    200: { description: "The events.", content: { "text/event-stream": { schema: z.string() } } },
    204: { description: "The client has had the last event already." },
    ...problems(...anyRequest, "not-found", "busy"),
  },
});

const binary = z.any().meta({ type: "string", format: "binary" });
const resultTypes = Object.fromEntries(
  [...new Set(Object.values(CONTENT_TYPES))].map((type) => [type, { schema: type === "application/json" ? z.looseObject({}) : binary }]),
);

export const resultRoute = createRoute({
  method: "get",
  path: "/v1/jobs/{id}/results/{name}",
  operationId: "getResult",
  summary: "One of the files a job has made.",
  security,
  request: { params: z.object({ id, name: z.enum(RESULT_NAMES).meta({ param: { name: "name", in: "path" } }) }) },
  responses: {
    200: { description: "The file.", content: resultTypes },
    ...problems(...anyRequest, "not-found", "not-ready"),
  },
});

export const deleteRoute = createRoute({
  method: "delete",
  path: "/v1/jobs/{id}",
  operationId: "deleteJob",
  summary: "Stop a job if it has not ended, and remove its images and results.",
  security,
  request: { params: z.object({ id }) },
  responses: { 204: { description: "It is gone." }, ...problems(...anyRequest, "not-found") },
});

export const quotaRoute = createRoute({
  method: "get",
  path: "/v1/quota",
  operationId: "getQuota",
  summary: "What the jobs of the token use, and what they may use.",
  security,
  responses: { 200: { description: "The quota.", content: json(quotaView) }, ...problems(...anyRequest, "busy") },
});

export const healthRoute = createRoute({
  method: "get",
  path: "/v1/health",
  operationId: "getHealth",
  summary: "Whether the server lives and a job sent now would be computed.",
  responses: {
    200: { description: "It lives, and a job sent now would be computed.", content: json(healthView) },
    503: { description: "It lives, but a job sent now would be refused or have to wait.", content: json(healthView) },
    ...problems(...openRequest),
  },
});

export const liveRoute = createRoute({
  method: "get",
  path: "/v1/health/live",
  operationId: "getLiveness",
  summary: "Whether the server lives; says nothing of the queue.",
  responses: { 200: { description: "It lives.", content: json(z.object({ live: z.literal(true) })) }, ...problems(...openRequest) },
});
