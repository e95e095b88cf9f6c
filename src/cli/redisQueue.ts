import { UserError } from "../system/userError.ts";
import { withoutPassword } from "../queue/redis.ts";
import { createRedisQueue, type RedisQueue } from "../queue/redisQueue.ts";

/** Opens the queue for `body`. A Redis that does not answer is told as such. */
export async function withRedisQueue<T>(url: string, body: (queue: RedisQueue) => Promise<T>): Promise<T> {
  const queue = createRedisQueue(url);
  try {
    return await body(queue);
  } catch (cause) {
    if (!(cause instanceof Error && cause.name === "MaxRetriesPerRequestError")) throw cause;
    throw new UserError(`${withoutPassword(url)}: no Redis answers there`, { exitCode: 2, remedy: "start it, or correct --redis", cause });
  } finally {
    await queue.close();
  }
}
