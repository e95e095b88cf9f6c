import { DualFocusError } from "../errors.ts";
import { makeFolder } from "../system/outputFolder.ts";
import { createDirectoryStore } from "./directoryStore.ts";
import { createS3Store } from "./s3Store.ts";
import type { FileStore } from "./store.ts";

const schemeOf = (place: string): string | undefined => /^([a-z0-9+]+):\/\//i.exec(place)?.[1]?.toLowerCase();

/** Whether the store is reached by keys from the environment. */
export const isBucket = (place: string): boolean => schemeOf(place) !== undefined;

/**
 * A directory (made if it is not there), or `s3://bucket/prefix` with keys, region and endpoint from the variables that every S3 tool
 * reads: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
 * An endpoint without TLS is refused, but on this machine or with DUALFOCUS_S3_ALLOW_HTTP=1: images and results would cross the network in
 * the clear.
 */
export async function openStore(
  place: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<FileStore> {
  const scheme = schemeOf(place);
  if (scheme === undefined) {
    await makeFolder(place, { mode: 0o700 });
    return createDirectoryStore(place);
  }
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]*)(?:\/([A-Za-z0-9._/-]*))?$/i.exec(place) ?? [];
  if (bucket === undefined)
    throw new DualFocusError("bad-store", `${place}: ${scheme === "s3" ? "names no bucket" : "not a kind of store that is known"}`);
  const [accessKeyId, secretAccessKey] = [environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]];
  if (!accessKeyId || !secretAccessKey)
    throw new DualFocusError("store-keys-missing", `${place}: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set`);
  const endpoint = environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"];
  if (endpoint) checkEndpoint(endpoint, environment);
  const sessionToken = environment["AWS_SESSION_TOKEN"];
  return createS3Store({
    bucket,
    prefix: prefix.replace(/^\/+|\/+$/g, ""),
    region: environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1",
    accessKeyId,
    secretAccessKey,
    ...(endpoint ? { endpoint } : {}),
    ...(sessionToken ? { sessionToken } : {}),
  });
}

function checkEndpoint(endpoint: string, environment: Readonly<Record<string, string | undefined>>): void {
  const { protocol, hostname } = URL.canParse(endpoint) ? new URL(endpoint) : {};
  if (protocol !== "http:" && protocol !== "https:")
    throw new DualFocusError("bad-store", "AWS_ENDPOINT_URL_S3 is not an address such as https://minio.example:9000");
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname ?? "");
  if (protocol === "http:" && !isHere && environment["DUALFOCUS_S3_ALLOW_HTTP"] !== "1")
    throw new DualFocusError("store-insecure", `http://${hostname}: images and results would be sent to this store in the clear`);
}
