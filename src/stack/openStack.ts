import type { FocusOptions } from "./focus.ts";
import { listStack } from "./listing.ts";
import { diskFiles } from "./picture.ts";
import { asStackError, openListing } from "./stackSource.ts";
import type { StackSource } from "./stackSource.ts";

export type { StackSource } from "./stackSource.ts";

/** Opens a folder, a stack.json, a TIFF of many pages or a list of pictures on a disk. Only headers are read. */
export async function openStack(input: string | readonly string[], options: FocusOptions = {}): Promise<StackSource> {
  try {
    return await openListing(await listStack(typeof input === "string" ? [input] : input), diskFiles, options);
  } catch (error) {
    throw asStackError(error);
  }
}
