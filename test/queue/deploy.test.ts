import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse, parseAllDocuments } from "yaml";

import { COMMAND_NAMES, loadCommand } from "../../src/cli/run.ts";
import { PREFIX, QUEUE } from "../../src/queue/redis.ts";
import { withRedisQueue } from "../../src/queue/redisQueue.ts";
import { parseTokens } from "../../src/serve/tenants.ts";
import { runCommand } from "../helpers/command.ts";
import { freePort } from "../helpers/freePort.ts";
import { temporaryFolder } from "./helpers/stack.ts";

const folder = join(import.meta.dirname, "..", "..", "deploy");
const read = (...path: readonly string[]): string => readFileSync(join(folder, ...path), "utf8");

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly key: string } };
  }[];
  readonly resources: { readonly limits: object };
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
        readonly automountServiceAccountToken?: boolean;
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
    assert.equal(template.spec.automountServiceAccountToken, false, `${metadata.name} does not need Kubernetes' API`);
    for (const { image, args = [], command = [], env = [], securityContext, resources } of template.spec.containers) {
      assert.equal(securityContext["allowPrivilegeEscalation"], false);
      assert.deepEqual(Object.keys(resources.limits), ["cpu", "memory"], metadata.name);
      assert.ok(!/\$\(/.test([...command, ...args].join(" ")), `${metadata.name}: a secret in the arguments is seen by all`);
      for (const { name, valueFrom } of env)
        assert.ok(!valueFrom || secrets.includes(valueFrom.secretKeyRef.key), `${name} is in the secret`);
      if (image !== "dualfocus") continue;
      await checkCommandLine(args);
      assert.ok(
        env.some(({ name, value }) => name === "ORT_DISABLE_TELEMETRY" && value === "1"),
        metadata.name,
      );
      const grace = Number(args[args.indexOf("--grace") + 1]);
      if (args.includes("--grace"))
        assert.ok(grace < (template.spec.terminationGracePeriodSeconds ?? 30), "the pod lives longer than the worker's grace");
    }
  }
  const { "redis-password": password, "api-tokens": tokens = "unset" } = all.find(({ kind }) => kind === "Secret")?.stringData ?? {};
  assert.equal(password, "", "an example that is applied as it is starts nothing");
  assert.throws(() => parseTokens(tokens, "DUALFOCUS_TOKENS"), /holds no token/);
  const lists = all.flatMap(({ spec }) => spec?.triggers ?? []).map(({ metadata }) => metadata.listName);
  assert.deepEqual(lists, [`${PREFIX}:${QUEUE}:wait`, `${PREFIX}:${QUEUE}:active`], "the lists BullMQ keeps");
});

interface Service {
  readonly command: readonly string[];
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly mem_limit?: string;
  readonly cpus?: number;
  readonly pids_limit?: number;
  readonly ports?: readonly string[];
}

const composeServices = (): Readonly<Record<string, Service>> =>
  (parse(read("docker-compose.yml"), { merge: true }) as { services: Record<string, Service> }).services;

test("Redis is started with its password from the environment, and not without one", async (context) => {
  const kubernetes = manifests()
    .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
    .find(({ image }) => image.startsWith("redis"))?.command;
  const compose = composeServices()["redis"]?.command.map((word) => word.replaceAll("$$", "$"));
  assert.deepEqual(compose, kubernetes, "compose and Kubernetes start the same");
  const [, , script = ""] = kubernetes ?? [];
  const port = await freePort();
  const folder = await temporaryFolder(context);
  const here = script.replace("redis-server ", `redis-server --port ${port} --dir ${folder} `);
  const none = spawnSync("sh", ["-c", here], { env: { PATH: process.env["PATH"] }, encoding: "utf8" });
  assert.notEqual(none.status, 0);
  assert.match(none.stderr, /REDIS_PASSWORD.*is not set/);
  const server = spawn("sh", ["-c", here], { env: { PATH: process.env["PATH"], REDIS_PASSWORD: "a-password" }, stdio: "ignore" });
  context.after(() => server.kill("SIGKILL"));
  const url = (password: string): string => `redis://:${password}@127.0.0.1:${port}`;
  const isUp = (): Promise<boolean> =>
    withRedisQueue(url("a-password"), (queue) => queue.ping()).then(
      () => true,
      () => false,
    );
  while (!(await isUp())) assert.equal(server.exitCode, null);
  await assert.rejects(
    withRedisQueue(url("another"), (queue) => queue.ping()),
    /NOAUTH|WRONGPASS/,
  );
  if (process.platform !== "linux") return;
  const shown = readFileSync(`/proc/${server.pid}/cmdline`, "latin1");
  assert.ok(shown.startsWith("redis-server") && !shown.includes("a-password"), shown);
});

test("the compose file parses, and its services start commands that exist", async () => {
  const { services, volumes } = parse(read("docker-compose.yml"), { merge: true }) as {
    services: Record<string, Service>;
    volumes: object;
  };
  assert.deepEqual(Object.keys(services), ["redis", "api", "worker"]);
  for (const [name, service] of Object.entries(services)) {
    for (const mount of service.volumes) assert.ok((mount.split(":")[0] ?? "") in volumes, `${name}: ${mount}`);
    assert.deepEqual([service.read_only, service.cap_drop], [true, ["ALL"]], name);
    assert.ok(service.mem_limit !== undefined && service.cpus !== undefined && service.pids_limit !== undefined, `${name} has limits`);
    assert.ok(!service.command.join(" ").includes("redis://"), `${name}: the password is not in the process list`);
    if (service.image !== "dualfocus") continue;
    await checkCommandLine(service.command);
    assert.equal(service.environment["ORT_DISABLE_TELEMETRY"], "1", name);
  }
  assert.match(services["redis"]?.environment["REDIS_PASSWORD"] ?? "", /^\$\{REDIS_PASSWORD:\?/, "compose refuses to start without one");
  assert.match(services["api"]?.environment["DUALFOCUS_TOKEN"] ?? "", /^\$\{DUALFOCUS_TOKEN:\?/);
  assert.deepEqual(services["api"]?.ports, ["127.0.0.1:8080:8080"]);
  assert.ok(services["redis"]?.command.join(" ").includes("--appendfsync always"), "nothing accepted is lost");
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

test("the image is built from a slim Node 20, runs without root, asks for a token and is asked for its health", async (context) => {
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
  const command = JSON.parse(lines.find((line) => line.startsWith("CMD"))?.slice(4) ?? "[]") as string[];
  await checkCommandLine(command);
  assert.ok(lines.some((line) => line.startsWith("ENV") && line.includes("ORT_DISABLE_TELEMETRY=1")));
  const store = await temporaryFolder(context);
  const started = await runCommand(context, ...command.map((word) => (word === "/data" ? store : word)));
  assert.deepEqual([started.code, /without a token/.test(started.err)], [2, true], "the image does not start without a token");
});
