// npm run fuzz -- --seconds 60 [--seed 1] [--reader tiff]: damaged files for every reader, random calls for the addon. The
// readers share the seconds; as many run at the same time as there are processors and memory for. Bad inputs are kept in
// test/fuzz/regressions, which the tests read again.
import { parseArgs } from "node:util";
import { fuzzReader } from "../test/fuzz/fuzz.ts";
import { READERS } from "../test/fuzz/readers.ts";
import { atOnce } from "./atOnce.js";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    reader: { type: "string", multiple: true },
  },
});
const [seconds, seed, names] = [Number(values.seconds), Number(values.seed), values.reader ?? Object.keys(READERS)];
const unknown = names.find((name) => !Object.hasOwn(READERS, name));
if (unknown !== undefined || !(seconds > 0) || !Number.isInteger(seed)) {
  const wrong = unknown === undefined ? "--seconds and --seed are numbers" : `there is no reader “${unknown}”`;
  process.stderr.write(`${wrong}; readers: ${Object.keys(READERS).join(", ")}\n`);
  process.exit(2);
}

/** Bytes that a reader's process may take before it ends itself; if the system ended it earlier, that would be kept as a crash. */
const LANE_MEMORY = 1200 << 20;

process.stdout.write(`random seed ${seed}, ${(seconds / names.length).toFixed(1)} s for each of ${names.length} readers\n`);
let [inputs, bad] = [0, 0];
const waiting = [...names];
const lane = async (): Promise<void> => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const outcome = await fuzzReader(name, { seconds: seconds / names.length, seed });
    inputs += outcome.inputs;
    bad += outcome.findings.length;
    process.stdout.write(`${name.padEnd(12)} ${String(outcome.inputs).padStart(8)} inputs, ${outcome.findings.length} bad\n`);
    for (const { file, trouble } of outcome.findings) process.stdout.write(`  ${file}\n    ${trouble}\n`);
  }
};
await Promise.all(Array.from({ length: atOnce(LANE_MEMORY) }, lane)); // a reader runs in a process of its own
process.stdout.write(`${inputs} inputs, ${bad} bad\n`);
process.exitCode = bad > 0 ? 1 : 0;
