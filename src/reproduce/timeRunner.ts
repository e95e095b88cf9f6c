import { z } from "zod";

import { configs, type ConfigName } from "../model/config.ts";
import { countParameters } from "../model/state.ts";
import type { RunCommand } from "./child.ts";
import type { Figures, PaperTable } from "./paperTable.ts";
import type { ReproducedRow, ReproducedTable } from "./report.ts";

export interface TimeTableRequest {
  readonly device: string;
  readonly threads: number | undefined;
  readonly run: RunCommand;
  readonly stop: AbortSignal;
}

/** DDFF 12-Scene's padded size. */
const SIZE = { planes: 5, size: "384x576" } as const;

const bench = z.object({
  description: z.string(),
  rows: z.array(z.object({ model: z.string(), median: z.number(), p90: z.number(), ofLimit: z.number() })),
});

/** Times the networks on this machine by `dualfocus bench`. */
export async function timeTable(table: PaperTable, { device, threads, run, stop }: TimeTableRequest): Promise<ReproducedTable> {
  const args = (models: readonly ConfigName[]): string[] => [
    ...[
      "bench",
      "--model",
      models.join(","),
      "--planes",
      `${SIZE.planes}`,
      "--size",
      SIZE.size,
      "--grid",
      "14",
      "--device",
      device,
      "--json",
    ],
    ...(threads === undefined ? [] : ["--threads", `${threads}`]),
  ];
  const models = table.rows.flatMap(({ recipe }) => (recipe?.kind === "time" ? [recipe.model] : []));
  const { description, rows: timed } = bench.parse(JSON.parse(await run(args(models), { name: table.name, stop })));
  const rows = table.rows.map(({ label, paper, recipe }): ReproducedRow => {
    if (recipe?.kind !== "time") return { label, paper, needs: "a method this project does not have" };
    const command = `dualfocus ${args([recipe.model]).join(" ")}`;
    const found = timed.find(({ model }) => model === recipe.model);
    return { label, paper, command, ...(found && { ours: timeFigures(recipe.model, found) }) };
  });
  const measured = `${description}; ${SIZE.planes}×${SIZE.size}, random images`;
  return { name: table.name, number: table.number, title: table.title, on: table.on, measured, rows };
}

/** Parameters with ResNet-18's unused classifier, as the paper and DFV count. */
function timeFigures(model: ConfigName, { median, p90, ofLimit }: z.infer<typeof bench>["rows"][number]): Figures {
  const config = configs[model];
  const counted = { ...config, encoder: { ...config.encoder, classifier: true } };
  return {
    "parameters M": countParameters(counted) / 1e6,
    "runtime ms": 1e3 * median,
    "p90 ms": 1e3 * p90,
    "of the machine's limit %": 100 * ofLimit,
  };
}
