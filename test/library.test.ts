import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import ts from "typescript";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs", "library.md"), "utf8");
const examples = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code as string);

/** What each name of the package is built from. */
const ENTRIES = { dualfocus: "index", "dualfocus/browser": "browser", "dualfocus/train": "training" } as const;
const entry = (name: string): string => `../../src/${ENTRIES[name as keyof typeof ENTRIES]}.ts`;

mkdirSync(join(root, "build"), { recursive: true });
const folder = mkdtempSync(join(root, "build", "library-")); // inside the package, so that its loader and packages are found
symlinkSync(join(root, "examples"), join(folder, "examples"));
after(() => {
  rmSync(folder, { recursive: true });
});
const files = examples.map((code, n) => {
  const file = join(folder, `example${n}.mts`);
  writeFileSync(
    file,
    code.replaceAll(/from "(dualfocus[^"]*)"/g, (_, name: string) => `from ${JSON.stringify(entry(name))}`),
  );
  return file;
});

const run = (n: number): string =>
  execFileSync(process.execPath, [...process.execArgv, files[n] as string], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (file) => ts.sys.readFile(file)) as { config: object };
const entries = Object.values(ENTRIES).map((name) => join(root, "src", `${name}.ts`));
const program = ts.createProgram([...files, ...entries], ts.parseJsonConfigFileContent(config, ts.sys, root).options);
const checker = program.getTypeChecker();
const original = (symbol: ts.Symbol): ts.Symbol => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);

test("the page's examples type-check as they stand", () => {
  const faults = files.flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)));
  assert.equal(files.length, 4);
  assert.deepEqual(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")), []); // prettier-ignore
});

/** Named in public signatures, but nothing a caller would write down: a test's seam, what is only picked from, shapes, mapped types. */
const INTERNAL = [
  ["Machine", "Candidate", "DeepReadonly", "GraphOptions", "EstimateOptions", "FocusProbability", "OnStage", "Size"],
  ["Widths", "UpStep", "PoolingWindows", "TexturedMesh", "WindowOptions"],
].flat();

/** The package's own types that a declaration names outside of its code. */
function namedTypes(node: ts.Node): ts.Symbol[] {
  if (ts.isBlock(node) || ts.isFunctionExpression(node) || ts.isArrowFunction(node)) return [];
  const below: ts.Symbol[] = [];
  ts.forEachChild(node, (child) => void below.push(...namedTypes(child)));
  const name = ts.isTypeReferenceNode(node) ? node.typeName : undefined;
  const symbol = name && checker.getSymbolAtLocation(name);
  const declared = symbol && original(symbol).declarations?.[0];
  const isOurs = declared && !ts.isTypeParameterDeclaration(declared) && declared.getSourceFile().fileName.startsWith(join(root, "src"));
  return isOurs ? [...below, original(symbol)] : below;
}

test("every type that a public signature names can be imported", () => {
  for (const file of entries.filter((name) => !name.endsWith("training.ts"))) {
    const source = checker.getSymbolAtLocation(program.getSourceFile(file) as ts.Node) as ts.Symbol;
    const exported = checker.getExportsOfModule(source).map(original);
    const missing = exported
      .flatMap((symbol) => (symbol.declarations ?? []).flatMap(namedTypes))
      .filter((type) => !exported.includes(type));
    assert.deepEqual([...new Set(missing.map(({ name }) => name))].filter((name) => !INTERNAL.includes(name)), [], file); // prettier-ignore
  }
});

test("from files to files", () => {
  assert.equal(run(0), "m 320 240\n");
  assert.deepEqual(readdirSync(join(folder, "out")).sort(), ["aif.png", "color.png", "depth.tif"]);
});

test("from arrays to arrays", () => {
  assert.match(run(1), /^\d+\.\d+ ± \d+\.\d+ (true|false) 96\n\d+\.\d+ (true|false)\n$/);
});

test("training", () => {
  assert.match(run(3), /rmse@3[^]*weights\.safetensors\n$/);
});
