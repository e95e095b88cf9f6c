// node --import ./scripts/typescript/register.js FILE.ts: as `--import tsx`, at a third of the processor time. The tests start hundreds of processes.
import { register } from "node:module";

process.setSourceMapsEnabled(true);
register("./hooks.js", import.meta.url);
