import { AwsClient } from "aws4fetch";
import { createHash } from "node:crypto";
import { createWriteStream, openAsBlob } from "node:fs";
import { rm, unlink } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import type { ReadableStream } from "node:stream/web";

import { storeKeySchema } from "./job.ts";
import { missingFile, type FileStore, type StoredFile } from "./store.ts";

export interface S3Options {
  readonly bucket: string;
  /** Put before every key; without slashes at its ends. May be empty. */
  readonly prefix: string;
  /** Of a service other than Amazon's: https://minio.example:9000. */
  readonly endpoint?: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Seconds before the second attempt; it doubles from then on. */
  readonly retryAfter?: number;
}

const ATTEMPTS = 5;

/** A bucket of an S3-compatible service. Conditional writes (`If-None-Match: *`) must be known to it: Amazon, MinIO, R2, Ceph have them. */
export function createS3Store(options: S3Options): FileStore {
  const request = createRequester(options);
  const put = async (key: string, file: string): Promise<void> => {
    const body = await openAsBlob(file); // read as it is sent, with its length known
    await expect(await request("PUT", key, { body }), `${key}: cannot be stored`);
  };
  return {
    name: `s3://${[options.bucket, ...(options.prefix === "" ? [] : [options.prefix])].join("/")}`,
    put,
    async move(key, file) {
      await put(key, file);
      await unlink(file);
    },
    async putOnce(key, text) {
      const response = await request("PUT", key, { body: new Blob([text]), headers: { "if-none-match": "*" } });
      if (response.status === 412) {
        await response.body?.cancel();
        return false;
      }
      await expect(response, `${key}: cannot be stored`);
      return true;
    },
    async fetch(key, file) {
      const response = await request("GET", key);
      if (response.status === 404) throw missingFile(key);
      try {
        await pipeline(bodyOf(await expect(response, `${key}: cannot be read`)), createWriteStream(file, { flags: "wx", mode: 0o600 }));
      } catch (cause) {
        await rm(file, { force: true });
        throw cause;
      }
    },
    async open(key) {
      const response = await request("GET", key);
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      await expect(response, `${key}: cannot be read`);
      return { size: Number(response.headers.get("content-length")), stream: bodyOf(response) };
    },
    list: (prefix) => listObjects(request, options, prefix),
    async remove(prefix) {
      for (const { key } of await listObjects(request, options, prefix))
        await expect(await request("DELETE", key), `${key}: cannot be removed`);
    },
  };
}

interface Extras {
  readonly body?: Blob;
  readonly headers?: Record<string, string>;
  readonly query?: Readonly<Record<string, string>>;
}

/** `key` undefined is the bucket itself. */
type Requester = (method: string, key: string | undefined, extras?: Extras) => Promise<Response>;

function createRequester(options: S3Options): Requester {
  const { bucket, prefix, endpoint, region, retryAfter = 0.2 } = options;
  const { accessKeyId, secretAccessKey, sessionToken } = options;
  const client = new AwsClient({
    ...{ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 },
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
  const base = endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint.replace(/\/+$/, "")}/${bucket}`;
  const attempt = async (method: string, url: URL, { body, headers = {} }: Extras): Promise<Response> => {
    // Signed without the body (UNSIGNED-PAYLOAD) where TLS covers it: it is as large as an image.
    const hash = url.protocol === "http:" ? { "x-amz-content-sha256": await sha256(body) } : {};
    const signed = await client.sign(url, { method, headers: { ...headers, ...hash } });
    return fetch(url, { method, headers: signed.headers, ...(body ? { body } : {}) });
  };
  return async (method, key, extras = {}) => {
    const path = key === undefined ? [] : [...(prefix === "" ? [] : [prefix]), storeKeySchema.parse(key)];
    const url = new URL([base, ...path].join("/"));
    for (const [name, value] of Object.entries(extras.query ?? {})) url.searchParams.set(name, value);
    for (let n = 1; ; n++) {
      const response = await attempt(method, url, extras).catch((cause: unknown) => {
        if (n === ATTEMPTS) throw new Error(`${method} ${url.origin}${url.pathname}: ${reasonOf(cause)}`, { cause });
        return undefined;
      });
      const again = !response || response.status >= 500 || response.status === 429 || response.status === 409;
      if (response && (!again || n === ATTEMPTS)) return response;
      await response?.body?.cancel();
      await setTimeout(1000 * retryAfter * 2 ** (n - 1));
    }
  };
}

async function sha256(body: Blob = new Blob()): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of body.stream() as ReadableStream<Uint8Array>) hash.update(chunk);
  return hash.digest("hex");
}

/** `fetch failed` alone says nothing; its cause does. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? reasonOf(cause.cause) : cause.message;
}

const bodyOf = ({ body }: Response): Readable => (body ? Readable.fromWeb(body as ReadableStream) : Readable.from([]));

async function expect(response: Response, otherwise: string): Promise<Response> {
  if (response.ok) return response;
  const text = (await response.text()).slice(0, 2000);
  const said = /<Message>([^<]*)/.exec(text)?.[1] ?? /<Code>([^<]*)/.exec(text)?.[1] ?? response.statusText;
  throw new Error(`${otherwise} (${response.status} ${said})`);
}

async function listObjects(request: Requester, { prefix }: S3Options, folder: string): Promise<StoredFile[]> {
  const start = prefix === "" ? "" : `${prefix}/`;
  const files: StoredFile[] = [];
  let next: string | undefined;
  do {
    const query = { "list-type": "2", prefix: `${start}${storeKeySchema.parse(folder)}/`, ...(next ? { "continuation-token": next } : {}) };
    const text = await (await expect(await request("GET", undefined, { query }), `${folder}: cannot be listed`)).text();
    for (const [, content = ""] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs))
      files.push({
        key: element(content, "Key").slice(start.length),
        size: Number(element(content, "Size")),
        changedAt: Date.parse(element(content, "LastModified")),
      });
    next = element(text, "IsTruncated") === "true" ? element(text, "NextContinuationToken") : undefined;
  } while (next);
  return files;
}

/** Our keys hold no character that XML would escape; a continuation token may. */
function element(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "";
  const characters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, escaped: string) => characters[escaped] ?? "");
}
