import { z } from "zod";

import { DualFocusError, ERRORS, type ErrorCode } from "../errors.ts";
import { errnoOf } from "../system/errno.ts";
import { remedyOf } from "./words.ts";

/** What can go wrong with a request: its status and a sentence for all of its kind. */
export const PROBLEMS = {
  "bad-request": { status: 400, title: "The request is malformed" },
  unauthorized: { status: 401, title: "A token is required" },
  forbidden: { status: 403, title: "The request comes from a site, or with a token, that may not do this" },
  "not-found": { status: 404, title: "Not found" },
  "method-not-allowed": { status: 405, title: "This method is not allowed here" },
  timeout: { status: 408, title: "The request took too long to arrive" },
  "not-ready": { status: 409, title: "The job has no results" },
  "too-large": { status: 413, title: "The request is too large" },
  "unsupported-type": { status: 415, title: "The type of the request or of a file is not supported" },
  expectation: { status: 417, title: "The expectation cannot be met" },
  misdirected: { status: 421, title: "The server does not answer to this host name" },
  invalid: { status: 422, title: "The stack or its options cannot be used" },
  "rate-limited": { status: 429, title: "Too many requests" },
  "quota-exceeded": { status: 429, title: "The quota of the token is used up" },
  "header-too-large": { status: 431, title: "The headers of the request are too large" },
  internal: { status: 500, title: "Something went wrong in the server" },
  busy: { status: 503, title: "The server is busy" },
  "no-space": { status: 507, title: "The server is out of disk space" },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;
export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
const CODES = [...(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]), ...ERROR_CODES] as const;

/** The body of every answer that is not a success (RFC 9457). */
export const problemSchema = z
  .object({
    type: z.string().describe("urn:dualfocus:problem: and the code"),
    title: z.string().describe("what kind of problem it is"),
    status: z.int().describe("the HTTP status"),
    code: z.enum(CODES).describe("stable, for programs: of the request, or what exactly is wrong with the stack"),
    detail: z.string().describe("what was wrong with this request"),
    remedy: z.string().describe("what to do about it"),
  })
  .meta({ id: "Problem", description: "What went wrong and what to do about it (RFC 9457)" });

interface ProblemParts {
  readonly detail: string;
  readonly remedy: string;
  /** Further headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Thrown anywhere in a request; the client sees the code, the detail and the remedy, nothing else. `cause` may give a code of its own. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly remedy: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, { detail, remedy, headers = {}, cause }: ProblemParts) {
    super(detail, cause === undefined ? undefined : { cause });
    this.code = code;
    this.remedy = remedy;
    this.headers = headers;
  }
}

/** A limit is passed. What is still being sent is not read. */
export const tooLarge = (detail: string): Problem =>
  new Problem("too-large", {
    detail,
    remedy: "send fewer or smaller images, or ask whoever runs the server for a higher limit",
    headers: { Connection: "close" },
  });

export function problemBody({ code: kind, message, remedy, cause }: Problem): string {
  const { status, title } = PROBLEMS[kind];
  const code = kind === "invalid" && cause instanceof DualFocusError ? cause.code : kind;
  const body: z.infer<typeof problemSchema> = { type: `urn:dualfocus:problem:${code}`, title, status, code, detail: message, remedy };
  return JSON.stringify(body);
}

export function problemResponse(problem: Problem): Response {
  const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store", ...problem.headers };
  return new Response(problemBody(problem), { status: PROBLEMS[problem.code].status, headers });
}

/** A stack or options that cannot be used, in the server's words. */
export const invalid = (error: DualFocusError): Problem =>
  new Problem("invalid", { detail: error.message, remedy: remedyOf(error), cause: error });

/** Whatever was thrown, as something a client may see: what is not a `Problem` reveals nothing of the inside. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (["ENOSPC", "EDQUOT"].includes(errnoOf(error) ?? ""))
    return new Problem("no-space", {
      detail: "the disk is full",
      remedy: "try again later",
      headers: { "Retry-After": "60" },
      cause: error,
    });
  return new Problem("internal", { detail: "the server failed", remedy: "try again later; the server's log says more", cause: error });
}
