import type { ConfigName } from "../model/config.ts";
import type { Variant } from "../train/variants.ts";

/** What the paper prints, by the name of the column; a figure it leaves out is not there. */
export type Figures = Readonly<Record<string, number>>;

/** Measured by `dualfocus evaluate`. A network's name means weights trained as in that row, or the shipped ones. */
export type EvaluatedModel = ConfigName | "rdf" | "laplacian";

/** Trained here with `planes` planes, drawn evenly; on a published set with the first alone. The first is measured. */
export interface TrainRecipe {
  readonly kind: "train";
  readonly variant: Variant;
  readonly planes: readonly number[];
}

/** How a row is reproduced. */
export type Recipe =
  | TrainRecipe
  /** Measured on the table's set, with five planes unless it says otherwise. */
  | { readonly kind: "evaluate"; readonly model: EvaluatedModel; readonly planes?: number }
  /** Timed on this machine. */
  | { readonly kind: "time"; readonly model: ConfigName };

export interface PaperRow {
  readonly label: string;
  readonly paper: Figures;
  /** The set its figures are of, where the table's rows are of several. */
  readonly set?: "nyu" | "ddff12";
  /** Missing for methods of others that this project does not have. */
  readonly recipe?: Recipe;
}

/** One table of the paper, as data. */
export interface PaperTable {
  readonly name: string;
  /** The paper's number. */
  readonly number: number;
  readonly title: string;
  /** What the paper measured on. */
  readonly on: string;
  readonly rows: readonly PaperRow[];
}
