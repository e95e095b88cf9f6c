import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { buffer, text } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { startWebServer } from "../../src/cli/webServer.ts";
import { copySite, openSite } from "../../src/cli/webSite.ts";
import { runCommand } from "../helpers/command.ts";

const root = mkdtempSync(join(tmpdir(), "dualfocus-web-"));
after(() => {
  rmSync(root, { recursive: true });
});

const FILES = {
  "package.json": "{}",
  "dist/web/index.html": "<!doctype html><title>page</title>",
  "dist/web/assets/app-1a2b.js": "export {};",
  "dist/web/runtime/ort.mjs": "export {};",
  "dist/web/runtime/ort.wasm": "\0asm",
  "models/small.safetensors": "small",
  "models/fine.safetensors": "fine",
  "models/README.md": "not for the page",
  "examples/desk/plane_00.png": "picture",
  "examples/desk/stack.json": "{}",
  "examples/desk/depth.npy": "not for the page",
  "secret.txt": "secret",
};
for (const [path, content] of Object.entries(FILES)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}
const server = await startWebServer(openSite(root), { host: "127.0.0.1", port: 0 });
after(() => server.close());
const { port } = new URL(server.url);

/** Unlike fetch, sends the path as it stands. */
async function ask(path: string, { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {}) {
  const [response] = (await once(get({ host: "127.0.0.1", port, path, method, headers }), "response")) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

test("the page, its scripts and its WebAssembly come with the types browsers insist on", async () => {
  const types = await Promise.all(
    ["/", "/?device=wasm", "/assets/app-1a2b.js", "/runtime/ort.mjs", "/runtime/ort.wasm", "/models/small.safetensors"].map(
      async (path) => (await ask(path)).headers["content-type"],
    ),
  );
  const [html, script] = ["text/html; charset=utf-8", "text/javascript; charset=utf-8"];
  assert.deepEqual(types, [html, html, script, script, "application/wasm", "application/octet-stream"]);
});

test("weights and pictures of examples are served from the package; nothing else of it is", async () => {
  assert.equal((await ask("/models/fine.safetensors")).body, "fine");
  assert.equal((await ask("/examples/desk/plane_00.png")).body, "picture");
  for (const path of ["/models/README.md", "/examples/desk/depth.npy", "/secret.txt", "/package.json"])
    assert.equal((await ask(path)).status, 404, path);
});

test("no path leads out of the page", async () => {
  const paths = [
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/assets/..%2f..%2f..%2fsecret.txt",
    "/%2e%2e/%2e%2e/secret.txt",
    "//secret.txt",
    "/%zz",
  ];
  for (const path of [...paths, join(root, "secret.txt"), "/assets", "/assets/"]) {
    const { status, body } = await ask(path);
    assert.equal(status, 404, path);
    assert.doesNotMatch(body, /secret/, path);
  }
});

test("every answer isolates the page, forbids other origins and names no referrer", async () => {
  for (const answer of [await ask("/"), await ask("/nothing"), await ask("/", { method: "POST" })]) {
    assert.equal(answer.headers["cross-origin-opener-policy"], "same-origin");
    assert.equal(answer.headers["cross-origin-embedder-policy"], "require-corp");
    assert.equal(answer.headers["cross-origin-resource-policy"], "same-origin");
    assert.equal(answer.headers["x-content-type-options"], "nosniff");
    assert.equal(answer.headers["referrer-policy"], "no-referrer");
    const policy = String(answer.headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'.*connect-src 'self'/);
    assert.doesNotMatch(policy, /https?:|unsafe-inline|'unsafe-eval'|\*/);
  }
});

test("what has not changed is not sent again; names with a hash are never asked for twice", async () => {
  const first = await ask("/models/small.safetensors");
  const again = await ask("/models/small.safetensors", { headers: { "If-None-Match": String(first.headers.etag) } });
  assert.deepEqual([first.status, again.status, again.body], [200, 304, ""]);
  assert.equal(first.headers["cache-control"], "no-cache");
  assert.match(String((await ask("/assets/app-1a2b.js")).headers["cache-control"]), /immutable/);
});

test("WebAssembly and text come compressed as the browser asks, weights and images never", async () => {
  const encoded = async (path: string, accepted: string) => {
    const [response] = (await once(get({ host: "127.0.0.1", port, path, headers: { "Accept-Encoding": accepted } }), "response")) as [
      IncomingMessage,
    ];
    return { headers: response.headers, bytes: await buffer(response) };
  };
  const brotli = await encoded("/runtime/ort.wasm", "gzip, deflate, br");
  assert.deepEqual([brotli.headers["content-encoding"], brotli.headers.vary], ["br", "Accept-Encoding"]);
  assert.equal(brotliDecompressSync(brotli.bytes).toString(), "\0asm");
  assert.equal(Number(brotli.headers["content-length"]), brotli.bytes.length);
  const zipped = await encoded("/runtime/ort.wasm", "gzip, br;q=0");
  assert.equal(zipped.headers["content-encoding"], "gzip");
  assert.equal(gunzipSync(zipped.bytes).toString(), "\0asm");
  assert.notEqual(zipped.headers.etag, brotli.headers.etag);
  assert.equal((await encoded("/runtime/ort.wasm", "identity")).bytes.toString(), "\0asm");
  assert.equal((await encoded("/models/small.safetensors", "gzip, br")).headers["content-encoding"], undefined);
});

test("HEAD gives the size without the file, other methods are refused", async () => {
  const head = await ask("/models/fine.safetensors", { method: "HEAD" });
  assert.deepEqual([head.status, head.headers["content-length"], head.body], [200, "4", ""]);
  const post = await ask("/", { method: "POST" });
  assert.deepEqual([post.status, post.headers.allow], [405, "GET, HEAD"]);
});

test("a copy for other hosts holds the page, the small weights and the examples, and only goes into a new folder", async () => {
  const folder = join(root, "copy");
  assert.equal(await copySite(openSite(root), folder), 7);
  assert.equal(readFileSync(join(folder, "models", "small.safetensors"), "utf8"), "small");
  assert.equal(readFileSync(join(folder, "examples", "desk", "stack.json"), "utf8"), "{}");
  assert.equal(gunzipSync(readFileSync(join(folder, "runtime", "ort.wasm.gz"))).toString(), "\0asm");
  assert.equal(brotliDecompressSync(readFileSync(join(folder, "runtime", "ort.wasm.br"))).toString(), "\0asm");
  assert.ok(existsSync(join(folder, "index.html")) && !existsSync(join(folder, "models", "fine.safetensors")));
  await assert.rejects(copySite(openSite(root), folder), { exitCode: 2, message: /copy is not empty/ });
  const file = join(folder, "index.html");
  await assert.rejects(copySite(openSite(root), file), { code: "output-unusable", message: `${file}: is a file, not a folder` });
});

test("a page that was not built is an error that says how to build it", () => {
  assert.throws(() => openSite(join(root, "examples")), { message: /has not been built/, remedy: /npm run build/ });
});

test("a taken port, a strange host and a strange port are told apart, with what to do", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const taken = String((other.address() as AddressInfo).port);
  const site = openSite(root);
  await assert.rejects(startWebServer(site, { host: "127.0.0.1", port: Number(taken) }), {
    code: "address-unavailable",
    message: `127.0.0.1, port ${taken}: another program listens there`,
    facts: { host: "127.0.0.1", port: Number(taken), errno: "EADDRINUSE" },
  });
  await assert.rejects(startWebServer(site, { host: "203.0.113.7", port: 0 }), {
    message: /^203\.0\.113\.7, port 0: this machine has no such address/,
  });
  const again = await runCommand(t, "web", "--port", taken, "--host", "127.0.0.1", "--no-open");
  assert.deepEqual([again.code, /--port 0/.test(again.err)], [2, true], again.err);
  const { code, err } = await runCommand(t, "web", "--port", "70000");
  assert.equal(code, 2);
  assert.match(err, /0 to 65535/);
});

test("the command prints the page's address and stops at Ctrl-C", { timeout: 300_000 }, async () => {
  const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");
  const child = spawn(process.execPath, [...process.execArgv, main, "web", "--port", "0", "--no-open"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await Promise.race([once(child.stdout, "data"), once(child, "exit")]).then(String);
  const page = await fetch(line.trim());
  assert.match(await page.text(), /<title>.*DualFocus/s);
  child.kill("SIGINT");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});
