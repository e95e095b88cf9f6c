import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse, parseAllDocuments } from "yaml";

import { COMMAND_NAMES, loadCommand } from "../../src/cli/run.ts";
import { PREFIX, QUEUE } from "../../src/queue/redis.ts";

const folder = join(import.meta.dirname, "..", "..", "deploy");
const read = (...path: readonly string[]): string => readFileSync(join(folder, ...path), "utf8");

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly valueFrom?: { readonly secretKeyRef: { readonly key: string } } }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly selector?: { readonly matchLabels: object };
    readonly triggers?: readonly { readonly metadata: { readonly listName: string } }[];
    readonly template?: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly securityContext: object;
        readonly terminationGracePeriodSeconds?: number;
        readonly containers: readonly Container[];
      };
    };
  };
}

function manifests(): Manifest[] {
  return readdirSync(join(folder, "kubernetes")).flatMap((file) =>
    parseAllDocuments(read("kubernetes", file)).map((document) => {
      assert.deepEqual(document.errors, [], file);
      return document.toJS() as Manifest;
    }),
  );
}

/** Every option of a `dualfocus …` command line must be one that the command has. */
async function checkCommandLine([name = "", ...args]: readonly string[]): Promise<void> {
  assert.ok(COMMAND_NAMES.includes(name), `there is no command ${name}`);
  const command = await loadCommand(name);
  const known = new Map(command.options.map((option) => [option.long, option]));
  for (let i = 0; i < args.length; i++) {
    const [flag = "", given] = (args[i] ?? "").split("=");
    const option = known.get(flag);
    assert.ok(option, `${name} has no option ${flag}`);
    if (!option.isBoolean() && option.required) {
      const value = given ?? args[(i += 1)];
      assert.ok(value !== undefined && !value.startsWith("--"), `${name} ${flag} takes a value`);
    }
  }
}

test("the Kubernetes manifests parse, fit together, run without root and start commands that exist", async () => {
  const all = manifests();
  assert.deepEqual(all.map(({ kind }) => kind).sort(), [
    "Deployment",
    "Deployment",
    "NetworkPolicy",
    "ScaledObject",
    "Secret",
    "Service",
    "Service",
    "StatefulSet",
    "TriggerAuthentication",
  ]);
  const secrets = Object.keys(all.find(({ kind }) => kind === "Secret")?.stringData ?? {});
  for (const { metadata, spec } of all) {
    if (!spec?.template) continue;
    const { template, selector } = spec;
    assert.deepEqual(template.metadata.labels, selector?.matchLabels, metadata.name);
    assert.ok("runAsNonRoot" in template.spec.securityContext, metadata.name);
    for (const { image, args = [], env = [], securityContext } of template.spec.containers) {
      assert.equal(securityContext["allowPrivilegeEscalation"], false);
      for (const { name, valueFrom } of env)
        assert.ok(!valueFrom || secrets.includes(valueFrom.secretKeyRef.key), `${name} is in the secret`);
      if (image !== "dualfocus") continue;
      await checkCommandLine(args);
      const grace = Number(args[args.indexOf("--grace") + 1]);
      if (args.includes("--grace"))
        assert.ok(grace < (template.spec.terminationGracePeriodSeconds ?? 30), "the pod lives longer than the worker's grace");
    }
  }
  const lists = all.flatMap(({ spec }) => spec?.triggers ?? []).map(({ metadata }) => metadata.listName);
  assert.deepEqual(lists, [`${PREFIX}:${QUEUE}:wait`, `${PREFIX}:${QUEUE}:active`], "the lists BullMQ keeps");
});

test("the compose file parses, and its services start commands that exist", async () => {
  const { services, volumes } = parse(read("docker-compose.yml"), { merge: true }) as {
    services: Record<string, { command: string[]; image: string; read_only?: boolean; volumes: string[] }>;
    volumes: object;
  };
  assert.deepEqual(Object.keys(services), ["redis", "api", "worker"]);
  for (const [name, { command, image, read_only: isReadOnly, volumes: mounts }] of Object.entries(services)) {
    for (const mount of mounts) assert.ok((mount.split(":")[0] ?? "") in volumes, `${name}: ${mount}`);
    if (image !== "dualfocus") continue;
    assert.equal(isReadOnly, true, name);
    await checkCommandLine(command);
  }
  assert.ok(services["redis"]?.command.includes("always"), "nothing accepted is lost");
});

test("the systemd units have the sections they need and start commands that exist", async () => {
  for (const file of readdirSync(join(folder, "systemd")).filter((name) => name.endsWith(".service"))) {
    const lines = read("systemd", file)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    assert.deepEqual(
      lines.filter((line) => line.startsWith("[")),
      ["[Unit]", "[Service]", "[Install]"],
      file,
    );
    assert.deepEqual(
      lines.filter((line) => !/^(\[[A-Z][a-z]+\]|[A-Z][A-Za-z]+=.*)$/.test(line)),
      [],
      file,
    );
    const settings = new Map(
      lines.filter((line) => line.includes("=")).map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );
    const [, program = "", ...command] = (settings.get("ExecStart") ?? "").split(" ");
    assert.equal(program, "dualfocus", file);
    await checkCommandLine(command);
    assert.deepEqual([settings.get("NoNewPrivileges"), settings.get("KillMode")], ["true", "mixed"], file);
    const grace = Number(command[command.indexOf("--grace") + 1]);
    if (command.includes("--grace")) assert.ok(grace < Number(settings.get("TimeoutStopSec")), file);
  }
});

test("the image is built from a slim Node 20, runs without root and is asked for its health", async () => {
  const lines = read("Dockerfile")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const known = /^(FROM|ENV|WORKDIR|COPY|RUN|USER|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD) /;
  assert.deepEqual(
    lines.filter((line) => !known.test(line)),
    [],
  );
  assert.deepEqual(
    lines.filter((line) => line.startsWith("FROM")),
    ["FROM node:20-slim AS build", "FROM node:20-slim"],
  );
  const user = lines.indexOf("USER node");
  assert.ok(user > 0 && user < lines.findIndex((line) => line.startsWith("ENTRYPOINT")));
  assert.ok(lines.some((line) => line.startsWith("HEALTHCHECK")));
  await checkCommandLine(JSON.parse(lines.find((line) => line.startsWith("CMD"))?.slice(4) ?? "[]") as string[]);
});
