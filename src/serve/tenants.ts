import { createHash, timingSafeEqual } from "node:crypto";

import { DualFocusError } from "../errors.ts";
import { DEFAULT_TENANT, tenantNameSchema } from "../queue/job.ts";

/** What a tenant may use; `Infinity` for any amount. */
export interface Quota {
  /** Jobs at a time that wait or run, uploads included. */
  readonly jobs: number;
  /** Bytes of the images of all jobs that are kept. */
  readonly bytes: number;
  readonly requestsPerMinute: number;
}

/** Whoever holds a token. Tenants see their own jobs and nothing of each other's. */
export interface Tenant {
  readonly name: string;
  readonly quota: Quota;
  /** Whether it may read the metrics, which count everyone's jobs. */
  readonly metrics: boolean;
}

/** A token is kept as its SHA-256 only. */
export interface Token {
  readonly digest: Buffer;
  readonly tenant: Tenant;
}

const UNLIMITED: Quota = { jobs: Infinity, bytes: Infinity, requestsPerMinute: Infinity };

/** Everyone, where the server has no tokens; the holder of the token, where it has a single one without a name. */
export const ONLY_TENANT: Tenant = { name: DEFAULT_TENANT, quota: UNLIMITED, metrics: true };

const TOKEN = /^[\w\-.~+/]{16,}=*$/;
const DIGEST = /^sha256:([0-9a-f]{64})$/i;
const PLACEHOLDER = /change.?me|replace.?me|place.?holder|example|your.?token/i;
const FEWEST_CHARACTERS = 6; // different ones; 16 random hexadecimal digits hardly ever have fewer

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * Reads tokens, one a line: `TOKEN` alone, or `NAME TOKEN` and any of `jobs=N`, `megabytes=N`, `rate=N` (requests per minute) and `metrics`.
 * Several lines of one name are several tokens of one tenant, of which the first line has the limits. Instead of a token there may be
 * `sha256:` and the hexadecimal digits of its hash. `source` names the text in errors, which never repeat a token.
 */
export function parseTokens(text: string, source: string): Token[] {
  const tenants = new Map<string, Tenant>();
  const tokens: Token[] = [];
  for (const [index, line] of text.split(/\r?\n|;/).entries()) {
    const words = line.replace(/#.*/, "").trim().split(/\s+/).filter(Boolean);
    if (words.length === 0) continue;
    const fail = (reason: string): never => {
      throw new DualFocusError("bad-tokens", `${source}, line ${index + 1}: ${reason}`);
    };
    const [name, secret = "", ...limits] = words.length === 1 ? [DEFAULT_TENANT, ...words] : words;
    const before = tenants.get(name ?? "");
    if (before && limits.length > 0) fail(`${before.name} has limits already; give them in its first line only`);
    const tenant = before ?? (words.length === 1 ? ONLY_TENANT : readTenant(name ?? "", limits, fail));
    tenants.set(tenant.name, tenant);
    tokens.push({ tenant, digest: readDigest(secret, fail) });
  }
  if (tokens.length === 0) throw new DualFocusError("bad-tokens", `${source}: holds no token`);
  return tokens;
}

type Fail = (reason: string) => never;

function readTenant(name: string, words: readonly string[], fail: Fail): Tenant {
  if (!tenantNameSchema.safeParse(name).success) fail("a name has up to 32 letters, digits, ., - and _, and a token follows it");
  const limits = new Map<string, number>();
  for (const word of words.filter((each) => each !== "metrics")) {
    const [, key = "", value = ""] = /^(jobs|megabytes|rate)=([1-9]\d{0,8})$/.exec(word) ?? [];
    if (key === "" || limits.has(key)) fail("after the token come jobs=N, megabytes=N, rate=N and metrics, each at most once");
    limits.set(key, Number(value));
  }
  const quota = {
    jobs: limits.get("jobs") ?? Infinity,
    bytes: (limits.get("megabytes") ?? Infinity) * 2 ** 20,
    requestsPerMinute: limits.get("rate") ?? Infinity,
  };
  return { name, quota, metrics: words.includes("metrics") };
}

function readDigest(secret: string, fail: Fail): Buffer {
  const digest = DIGEST.exec(secret)?.[1];
  if (digest !== undefined) return Buffer.from(digest, "hex");
  if (!TOKEN.test(secret)) fail("a token has 16 or more letters, digits and -._~+/");
  if (PLACEHOLDER.test(secret) || new Set(secret).size < FEWEST_CHARACTERS) fail("this is a placeholder, not a random token");
  return digestOf(secret);
}

/**
 * Finds whose token an Authorization header carries. Hashes are compared, and with all tokens whether one has matched or not, so that the
 * time taken reveals nothing of any.
 */
export function createTokenCheck(tokens: readonly Token[]): (authorization: string | undefined) => Tenant | undefined {
  return (authorization = "") => {
    const given = /^Bearer ([\w\-.~+/]+=*) *$/i.exec(authorization)?.[1];
    const digest = digestOf(given ?? "");
    const [holder] = tokens.filter((token) => timingSafeEqual(digest, token.digest));
    return given === undefined ? undefined : holder?.tenant;
  };
}
