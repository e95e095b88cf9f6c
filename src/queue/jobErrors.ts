import { z } from "zod";

import { MOST_LOSSES } from "./redis.ts";
import { JOB_ERROR_CODES, type JobError } from "./queue.ts";

const errorSchema = z.object({ code: z.enum(JOB_ERROR_CODES), message: z.string(), remedy: z.string().optional() });

/** A failure as the reason that Redis keeps of it, which is one text. */
export const encodeJobError = (error: JobError): string => JSON.stringify(error);

/** BullMQ has reasons of its own, for a job that lost its worker too often for instance. */
export function decodeJobError(reason: string): JobError {
  if (/stalled more than/.test(reason))
    return {
      code: "lost",
      message: `the worker that computed it was gone, ${MOST_LOSSES + 1} times`,
      remedy: "look at the workers' logs: they were killed, or are short of memory",
    };
  try {
    const { code, message, remedy } = errorSchema.parse(JSON.parse(reason));
    return { code, message, ...(remedy === undefined ? {} : { remedy }) };
  } catch {
    return { code: "internal", message: reason };
  }
}
