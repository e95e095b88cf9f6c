// The process that checks the headers of uploads: started by `createFrameChecker`, directed by messages, one file at a time.
import { DualFocusError, reportOf } from "../errors.ts";
import { errnoOf } from "../system/errno.ts";
import type { FromChecker, ToChecker } from "./frameChecker.ts";
import { checkFrame } from "./frames.ts";
import { watchProcess } from "../system/processWatch.ts";
import { Problem } from "./problem.ts";

watchProcess({ memory: Number(process.argv[2]) });

process.on("message", (message: ToChecker) => {
  void check(message).then((answer) => process.send?.(answer, () => undefined));
});
process.on("disconnect", () => process.exit(0));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined); // Ctrl-C reaches us too; our parent decides

async function check({ file, name, limits }: ToChecker): Promise<FromChecker> {
  try {
    return { type: "checked", frame: await checkFrame(file, { name, limits }) };
  } catch (error) {
    if (!(error instanceof Problem)) return { type: "failed", ...failure(error) };
    const { code, message: detail, remedy, headers, cause } = error;
    return { type: "refused", code, detail, remedy, headers, ...(cause instanceof DualFocusError ? { cause: reportOf(cause) } : {}) };
  }
}

function failure(error: unknown): { message: string; code?: string } {
  const code = errnoOf(error);
  return { message: error instanceof Error ? error.message : String(error), ...(code === undefined ? {} : { code }) };
}
