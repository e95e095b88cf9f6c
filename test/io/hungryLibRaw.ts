// Stands in for the process that develops a raw file: takes more memory than it may, and does not end by itself.
import { setTimeout } from "node:timers/promises";
import { watchProcess } from "../../src/system/processWatch.ts";

watchProcess({ memory: Number(process.argv[2]) });
const taken = Buffer.alloc(2 ** 30, 1);
await setTimeout(60_000, taken);
