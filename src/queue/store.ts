import type { Readable } from "node:stream";

import { DualFocusError } from "../errors.ts";

export interface StoredFile {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
}

/** Files by key, shared by servers and workers: a directory, or a bucket of an S3-compatible service. */
export interface FileStore {
  /** For people: `/srv/dualfocus`, `s3://bucket/prefix`. */
  readonly name: string;
  /** Copies a local file under the key, whole or not at all, replacing what was there. */
  put(key: string, file: string): Promise<void>;
  /** The same for a file that the caller has no more use for: moved where that is possible. */
  move(key: string, file: string): Promise<void>;
  /** Writes a small text if there is nothing under the key; false if there is. Of many who try, one succeeds. */
  putOnce(key: string, text: string): Promise<boolean>;
  /** Copies what is under the key into a new local file. Fails with `missingFile` if there is nothing. */
  fetch(key: string, file: string): Promise<void>;
  /** The bytes and their number, for sending on; undefined if there is nothing. */
  open(key: string): Promise<{ readonly size: number; readonly stream: Readable } | undefined>;
  /** The files below the prefix (a key of a folder), in no order. */
  list(prefix: string): Promise<StoredFile[]>;
  /** Removes the files below the prefix; nothing there is no error. */
  remove(prefix: string): Promise<void>;
}

/** A job's file that is not in the store. */
export const missingFile = (key: string, cause?: unknown): DualFocusError =>
  new DualFocusError("job-files-missing", `${key}: is not in the store`, { facts: { key }, cause });

/** A small text; undefined if there is nothing under the key. */
export async function readText(store: FileStore, key: string): Promise<string | undefined> {
  const found = await store.open(key);
  if (!found) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of found.stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
