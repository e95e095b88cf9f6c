import type { Finding, FindingCode } from "../check/finding.ts";
import { DualFocusError, ERRORS, remedies, type ErrorKind } from "../errors.ts";
import { isLength } from "../stack/quantity.ts";
import { unreadableRemedy } from "../stack/imageName.ts";
import type { Unit } from "../stack/stackFormat.ts";
import { UserError, type ExitCode } from "../system/userError.ts";

const ALIGN_FILE = "--align takes auto, off, or the alignment.json of a run with images of the same number, size and colours";

const WRITE_REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: "make room, or choose another -o",
  EDQUOT: "make room, or choose another -o",
  EACCES: "choose another -o, or correct the permissions",
  EPERM: "choose another -o, or correct the permissions",
  ENAMETOOLONG: "choose a shorter -o",
};

const LISTEN_REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: "choose another port with --port N, or any free one with --port 0",
  EACCES: "choose a port above 1023 with --port N",
};

/** What the command says about an error: the options to use. */
export const remedyOf = remedies({
  "bad-file": ({ file = "", unread }) => {
    if (unread !== undefined) return "if it is one of several images of a stack, it can be left out";
    return unreadableRemedy(String(file));
  },
  "no-stack": "name a folder, images, a stack.json or a multi-page TIFF",
  "distances-invalid": ({ value, unit = "" }) =>
    value === 0 && isLength(String(unit) as Unit)
      ? "a focus distance counts from the camera: for a focus rail, give that of the first image and the step, such as --distances 150mm+0.1mm"
      : "correct the focus distances, give others with --distances, or use --unit index to go by the order of the files",
  "distances-missing": "give them with --distances or a stack.json, or leave out --unit to get depth as plane indices",
  "some-distances-missing": "give all distances with --distances, or use --unit index to go by the order of the images",
  "reverse-known-order": "leave out --reverse; correct the distances with --distances, or ignore them with --unit index",
  "too-few-aligned": "use --align off if the frames are aligned already",
  "bad-alignment-file": ALIGN_FILE,
  "alignment-mismatch": ALIGN_FILE,
  "truth-unusable": "--truth takes npy, png, tif, exr or pfm: one number per pixel, floats in metres or integers in millimetres",
  "unknown-model": ({ known = "small, fine" }) => `--model takes ${String(known)} or a .safetensors file`,
  "no-weights": ({ model = "NAME", commit }) => {
    const file = `models/${String(model)}.safetensors`;
    const train = `use small or fine, or pass the file of a training run (dualfocus train --model ${String(model)})`;
    return commit === undefined ? train : `${train}; a full clone has earlier weights: git show ${String(commit)}:${file} >${file}`;
  },
  "network-unsupported": "use --device cuda, or a network with solver cosine",
  "device-unavailable": "use --device cpu",
  "no-dataset-folder": "give it with --data DIR (docs/datasets.md)",
  "bad-option": ({ command = "" }) => `dualfocus ${command === "" ? "" : `${String(command)} `}--help explains the options`,
  diverged: ({ checkpoint }) =>
    checkpoint === true
      ? "the last checkpoint is intact: add --resume --set learningRate.from=… with a lower rate"
      : "no checkpoint was saved: start again with a lower rate, --set learningRate.from=…",
  "output-not-empty": "choose another -o, or add --force to replace files in it",
  "output-in-use": ({ lock = "its lock" }) => `wait for it, or choose another -o; if there is no such run, remove ${String(lock)}`,
  "write-failed": ({ errno = "" }) => WRITE_REMEDIES[String(errno)] ?? "choose another -o",
  "time-limit": "use fewer or smaller images, a smaller --size, or workers with a higher --time-limit",
  "memory-limit": "use smaller images, a smaller --size, or workers with a higher --memory",
  internal: "the worker's log says more; run the command again to retry",
  "bad-tokens": `${ERRORS["bad-tokens"].remedy}; openssl rand -hex 32 prints a token`,
  "redis-unreachable": "start it, or correct --redis",
  "store-in-use": ({ seconds = 60 }) =>
    `give this one another --store, or let both use --redis; a server that was killed is forgotten after ${String(seconds)} seconds`,
  "address-unavailable": ({ errno = "" }) => LISTEN_REMEDIES[String(errno)] ?? "name an address of this machine with --host",
});

const EXIT_CODES: Readonly<Record<ErrorKind, ExitCode>> = { usage: 2, input: 3, alignment: 4, metadata: 5, resource: 3 };

/** An error of the layers below with the command's exit code and words; undefined if it is none that the user could act on. */
export function asUserError(error: unknown): UserError | undefined {
  if (error instanceof UserError) return error;
  if (!(error instanceof DualFocusError)) return undefined;
  return new UserError(error.message, { exitCode: EXIT_CODES[error.kind], remedy: remedyOf(error), cause: error });
}

/** An error as `--json` prints it. */
export function errorDocument(failure: unknown): {
  readonly code?: string;
  readonly message: string;
  readonly remedy?: string;
  readonly exitCode: number;
} {
  const known = asUserError(failure);
  const { cause } = known ?? {};
  const reported = failure instanceof DualFocusError ? failure : cause instanceof DualFocusError ? cause : undefined;
  return {
    ...(reported ? { code: reported.code } : {}),
    message: failure instanceof Error ? failure.message : String(failure),
    ...(known?.remedy === undefined ? {} : { remedy: known.remedy }),
    exitCode: known?.exitCode ?? 1,
  };
}

/** What commander says about an option or an argument, as `--json` prints it. */
export const usageDocument = (message: string, command = ""): ReturnType<typeof errorDocument> =>
  errorDocument(new DualFocusError("bad-option", message.replace(/^error: /, ""), { facts: { command } }));

const FINDING_REMEDIES: Readonly<Partial<Record<FindingCode, (finding: Finding) => string>>> = {
  unaligned: ({ severity, remedy }) =>
    severity === "error" ? "check that they show one still scene; use --align off if they need no alignment" : remedy,
  "missing-distances": () => "give them with --distances, in a stack.json, or in the file names (plane_0.65.jpg)",
  direction: () => "use --reverse if near and far are exchanged, or give the focus distances with --distances",
  assumption: () => "if that is not so, list the images on the command line, or give --distances or --unit",
};

/** What the command says about a finding of the stack check. */
export const findingRemedy = (finding: Finding): string => FINDING_REMEDIES[finding.code]?.(finding) ?? finding.remedy;
