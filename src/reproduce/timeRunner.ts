import type { Measurement } from "../bench/run.ts";
import { configs, type ConfigName } from "../model/config.ts";
import { countParameters } from "../model/state.ts";
import type { JobContext } from "./jobs.ts";
import type { Figures, PaperTable } from "./paperTable.ts";
import type { Runner } from "./processes.ts";
import { commandLine, fillRows, type ReproducedTable } from "./report.ts";

export interface TimeTableRequest extends JobContext {
  readonly device: string;
  readonly threads: number | undefined;
  readonly run: Pick<Runner, "time">;
}

const SIZE = { batch: 1, planes: 5, height: 384, width: 576 }; // DDFF 12-Scene, padded

/** Times the networks on this machine, as `dualfocus bench` does. */
export async function timeTable(table: PaperTable, { device, threads, run, stop, progress }: TimeTableRequest): Promise<ReproducedTable> {
  const models = table.rows.flatMap(({ recipe }) => (recipe?.kind === "time" ? [recipe.model] : []));
  const cases = models.map((model) => ({ model, ...SIZE }));
  const { description, rows: timed } = await run.time({ cases, device, threads }, { name: table.name, stop, progress });
  const { planes, height, width } = SIZE;
  const rows = fillRows(table, "time", ({ model }) => {
    const command = commandLine("bench", { model, planes, size: `${height}x${width}`, grid: 14, device, threads });
    const found = timed.find((each) => each.model === model);
    return { command, ...(found && { ours: timeFigures(model, found) }) };
  });
  return { ...table, measured: `${description}; ${planes}×${height}×${width}, random images`, rows };
}

/** Parameters with ResNet-18's unused classifier, as the paper and DFV count. */
function timeFigures(model: ConfigName, { median, p90, ofLimit }: Measurement): Figures {
  const config = configs[model];
  const counted = { ...config, encoder: { ...config.encoder, classifier: true } };
  return {
    "parameters M": countParameters(counted) / 1e6,
    "runtime ms": 1e3 * median,
    "p90 ms": 1e3 * p90,
    "of the machine's limit %": 100 * ofLimit,
  };
}
