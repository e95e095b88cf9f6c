import { UserError } from "../system/userError.ts";
import { makeFolder } from "../system/outputFolder.ts";
import { createDirectoryStore } from "./directoryStore.ts";
import { createS3Store } from "./s3Store.ts";
import type { FileStore } from "./store.ts";

/**
 * A directory (made if it is not there), or `s3://bucket/prefix` with keys, region and endpoint from the variables that every S3 tool
 * reads: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
 */
export async function openStore(
  place: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<FileStore> {
  const scheme = /^([a-z0-9+]+):\/\//i.exec(place)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    await makeFolder(place, { option: "--store" });
    return createDirectoryStore(place);
  }
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]*)(?:\/([A-Za-z0-9._/-]*))?$/i.exec(place) ?? [];
  if (bucket === undefined)
    throw new UserError(`--store ${place}: ${scheme === "s3" ? "no bucket and prefix" : "no store of a known kind"}`, {
      exitCode: 2,
      remedy: "--store takes a directory, or s3://bucket/prefix",
    });
  const [accessKeyId, secretAccessKey] = [environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]];
  if (!accessKeyId || !secretAccessKey)
    throw new UserError(`--store ${place}: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set`, {
      exitCode: 2,
      remedy: "set them to the keys of the bucket",
    });
  const endpoint = environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"];
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
