import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JobView } from "../../src/serve/schemas.ts";
import { tiffBomb } from "../io/hostileTiff.ts";
import { cr3File, rafFile } from "../io/rawLayouts.ts";
import * as files from "./hostileFiles.ts";
import { BOUNDARY, frame, multipart, optionsPart, tiff, type Part } from "./hostileFiles.ts";
import { filesIn, sendRaw, stackPictures, withServer, type TestServer } from "./server.ts";

const limits = { frames: 8, fileBytes: 300_000, requestBytes: 1_000_000, idleSeconds: 1, headerSeconds: 2 };
const pictures = stackPictures();
const frames = pictures.map((bytes) => frame(bytes));
const [a, b, c] = frames as [Part, Part, Part];
const [SMALL, LARGE] = [
  { width: 64, height: 48 },
  { width: 40_000, height: 30_000 },
]; // pixels
const [small, jpegBomb] = [await files.jpegClaiming(64, 48), await files.jpegClaiming(65_000, 65_000)];
const type = `Content-Type: multipart/form-data; boundary=${BOUNDARY}`;

interface Request {
  readonly line?: string;
  readonly host?: string;
  readonly headers?: readonly string[];
  readonly body?: Uint8Array | string;
  /** The Content-Length to claim; null for none. */
  readonly length?: number | string | null;
}

/** A request as bytes. */
function request({ line = "POST /v1/depth HTTP/1.1", host = "127.0.0.1", headers = [type], body = "", length }: Request): Buffer {
  const size = length === undefined ? Buffer.byteLength(body) : length;
  const head = [
    line,
    ...(host === "" ? [] : [`Host: ${host}`]),
    "Connection: close",
    ...headers,
    ...(size === null ? [] : [`Content-Length: ${size}`]),
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
}

const get = (path: string, extra: Request = {}): Buffer => request({ line: `GET ${path} HTTP/1.1`, headers: [], length: null, ...extra });
const post = (parts: readonly Part[], extra: Request = {}): Buffer => request({ body: multipart(parts), ...extra });
const withOptions = (options: unknown): Buffer => post([...frames, optionsPart(options)]);
const chunked = (body: Uint8Array): Buffer =>
  request({
    headers: [type, "Transfer-Encoding: chunked"],
    length: null,
    body: Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]),
  });
const job = "0b1c2d3e-0000-4000-8000-123456789abc";
const large = new Uint8Array(400_000).fill(0x89);
const tinyFrame = frame(await files.picture(8, 8));
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>';

/** What is sent, and the status it deserves. */
const HOSTILE: readonly (readonly [name: string, status: number, bytes: Buffer])[] = [
  // not a form
  ["no body and no type", 415, request({ headers: [] })],
  ["JSON instead of a form", 415, request({ headers: ["Content-Type: application/json"], body: "{}" })],
  ["a form without files' encoding", 415, request({ headers: ["Content-Type: application/x-www-form-urlencoded"], body: "frames=a" })],
  ["a type that only begins like a form", 415, request({ headers: [`Content-Type: multipart/form-database; boundary=${BOUNDARY}`] })],
  ["no boundary", 400, post(frames, { headers: ["Content-Type: multipart/form-data"] })],
  ["a compressed body", 415, post(frames, { headers: [type, "Content-Encoding: gzip"] })],
  ["text that is no form", 400, request({ body: "hello, I am no form at all" })],
  ["another boundary than announced", 400, post(frames, { headers: ["Content-Type: multipart/form-data; boundary=other"] })],
  ["a form broken off in a picture", 400, request({ body: multipart(frames).subarray(0, 2000) })],
  ["a form broken off in a part's headers", 400, request({ body: multipart([a, b]).subarray(0, 60) })],
  ["a form without its end", 400, request({ body: multipart(frames, { close: false }) })],
  ["fewer bytes than announced", 408, post(frames, { length: 900_000 })],
  ["an empty form", 422, post([])],
  ["part headers without end", 422, post([{ headers: `${a.headers}\r\nX-Long: ${"x".repeat(100_000)}`, body: a.body }])],
  // too much
  ["more pictures than allowed", 413, post(Array.from({ length: 9 }, () => a))],
  ["thousands of empty parts", 413, post(Array.from({ length: 5000 }, () => frame("")))],
  ["a picture that is too large", 413, post([a, b, frame(large)])],
  ["a request that says it is too large", 413, request({ length: 5_000_000_000, body: multipart([a]) })],
  [
    "a request that is too large and does not say so",
    413,
    chunked(
      multipart([
        frame(large.subarray(0, 290_000)),
        frame(large.subarray(0, 290_000)),
        frame(large.subarray(0, 290_000)),
        frame(large.subarray(0, 290_000)),
      ]),
    ),
  ],
  ["options of a megabyte", 413, post([...frames, optionsPart(`"${"x".repeat(200_000)}"`)])],
  // options
  ["a part of another name", 400, post([...frames, { headers: 'Content-Disposition: form-data; name="callback"', body: "http://evil" }])],
  ["options twice", 400, post([...frames, optionsPart({}), optionsPart({})])],
  ["options that are not JSON", 400, withOptions("{distances: 1")],
  ["options that are a list", 422, withOptions([1, 2, 3])],
  ["options nested thirty thousand deep", 422, withOptions(`${"[".repeat(30_000)}${"]".repeat(30_000)}`)],
  ["an option there is not", 422, withOptions({ shell: "rm -rf /" })],
  ["an option of the command that names a file", 422, withOptions({ output: "/etc/cron.d/x" })],
  ["a prototype in the options", 422, withOptions('{"constructor": {"prototype": {"isAdmin": true}}}')],
  ["four thousand wrong options", 422, withOptions(Object.fromEntries(Array.from({ length: 4000 }, (_, n) => [`o${n}`, n])))],
  ["twenty thousand wrong distances", 422, withOptions({ distances: Array.from({ length: 20_000 }, () => "") })],
  ["negative distances", 422, withOptions({ distances: [-1, 1, 2] })],
  ["a distance of zero metres", 422, withOptions({ distances: [0, 1, 2] })],
  ["infinite distances", 422, withOptions('{"distances": [1, 2, 1e999]}')],
  ["distances that name a file", 422, withOptions({ distances: "/etc/passwd.txt" })],
  ["distances that name a file after a step", 422, withOptions({ distances: "1+1.txt" })],
  ["distances in words", 422, withOptions({ distances: "near, far" })],
  ["no distances in the text", 422, withOptions({ distances: "" })],
  ["a text of ten thousand distances", 422, withOptions({ distances: "1,".repeat(10_000) })],
  ["a text of fewer distances than pictures", 422, withOptions({ distances: "1m,2m" })],
  ["a step that leads behind the camera", 422, withOptions({ distances: "1m+-1m" })],
  ["units that cannot be compared", 422, withOptions({ distances: "1m,2index,3m" })],
  ["fewer distances than pictures", 422, withOptions({ distances: [1, 2] })],
  ["two equal distances", 422, withOptions({ distances: [1, 2, 2] })],
  ["a unit there is not", 422, withOptions({ distances: [1, 2, 3], unit: "furlong" })],
  ["a model outside the package", 422, withOptions({ model: "../../secret.safetensors" })],
  ["an alignment file of the server", 422, withOptions({ align: "/etc/passwd" })],
  ["a size of zero", 422, withOptions({ size: 0 })],
  ["a result with a path for a name", 422, withOptions({ save: ["../../../etc/passwd"] })],
  // pictures
  ["one picture", 422, post([a])],
  ["an empty picture", 422, post([a, b, frame("")])],
  ["a text that says it is a PNG", 415, post([a, b, frame("not a picture")])],
  ["an SVG that reads files", 415, post([a, b, frame(svg)])],
  ["a PDF", 415, post([a, b, frame("%PDF-1.7\n1 0 obj")])],
  ["a GIF", 415, post([a, b, frame("GIF89a\x40\x00\x30\x00")])],
  ["a form inside a form", 400, post([a, b, frame(multipart([c]))])],
  ["a PNG of nothing but its signature", 422, post([a, b, frame(pictures[0]?.slice(0, 8) ?? "")])],
  ["pictures of two sizes", 422, post([a, b, frame(await files.picture(48, 48))])],
  ["pictures of 8 pixels", 422, post(Array.from({ length: 3 }, () => tinyFrame))],
  ["a PNG bomb", 413, post([a, b, frame(await files.pngClaiming(50_000, 50_000))])],
  ["a PNG of two thousand million pixels a side", 413, post([a, b, frame(await files.pngClaiming(100_000, 20_000))])],
  ["a JPEG bomb", 413, post([a, b, frame(await files.jpegClaiming(65_000, 65_000))])],
  ["a WebP bomb", 413, post([a, b, frame(await files.webpClaiming(16_000, 16_000))])],
  ["a HEIC bomb", 413, post([a, b, frame(files.heicClaiming(40_000, 30_000))])],
  ["a HEIC of nothing but its brand", 422, post([a, b, frame("\0\0\0\x18ftypheic\0\0\0\0mif1heic")])],
  ["a DNG bomb", 413, post([a, b, frame(files.dngClaiming(40_000, 30_000))])],
  ["a DNG without a size", 422, post([a, b, frame(files.dngClaiming(0, 0))])],
  ["a raw file of nothing but its mark", 422, post([a, b, frame("IIRO\x08\0\0\0")])],
  ["a DNG with a JPEG bomb as its preview", 413, post([a, b, frame(Buffer.concat([files.dngClaiming(16, 16), jpegBomb]))])],
  ["a RAF bomb", 413, post([a, b, frame(rafFile(LARGE, small))])],
  ["a RAF with a JPEG bomb as its preview", 413, post([a, b, frame(rafFile(SMALL, jpegBomb))])],
  ["a RAF of nothing but its mark", 422, post([a, b, frame("FUJIFILMCCD-RAW 0201")])],
  ["a CR3 bomb", 413, post([a, b, frame(cr3File(LARGE, small))])],
  ["a CR3 whose compressed data are larger than its track", 413, post([a, b, frame(cr3File(SMALL, small, { compressed: LARGE }))])],
  ["a CR3 that says it is a HEIC as well", 413, post([a, b, frame(cr3File(SMALL, jpegBomb, { brands: "heiccrx mif1" }))])],
  ["a CR3 that says it is an AVIF as well", 413, post([a, b, frame(cr3File(SMALL, jpegBomb, { brands: "avifcrx mif1" }))])],
  ["a CR3 of nothing but its brand", 422, post([a, b, frame("\0\0\0\x18ftypcrx \0\0\0\x01crx isom")])],
  ["a bitmap bomb", 413, post([a, b, frame(files.bmpClaiming(40_000, 30_000))])],
  ["a bitmap of nothing but its mark", 422, post([a, b, frame(`BM${"\0".repeat(30)}`)])],
  [
    "a TIFF that claims a thousand megapixels",
    413,
    post([a, b, frame(tiff([{ width: 40_000, height: 25_000, strip: new Uint8Array(9) }]))]),
  ],
  ["a TIFF whose strip inflates to 40 MB", 413, post([frame(tiff([{}, { compression: 8, strip: files.deflatedZeros(40e6) }]))])],
  ["a TIFF whose strip unpacks to 150 MB by LZW", 413, post([frame(tiff([{}, { compression: 5, strip: files.lzwZeros(20) }]))])],
  ["a TIFF whose pages go round", 422, post([frame(tiff([{}, {}], { last: 8 }))])],
  ["a TIFF that claims a billion strip heights", 422, post([frame(tiffBomb())])],
  ["a TIFF that claims a billion strips", 422, post([frame(tiffBomb({ tag: 279 }))])],
  ["a TIFF that claims a billion sample sizes", 422, post([frame(tiffBomb({ tag: 258, type: 3 }))])],
  ["a TIFF with strips larger than itself", 422, post([frame(tiff([{}, { claimed: 4_000_000_000 }]))])],
  ["a TIFF with a hundred pages", 413, post([frame(tiff(Array.from({ length: 100 }, () => ({ width: 16, height: 16 }))))])],
  ["a TIFF with JPEG inside", 415, post([frame(tiff([{}, { compression: 7 }]))])],
  ["a TIFF of noise", 422, post([frame(Buffer.concat([Buffer.from("II*\0"), large.subarray(0, 500)]))])],
  // paths
  ["a path out of the jobs", 404, get("/v1/jobs/../../etc/passwd")],
  ["the same in disguise", 404, get("/v1/jobs/..%2f..%2fetc%2fpasswd")],
  ["a NUL in an id", 404, get("/v1/jobs/abcdefgh%00")],
  ["a broken escape in an id", 404, get("/v1/jobs/%zz%c0%af%c0%af")],
  ["a job there is not", 404, get(`/v1/jobs/${job}`)],
  ["events of a job there is not", 404, get(`/v1/jobs/${job}/events`)],
  ["a result by its path", 404, get(`/v1/jobs/${job}/results/..%2f..%2fresults.json`)],
  ["a result named like a property", 404, get(`/v1/jobs/${job}/results/__proto__`)],
  ["deleting a job there is not", 404, get("", { line: `DELETE /v1/jobs/${job} HTTP/1.1` })],
  ["GET where a stack is sent", 405, get("/v1/depth")],
  ["PUT", 405, request({ line: "PUT /v1/depth HTTP/1.1" })],
  ["TRACE", 405, get("", { line: "TRACE /v1/health HTTP/1.1" })],
  // headers
  ["two lengths", 400, post(frames, { headers: [type, "Content-Length: 5"] })],
  ["a length and chunks", 400, post(frames, { headers: [type, "Transfer-Encoding: chunked"] })],
  ["a negative length", 400, post(frames, { length: "-1" })],
  ["an encoding that hides chunks", 400, post(frames, { headers: [type, "Transfer-Encoding: xchunked"], length: null })],
  ["a header of 40 kB", 431, get("/v1/health", { headers: [`X-Long: ${"x".repeat(40_000)}`] })],
  ["a header with a bare line feed", 400, get("/v1/health", { headers: ["X-A: 1\nX-B: 2"] })],
  ["a NUL in a header", 400, get("/v1/health", { headers: ["X-A: 1\0"] })],
  ["no host", 400, get("/v1/health", { host: "" })],
  ["a host of another name", 421, get(`/v1/jobs/${job}`, { host: "rebound.example" })],
  ["a page of another site", 403, post(frames, { headers: [type, "Origin: https://evil.example"] })],
  ["a page without an origin", 403, post(frames, { headers: [type, "Origin: null"] })],
  ["an expectation nobody knows", 417, get("/v1/health", { headers: ["Expect: 200-ok"] })],
  ["no HTTP at all", 400, Buffer.from("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "latin1")],
  ["HTTP/2", 400, Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")],
];

async function statusOf({ port }: TestServer, bytes: Buffer): Promise<{ status: number; body: string }> {
  const answer = await sendRaw(port, [bytes]);
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), body };
}

test(`each of ${HOSTILE.length} hostile requests gets the answer it deserves and leaves nothing behind`, async (context) => {
  await withServer({ limits }, async (server) => {
    for (const [name, expected, bytes] of HOSTILE)
      await context.test(name, async () => {
        const { status, body } = await statusOf(server, bytes);
        assert.equal(status, expected, body);
        const problem = JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1)) as Record<string, unknown>;
        assert.equal(problem["status"], expected);
        assert.ok(body.length < 4000, `an answer of ${body.length} letters`);
        assert.ok(problem["code"] !== undefined && problem["detail"] !== undefined && problem["remedy"] !== undefined, body);
        assert.ok(!/\bat .*\.[jt]s|node_modules|\/tmp\//.test(body), `the inside shows: ${body}`);
        assert.deepEqual(filesIn(server.folder), []);
        const { queued, running } = await server.queue.counts();
        assert.equal(queued + running, 0);
        assert.equal((await fetch(`${server.url}/v1/health`)).status, 200);
      });
    const logged = JSON.stringify(server.log);
    assert.ok(!/127\.0\.0\.1"|evil|passwd|a\.png|rebound/.test(logged), "the log holds nothing of the client's");
  });
});

test("a client's file names end up nowhere", async () => {
  const names = ["../../../../tmp/dualfocus-evil.png", "C:\\evil.png", "-rf.png; rm -rf .png"];
  await withServer({}, async (server) => {
    const { status, body } = await statusOf(server, post(names.map((name, n) => frame(pictures[n] ?? "", name))));
    assert.equal(status, 202, body);
    const { id } = JSON.parse(body) as JobView;
    const expected = [0, 1, 2].map((n) => join(server.folder, "jobs", id, "frames", `frame_000${n}.png`));
    assert.deepEqual(filesIn(server.folder).sort(), expected);
    assert.ok(!existsSync("/tmp/dualfocus-evil.png"));
    assert.ok(!JSON.stringify(server.log).includes("evil"));
  });
});
