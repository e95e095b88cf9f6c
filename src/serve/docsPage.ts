import { createHash } from "node:crypto";
import { z } from "zod";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --quiet: color-mix(in srgb, currentcolor 65%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1.5rem; font-size: 1.1rem; }
h3 { font-size: 1rem; margin-bottom: 0.25rem; }
code, pre { font: 0.9em/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); border-radius: 6px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); }
.method { display: inline-block; min-width: 4.5rem; text-transform: uppercase; }
`;

/** For the Content-Security-Policy: the page's own style, and nothing else, is allowed. */
export const STYLE_HASH = `'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`;

const schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  required: z.array(z.string()).optional(),
  get items() {
    return schema.optional();
  },
  get anyOf() {
    return z.array(schema).optional();
  },
  get properties() {
    return z.record(z.string(), schema).optional();
  },
});
type Schema = z.infer<typeof schema>;

const content = z.record(z.string(), z.object({ schema })).optional();
const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().optional(),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content })),
});
type Operation = z.infer<typeof operation>;

/** As much of an OpenAPI document as the page shows. */
const document = z.object({
  info: z.object({ title: z.string(), version: z.string(), description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), schema) }),
});

/** The API for people: one page of plain HTML without scripts, made from the OpenAPI document alone. */
export function docsPage(openapi: unknown): string {
  const { info, paths, components } = document.parse(openapi);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => operationSection(each, { method, path })),
  );
  const schemas = Object.entries(components.schemas).map(([name, each]) => schemaSection(name, each));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(info.title)} API ${escape(info.version)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escape(info.title)} API ${escape(info.version)}</h1>
<p>${escape(info.description)} The same as <a href="/openapi.json">OpenAPI document</a>, for programs.</p>
<pre>${escape(EXAMPLE)}</pre>
${operations.join("\n")}
${schemas.join("\n")}
</main>
</body>
</html>
`;
}

const EXAMPLE = `curl -F frames=@1.jpg -F frames=@2.jpg -F frames=@3.jpg -F 'options={"distances": [0.5, 0.8, 1.5], "save": ["npy"]}' $SERVER/v1/depth
curl $SERVER/v1/jobs/ID
curl -o depth.npy $SERVER/v1/jobs/ID/results/npy`;

function operationSection(each: Operation, { method, path }: { method: string; path: string }): string {
  const body = Object.entries(each.requestBody?.content ?? {}).map(
    ([type, { schema: parts }]) => `<h3>Send <code>${escape(type)}</code></h3>${propertyTable(parts)}`,
  );
  const answers = Object.entries(each.responses).map(([status, { description, content: types }]) => {
    const [first] = Object.values(types ?? {});
    const kind = first
      ? `${Object.keys(types ?? {})
          .map(escape)
          .join(", ")}${first.schema.$ref ? `: ${typeOf(first.schema)}` : ""}`
      : "";
    return row(`<code>${escape(status)}</code>`, escape(description), kind);
  });
  return `<section id="${escape(each.operationId)}">
<h2><code><span class="method">${escape(method)}</span> ${escape(path)}</code></h2>
<p>${escape(each.summary)}</p>${each.description === undefined ? "" : `<p>${escape(each.description)}</p>`}
${body.join("\n")}
<h3>Answers</h3>
${table(["Status", "Meaning", "Type"], answers)}
</section>`;
}

const schemaSection = (name: string, each: Schema): string => `<section id="${escape(name)}">
<h2><code>${escape(name)}</code></h2>
${each.description === undefined ? "" : `<p>${escape(each.description)}</p>`}
${propertyTable(each)}
</section>`;

function propertyTable({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, each]) => {
    const notes = [
      escape(each.description ?? ""),
      each.default === undefined ? "" : `Default: <code>${escape(JSON.stringify(each.default))}</code>`,
      required.includes(name) ? "" : "May be left out.",
    ];
    return row(`<code>${escape(name)}</code>`, typeOf(each), notes.filter((note) => note !== "").join(" "));
  });
  return table(["Name", "Type", "Meaning"], rows);
}

function typeOf({ $ref, type, format, enum: values, anyOf, items, properties, minimum }: Schema): string {
  if ($ref !== undefined) return `<a href="#${escape($ref.split("/").at(-1) ?? "")}">${escape($ref.split("/").at(-1) ?? "")}</a>`;
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  if (values) return values.map((value) => `<code>${escape(JSON.stringify(value))}</code>`).join(", ");
  if (items) return `list of ${typeOf(items)}`;
  if (properties)
    return `{ ${Object.entries(properties)
      .map(([name, each]) => `<code>${escape(name)}</code>: ${typeOf(each)}`)
      .join(", ")} }`;
  if (format === "binary") return "file";
  const kind = Array.isArray(type) ? type.join(" or ") : (type ?? "anything");
  return escape(`${kind}${format === undefined ? "" : `, ${format}`}${minimum === undefined ? "" : `, at least ${minimum}`}`);
}

const row = (...cells: readonly string[]): string => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;

const table = (heads: readonly string[], rows: readonly string[]): string =>
  `<div class="scroll"><table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
