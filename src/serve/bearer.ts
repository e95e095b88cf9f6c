import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether an Authorization header carries the token. Hashes are compared, so neither the time taken nor the length tells anything. */
export function createBearerCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization = "") => {
    const given = /^Bearer ([\w\-.~+/]+=*) *$/i.exec(authorization)?.[1];
    return timingSafeEqual(digest(given ?? ""), expected) && given !== undefined;
  };
}
