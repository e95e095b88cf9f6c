// A process that feeds one reader with damaged files: started by `fuzz`. Which input it is at stands in a file, in case it does not come back.
import { mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { watchProcess } from "../../src/system/processWatch.ts";
import { FILE, inputOf, runInput } from "./input.ts";
import { READERS } from "./readers.ts";

const [name = "", seed = "", from = "", seconds = "", memory = "", place = "", keep = ""] = process.argv.slice(2);
const reader = READERS[name];
if (!reader) throw new Error(`there is no reader ${name}`);
watchProcess({ memory: Number(memory) });

const at = openSync(place, "w");
const seeds = await reader.seeds();
for (const [n, good] of seeds.entries()) {
  const trouble = await runInput(reader, new Uint8Array(good));
  if (trouble !== undefined && !trouble.includes(FILE)) throw new Error(`${name}: good file ${n}: ${trouble}`);
}
const end = performance.now() + 1000 * Number(seconds);
let index = Number(from);
const known = new Set<string>();
for (; performance.now() < end; index++) {
  writeSync(at, String(index).padStart(12), 0);
  const bytes = inputOf(reader, { name, seeds, seed: Number(seed), index });
  const trouble = await runInput(reader, bytes);
  if (trouble === undefined) continue;
  const kind = trouble.replace(/[\d.]+|“.*”/g, "#").slice(0, 80);
  if (known.has(kind)) continue; // the same mistake over and over
  known.add(kind);
  const file = join(keep, name, `${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}.bin`);
  mkdirSync(join(keep, name), { recursive: true });
  writeFileSync(file, bytes);
  process.send?.({ file, trouble: trouble.slice(0, 300) });
}
process.send?.({ index }, () => process.exit(0));
