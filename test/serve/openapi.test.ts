import { Validator } from "@seriousme/openapi-schema-validator";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import createClient from "openapi-fetch";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { decodeNpy } from "../../src/io/npy.ts";
import { createDirectoryStore } from "../../src/queue/directoryStore.ts";
import { createProcessRunner } from "../../src/queue/processRunner.ts";
import { temporaryFolder } from "../data/files.ts";
import { stackPictures, withServer } from "./server.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: object; readonly required?: readonly string[] }>>;
  };
}

const description = await withServer({}, async ({ url }) => (await (await fetch(`${url}/openapi.json`)).json()) as Document);

test("the OpenAPI document is valid, and every operation says how it may fail", async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(description) as unknown as Parameters<Validator["validate"]>[0]);
  assert.ok(valid, JSON.stringify(errors));
  assert.deepEqual(
    Object.entries(description.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`)),
    [
      "post /v1/depth",
      "get /v1/jobs/{id}",
      "delete /v1/jobs/{id}",
      "get /v1/jobs/{id}/results/{name}",
      "get /v1/quota",
      "get /v1/jobs/{id}/events",
      "get /v1/health",
      "get /v1/health/live",
    ],
  );
  assert.deepEqual(Object.keys(description.paths["/v1/depth"]?.["post"]?.responses ?? {}), [
    ...["202", "400", "401", "403", "408", "413", "415", "421", "422", "429", "500", "503", "507"],
  ]);
  const { properties, required } = description.components.schemas["DepthOptions"] ?? { properties: {} };
  assert.deepEqual(Object.keys(properties), ["distances", "unit", "model", "align", "reverse", "size", "save", "fill", "prefer"]);
  assert.equal(required, undefined, "every option may be left out");
});

/** What a user of the generated client would write. */
const CLIENT = `
import type createClientOf from "openapi-fetch";
import type { paths } from "./api.js";

export async function depthOf(createClient: typeof createClientOf, baseUrl: string, frames: Blob[]): Promise<ArrayBuffer> {
  const client = createClient<paths>({ baseUrl });
  const { data: submitted, error } = await client.POST("/v1/depth", {
    body: { frames, options: { distances: [1, 2, 3], save: ["npy"], size: 64 } },
    bodySerializer: ({ frames, options }) => {
      const form = new FormData();
      for (const frame of frames) form.append("frames", frame);
      form.append("options", JSON.stringify(options));
      return form;
    },
  });
  if (!submitted) throw new Error(error.code + ": " + error.detail + "; " + error.remedy);
  const path = { id: submitted.id };
  for (;;) {
    const { data: job } = await client.GET("/v1/jobs/{id}", { params: { path } });
    if (job?.state === "done") break;
    if (job?.state !== "queued" && job?.state !== "running") throw new Error(job?.error?.message ?? "the job is gone");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { data: result } = await client.GET("/v1/jobs/{id}/results/{name}", { params: { path: { ...path, name: "npy" } }, parseAs: "arrayBuffer" });
  if (!result) throw new Error("no result");
  await client.DELETE("/v1/jobs/{id}", { params: { path } });
  return result;
}
`;

test("a client generated from the document type-checks, and runs a job", async () => {
  const api = await generatedTypes();
  const wrong = CLIENT.replace('name: "npy"', 'name: "everything"').replace("job?.state", "job?.status");
  const errors = typeErrors({ "api.d.ts": api, "client.ts": CLIENT, "wrong.ts": wrong });
  assert.deepEqual(
    errors.filter((error) => !error.startsWith("wrong.ts")),
    [],
  );
  assert.match(errors.join(), /"everything"[^]*'status'|'status'[^]*"everything"/, "a wrong name and a wrong field are found");
  const { outputText } = ts.transpileModule(CLIENT, { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } });
  const client = (await import(`data:text/javascript,${encodeURIComponent(outputText)}`)) as {
    depthOf: (create: typeof createClient, url: string, frames: Blob[]) => Promise<ArrayBuffer>;
  };
  const folder = temporaryFolder();
  const runner = await createProcessRunner({ store: folder, processes: 1, threads: 1 });
  await withServer({ runner, store: createDirectoryStore(folder) }, async ({ url }) => {
    const frames = stackPictures().map((bytes) => new Blob([bytes]));
    const { shape, data } = decodeNpy(new Uint8Array(await client.depthOf(createClient, url, frames)));
    assert.deepEqual(shape, [48, 64]);
    assert.ok((data as Float32Array).every((depth) => Number.isNaN(depth) || (depth >= 1 && depth <= 3)));
    await assert.rejects(
      client.depthOf(createClient, url, frames.slice(1)),
      /^Error: distance-count: the stack: 2 images but 3 focus distances; give one number in “distances”/,
    );
  });
});

/** As `npx openapi-typescript --default-non-nullable=false` with files as Blobs. */
async function generatedTypes(): Promise<string> {
  const blob = ts.factory.createTypeReferenceNode("Blob");
  const nodes = await openapiTS(structuredClone(description) as unknown as Parameters<typeof openapiTS>[0], {
    defaultNonNullable: false,
    transform: (schema) => (schema.format === "binary" ? blob : undefined),
  });
  return astToString(nodes);
}

/** Compiles texts as if they lay beside this file, strictly. */
function typeErrors(texts: Readonly<Record<string, string>>): string[] {
  const virtual = new Map(Object.entries(texts).map(([name, text]) => [join(import.meta.dirname, "generated", name), text]));
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
    ...{
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    },
  };
  const host = ts.createCompilerHost(options);
  host.fileExists = (file) => virtual.has(file) || ts.sys.fileExists(file);
  host.readFile = (file) => virtual.get(file) ?? ts.sys.readFile(file);
  host.directoryExists = (folder: string): boolean =>
    folder.startsWith(join(import.meta.dirname, "generated")) || ts.sys.directoryExists(folder);
  const program = ts.createProgram([...virtual.keys()], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${basename(file?.fileName ?? "")}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
}

test("the page for people shows every operation and schema, runs nothing and loads nothing", async () => {
  await withServer({}, async ({ url }) => {
    const response = await fetch(`${url}/docs`);
    assert.match(response.headers.get("Content-Type") ?? "", /^text\/html/);
    assert.match(response.headers.get("Content-Security-Policy") ?? "", /^default-src 'none'; style-src 'sha256-/);
    const page = await response.text();
    for (const path of Object.keys(description.paths)) assert.ok(page.includes(path), path);
    for (const name of Object.keys(description.components.schemas)) assert.ok(page.includes(`id="${name}"`), name);
    assert.ok(page.includes("focus distances, one for each frame"));
    assert.ok(page.includes("Default: <code>&quot;small&quot;</code>"));
    assert.ok(!/<script|src=|https?:\/\/|@import/.test(page), "it needs nothing from elsewhere");
    assert.ok(!page.includes("undefined") && !page.includes("[object"), page);
  });
});

test("what the document says of the package is true", () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as { version: string };
  assert.equal((description as unknown as { info: { version: string } }).info.version, version);
});
