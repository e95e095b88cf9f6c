import { z } from "zod";

import { depthSettings } from "../depth/settings.ts";

/** Made by whoever submits, so that submitting twice is submitting once: `randomUUID()`, or a hash of what is asked. */
export const jobIdSchema = z
  .string()
  .regex(/^(?!\d+$)[A-Za-z0-9_-]{8,64}$/, "a job's id is 8 to 64 letters, digits, - or _, not digits alone");

/** Where something is kept in the store: names joined by slashes, none of which leads out of it. */
export const storeKeySchema = z
  .string()
  .max(512)
  .regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/, "a key is names of letters, digits, ., - and _ joined by /");

/** Whoever submitted a job: the name of a token of the server, never the token. */
export const tenantNameSchema = z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,31}$/);
/** Of jobs that name none: those of a server with one token or none, and of `dualfocus batch`. */
export const DEFAULT_TENANT = "default";

/** A name inside the folder a job is computed in: no separators, no control characters, not hidden. */
export const frameNameSchema = z
  .string()
  .max(200)
  .regex(/^[^./\\\p{Cc}][^/\\\p{Cc}]*$/u, "a frame's name is a plain file name");

/** One stack to compute. The pictures lie in the store already; a stack.json or a list of distances may lie with them. */
export const jobSchema = z
  .strictObject({
    id: jobIdSchema,
    frames: z
      .array(z.strictObject({ key: storeKeySchema, name: frameNameSchema }))
      .min(1)
      .max(2000)
      .describe("natural order of the names is the order of the frames; the ending tells the format"),
    settings: depthSettings,
    tenant: tenantNameSchema.optional(),
    bytes: z.int().nonnegative().optional().describe("of the frames, for the tenant's quota"),
  })
  .superRefine(({ frames }, context) => {
    const twice = frames.find(({ name }, n) => frames.findIndex((other) => other.name.toLowerCase() === name.toLowerCase()) !== n);
    if (twice) context.addIssue({ code: "custom", path: ["frames"], message: `${twice.name} is there twice` });
  });

export type Job = z.infer<typeof jobSchema>;

/** The prefix of all that belongs to a job. Whoever removes it forgets the job's files. */
export const jobPrefix = (id: string): string => `jobs/${jobIdSchema.parse(id)}`;

/** Where a frame of a job is kept, and its name in the job: `frameOf(id, 3, "png")`. Nothing of it comes from a client but the ending. */
export function frameOf(id: string, n: number, ending: string): Job["frames"][number] {
  const name = `frame_${String(n).padStart(4, "0")}.${z
    .string()
    .regex(/^[a-z0-9]{1,5}$/)
    .parse(ending)}`;
  return { key: `${jobPrefix(id)}/frames/${name}`, name };
}
