import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { createDirectoryStore } from "../../src/queue/directoryStore.ts";
import { openStore } from "../../src/queue/openStore.ts";
import { createS3Store } from "../../src/queue/s3Store.ts";
import { readText, type FileStore } from "../../src/queue/store.ts";
import { temporaryFolder } from "./helpers/stack.ts";

interface Bucket {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  /** `METHOD path` of every request, and what was wrong with its signature. */
  readonly requests: string[];
  /** Of the body, as each request was signed with. */
  readonly hashes: (string | undefined)[];
  /** Answers with these codes first, then properly. */
  readonly failures: number[];
}

/** As much of S3 as a store needs: put, get, delete, list in pages of two, conditional writes. */
async function startBucket(context: TestContext): Promise<Bucket> {
  const bucket: Bucket = { endpoint: "", objects: new Map(), requests: [], hashes: [], failures: [] };
  const server: Server = createServer((request, response) => {
    void answer(bucket, request).then(({ code, body = "" }) =>
      response.writeHead(code, code === 204 ? {} : { "content-length": Buffer.byteLength(body) }).end(body),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return Object.assign(bucket, { endpoint: `http://127.0.0.1:${port}` });
}

const SIGNED = /^AWS4-HMAC-SHA256 Credential=key-id\/\d{8}\/eu-test-1\/s3\/aws4_request, SignedHeaders=.*host.*, Signature=[0-9a-f]{64}$/;

async function answer(bucket: Bucket, request: IncomingMessage): Promise<{ code: number; body?: string | Buffer }> {
  const { objects, requests, hashes, failures } = bucket;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
  const { method = "", headers } = request;
  requests.push(`${method} ${pathname}`);
  hashes.push(headers["x-amz-content-sha256"] as string | undefined);
  const failure = failures.shift();
  if (failure !== undefined) return { code: failure };
  if (!SIGNED.test(headers.authorization ?? "") || headers["x-amz-date"] === undefined)
    return { code: 403, body: "<Code>AccessDenied</Code>" };
  const key = pathname.replace(/^\/pictures\/?/, "");
  if (method === "GET" && key === "") return { code: 200, body: listing(objects, searchParams) };
  if (method === "PUT") {
    if (headers["content-length"] === undefined) return { code: 411 };
    if (headers["if-none-match"] === "*" && objects.has(key)) return { code: 412 };
    objects.set(key, Buffer.concat(chunks));
    return { code: 200 };
  }
  if (method === "DELETE") return { code: objects.delete(key) ? 204 : 404 };
  const body = objects.get(key);
  return body ? { code: 200, body } : { code: 404, body: "<Code>NoSuchKey</Code>" };
}

function listing(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams): string {
  const keys = [...objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "")).sort();
  const start = Number((query.get("continuation-token") ?? "0&").replace("&", ""));
  const contents = keys
    .slice(start, start + 2)
    .map(
      (key) =>
        `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><Size>${objects.get(key)?.length}</Size></Contents>`,
    );
  const isMore = start + 2 < keys.length;
  const next = isMore ? `<NextContinuationToken>${start + 2}&amp;</NextContinuationToken>` : "";
  return `<ListBucketResult><IsTruncated>${isMore}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`;
}

const s3 = ({ endpoint }: Bucket): FileStore =>
  createS3Store({
    bucket: "pictures",
    prefix: "here",
    endpoint,
    region: "eu-test-1",
    accessKeyId: "key-id",
    secretAccessKey: "secret",
    retryAfter: 0.001,
  });

const KINDS: readonly { kind: string; open: (context: TestContext) => Promise<FileStore> }[] = [
  { kind: "directory", open: async (context) => createDirectoryStore(await temporaryFolder(context)) },
  { kind: "bucket", open: async (context) => s3(await startBucket(context)) },
];

for (const { kind, open } of KINDS) {
  test(`a ${kind} gives back what was put into it, lists it and forgets it`, async (context) => {
    const [store, folder] = [await open(context), await temporaryFolder(context)];
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
    await writeFile(join(folder, "a"), bytes);
    for (const key of ["jobs/one/frames/0.png", "jobs/one/frames/1.png", "jobs/one/x.json"]) await store.put(key, join(folder, "a"));
    await store.move("jobs/one-more/0.png", join(folder, "a"));
    assert.deepEqual(await readdir(folder), [], "a moved file is gone here");

    await store.fetch("jobs/one/frames/1.png", join(folder, "b"));
    assert.deepEqual(await readFile(join(folder, "b")), bytes);
    const opened = await store.open("jobs/one-more/0.png");
    assert.equal(opened?.size, 100_000);
    opened.stream.destroy();
    const listed = await store.list("jobs/one");
    assert.deepEqual(listed.map(({ key, size }) => `${key} ${size}`).sort(), [
      "jobs/one/frames/0.png 100000",
      "jobs/one/frames/1.png 100000",
      "jobs/one/x.json 100000",
    ]);
    assert.ok(listed.every(({ changedAt }) => changedAt > 1.7e12));

    await store.remove("jobs/one");
    await store.remove("jobs/one");
    assert.deepEqual(await store.list("jobs/one"), []);
    assert.equal((await store.list("jobs")).length, 1, "one-more is not below one");
  });

  test(`of many who write once into a ${kind}, one succeeds and its text stays`, async (context) => {
    const store = await open(context);
    const texts = Array.from({ length: 8 }, (_, i) => `text ${i}`);
    const succeeded = await Promise.all(texts.map((text) => store.putOnce("jobs/one/results.json", text)));
    assert.equal(succeeded.filter(Boolean).length, 1);
    assert.equal(await readText(store, "jobs/one/results.json"), texts[succeeded.indexOf(true)]);
  });

  test(`a ${kind} says what is missing and takes no key that leads out of it`, async (context) => {
    const [store, folder] = [await open(context), await temporaryFolder(context)];
    await assert.rejects(store.fetch("jobs/none/0.png", join(folder, "x")), { code: "job-files-missing" });
    assert.deepEqual(await readdir(folder), [], "and leaves no empty file");
    assert.equal(await store.open("jobs/none"), undefined);
    for (const key of ["../x", "a/../../x", "/etc/passwd", "a//b", ".partial/x", "a/.b", "", "a\\b", "a b"]) {
      await assert.rejects(async () => store.open(key), /a key is names of/, key);
      await assert.rejects(async () => store.remove(key), /a key is names of/, key);
    }
  });
}

test("a bucket's requests are signed, carry the prefix and come again after failures of the service", async (context) => {
  const [bucket, folder] = [await startBucket(context), await temporaryFolder(context)];
  const store = s3(bucket);
  assert.equal(store.name, "s3://pictures/here");
  await writeFile(join(folder, "a"), "hello");
  bucket.failures.push(503, 500, 429);
  await store.put("jobs/one/a.txt", join(folder, "a"));
  assert.deepEqual(bucket.requests, Array(4).fill("PUT /pictures/here/jobs/one/a.txt"));
  assert.equal(bucket.objects.get("here/jobs/one/a.txt")?.toString(), "hello");
  bucket.failures.push(...Array<number>(5).fill(503));
  await assert.rejects(store.put("jobs/one/b.txt", join(folder, "a")), /jobs\/one\/b\.txt: cannot be stored \(503/);
  const wrongKey = createS3Store({
    bucket: "pictures",
    prefix: "",
    endpoint: bucket.endpoint,
    region: "eu-test-1",
    accessKeyId: "other",
    secretAccessKey: "x",
  });
  await assert.rejects(wrongKey.put("a", join(folder, "a")), /a: cannot be stored \(403 AccessDenied\)/);
});

test("what a directory keeps is readable by its owner alone", async (context) => {
  const folder = await temporaryFolder(context);
  const root = join(folder, "new", "store");
  const store = await openStore(root);
  for (const name of ["a", "b"]) await writeFile(join(folder, name), "x", { mode: 0o644 });
  await store.put("jobs/one/frames/0.png", join(folder, "a"));
  await store.move("jobs/one/runs/r/depth.npy", join(folder, "b"));
  await store.putOnce("jobs/one/results.json", "{}");
  const modes = await Promise.all(
    (await readdir(root, { recursive: true, withFileTypes: true })).map(async (entry) => {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      return `${entry.isFile() ? "file" : "folder"} ${(mode & 0o777).toString(8)}`;
    }),
  );
  assert.deepEqual([...new Set(modes)].sort(), ["file 600", "folder 700"]);
  assert.equal((await stat(root)).mode & 0o777, 0o700);
});

test("a bucket without TLS is refused, but on this machine or where it was allowed; its bodies are then signed", async (context) => {
  const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
  const at = (endpoint: string, more: Record<string, string> = {}): Promise<FileStore> =>
    openStore("s3://bucket", { ...keys, AWS_ENDPOINT_URL_S3: endpoint, ...more });
  for (const endpoint of ["https://minio.example:9000", "http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000"])
    await at(endpoint);
  for (const endpoint of ["http://minio.example:9000", "HTTP://minio.example", "http://10.0.0.7", "http://127.0.0.1.evil.example"])
    await assert.rejects(at(endpoint), { code: "store-insecure", message: /in the clear/ }, endpoint);
  await at("http://minio.example:9000", { DUALFOCUS_S3_ALLOW_HTTP: "1" });
  for (const endpoint of ["minio.example:9000", "ftp://minio.example", "nonsense"])
    await assert.rejects(at(endpoint), { code: "bad-store" }, endpoint);

  const [bucket, folder] = [await startBucket(context), await temporaryFolder(context)];
  await writeFile(join(folder, "a"), "hello");
  await s3(bucket).put("a", join(folder, "a"));
  assert.equal(bucket.hashes.at(-1), createHash("sha256").update("hello").digest("hex"));
});

test("a store is opened by its name; one that cannot be is an error that says what to do", async (context) => {
  const folder = join(await temporaryFolder(context), "new", "store");
  assert.equal((await openStore(folder)).name, folder);
  const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
  assert.equal((await openStore("s3://bucket/some/prefix/", keys)).name, "s3://bucket/some/prefix");
  assert.equal((await openStore("s3://bucket", keys)).name, "s3://bucket");
  await assert.rejects(openStore("s3://bucket", {}), {
    code: "store-keys-missing",
    message: /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set/,
  });
  await assert.rejects(openStore("ftp://host/x", keys), {
    code: "bad-store",
    message: "ftp://host/x: not a kind of store that is known",
  });
  await mkdir(join(folder, "sub"));
  await writeFile(join(folder, "file"), "");
  await assert.rejects(openStore(join(folder, "file")), {
    code: "output-unusable",
    message: /is a file, not a folder/,
  });
});
