import type { Dataset, DatasetOptions, Split } from "../data/dataset.ts";
import { chooseSplit, DatasetError } from "../data/dataset.ts";
import { openDataset } from "../data/open.ts";
import { DualFocusError } from "../errors.ts";
import type { DepthMap } from "../image/depthMap.ts";
import { openBackdrops } from "./backdrops.ts";
import type { Scoring } from "./imageMetrics.ts";
import { openObjects, openPhone } from "./renderedBenchmarks.ts";
import { openRendered, type RenderedOptions } from "./renderedSet.ts";

interface Rules {
  /** The loader's name. */
  readonly loader: string;
  /** Whose published protocol this is. */
  readonly whose: string;
  /** Options of the protocol; the caller's take precedence. */
  readonly options?: DatasetOptions;
  readonly scoring?: Scoring;
  /** What `scoring` does, in words. */
  readonly scored?: string;
  /** RGB-D sets can be blurred by FOSSA's adaptive protocol too. */
  readonly adaptive?: true;
}

/** As the published code of each set evaluates: docs/datasets.md says how. */
const RULES = {
  nyu: { loader: "nyu", whose: "HybridDepth, as the paper", adaptive: true },
  arkit: { loader: "arkit", whose: "HybridDepth, as the paper", adaptive: true },
  fod500: {
    loader: "fod500",
    whose: "DFV, as the paper",
    scoring: ({ depth, trueDepth }) => ({ depth: storedByDfv(depth), trueDepth: storedByDfv(trueDepth) }),
    scored: "prediction and ground truth truncated to 0.1 mm, then clipped to 0 to 1.5 m",
  },
  ddff12: { loader: "ddff12", whose: "DFV, as the paper (validation split)", options: { planes: 5 } },
  zedd: { loader: "zedd", whose: "FOSSA" },
  infinigen: { loader: "infinigen", whose: "FOSSA" },
  hci: { loader: "hci", whose: "light-field refocusing" },
  folder: { loader: "folder", whose: "folder" },
  render: { loader: "render", whose: "rendered benchmark" },
  object: { loader: "object", whose: "one object in front of a plain background" },
  phone: { loader: "phone", whose: "stacks as phones take them" },
  backdrop: { loader: "backdrop", whose: "objects in front of a bare wall, as phones take them" },
} as const satisfies Record<string, Rules>;

export type EvaluationSetName = keyof typeof RULES;

export const EVALUATION_SETS = Object.keys(RULES) as readonly EvaluationSetName[];

/** DFV writes FoD500 results as integers of 0.1 mm (multiplied in 32 bits) and clips both maps to the last focus distance to measure. */
function storedByDfv(depth: DepthMap): DepthMap {
  const values = depth.values.map((value) => Math.min(Math.max(Math.trunc(Math.fround(value * 10000)) / 10000, 0), 1.5));
  return { ...depth, values };
}

export interface SetRequest {
  readonly dataset: EvaluationSetName;
  /** Folder of the files; sets that are rendered need none. */
  readonly data?: string | undefined;
  readonly planes?: number | undefined;
  readonly split?: Split | undefined;
  readonly protocol?: "paper" | "adaptive" | undefined;
  /** Further options of rendered sets. */
  readonly rendered?: Omit<RenderedOptions, "planes">;
}

/** A dataset and how its images are scored. `protocol` says everything that was done, for reports. */
export interface EvaluationSet extends Dataset {
  readonly scoring: Scoring;
  /** As requested; undefined: the protocol's number, or all planes of each stack. */
  readonly planes: number | undefined;
}

const unchanged: Scoring = (comparison) => comparison;

/** Opens a set under its published protocol. */
export async function openEvaluationSet(request: SetRequest): Promise<EvaluationSet> {
  const rules: Rules = RULES[request.dataset];
  const { planes, split, protocol = "paper" } = request;
  if (protocol === "adaptive" && !rules.adaptive)
    throw new DatasetError(`${request.dataset}: the adaptive protocol is for RGB-D images; this set has focal stacks`);
  const options: DatasetOptions = {
    ...rules.options,
    ...(planes === undefined ? {} : { planes }),
    ...(split === undefined ? {} : { split }),
    ...(protocol === "adaptive" ? { focus: "adaptive" } : {}),
  };
  const opened = await open(request, { loader: rules.loader, options });
  const whose = protocol === "adaptive" ? "FOSSA's adaptive protocol" : rules.whose;
  const scored = rules.scored ?? "prediction not clipped";
  return {
    ...opened,
    name: request.dataset,
    protocol: `${whose}: ${opened.protocol}; ${scored}; metrics of each image, then their mean`,
    scoring: rules.scoring ?? unchanged,
    planes,
  };
}

/** Sets that are rendered and need no files. */
const RENDERED = { render: openRendered, object: openObjects, phone: openPhone, backdrop: openBackdrops } as const;
const isRendered = (name: string): name is keyof typeof RENDERED => name in RENDERED;

function open(request: SetRequest, { loader, options }: { loader: string; options: DatasetOptions }): Promise<Dataset> {
  const { dataset, split, planes, rendered } = request;
  if (isRendered(dataset)) {
    chooseSplit(split, { dataset, among: ["test"] });
    return Promise.resolve(RENDERED[dataset]({ ...rendered, planes }));
  }
  if (request.data === undefined) throw new DualFocusError("no-dataset-folder", `${request.dataset}: the folder of the dataset is missing`);
  return openDataset(loader, request.data, options);
}
