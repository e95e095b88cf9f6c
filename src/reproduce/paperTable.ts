import type { ConfigName } from "../model/config.ts";
import type { Variant } from "./variant.ts";

/** What the paper prints, by the name of the column; a figure it leaves out is not there. */
export type Figures = Readonly<Record<string, number>>;

/** Measured by `dualfocus evaluate`. A network's name stands for weights trained as the row says, or for the shipped ones. */
export type EvaluatedModel = ConfigName | "rdf" | "laplacian";

/** How a row is reproduced. */
export type Recipe =
  /** Trained here and measured with `planes` planes. */
  | { readonly kind: "train"; readonly variant: Variant; readonly planes: number }
  /** Measured on the table's set. */
  | { readonly kind: "evaluate"; readonly model: EvaluatedModel }
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

export const TABLE_NAMES = ["nyu", "fod500", "ddff12", "arkit", "ablation", "grid", "channels", "focal", "planes", "runtime"] as const;
export type TableName = (typeof TABLE_NAMES)[number];

/** One table of the paper, as data. */
export interface PaperTable {
  readonly name: TableName;
  /** The paper's number. */
  readonly number: number;
  readonly title: string;
  /** What the paper measured on. */
  readonly on: string;
  readonly rows: readonly PaperRow[];
}
