/** Says whether a client may go on: 0, or after how many seconds it may. */
export type RateLimit = (client: string) => number;

/** Clients remembered at once: those not seen for longest are forgotten, which only means a full bucket for them. */
const MOST_CLIENTS = 10_000;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/**
 * A token bucket for each client: `perMinute` requests at once, refilled evenly over a minute. `now` in seconds.
 */
export function createRateLimit({ perMinute, now = () => performance.now() / 1000 }: { perMinute: number; now?: () => number }): RateLimit {
  if (perMinute === 0) return () => 0;
  const buckets = new Map<string, Bucket>();
  const perSecond = perMinute / 60;
  return (client) => {
    const at = now();
    const last = buckets.get(client) ?? { tokens: perMinute, at };
    const tokens = Math.min(perMinute, last.tokens + (at - last.at) * perSecond);
    const allowed = tokens >= 1;
    buckets.delete(client); // to the end of the map: the first is the one not seen for longest
    buckets.set(client, { tokens: allowed ? tokens - 1 : tokens, at });
    if (buckets.size > MOST_CLIENTS) for (const oldest of buckets.keys()) if (buckets.size > MOST_CLIENTS) buckets.delete(oldest);
    return allowed ? 0 : (1 - tokens) / perSecond;
  };
}

/** Who a request counts for: an IPv6 client has a whole /64 network to choose from. */
export function clientKey(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  const full = tail === undefined ? groups : [...groups, ...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill("0"), ...rest];
  return `${full.slice(0, 4).join(":")}::/64`;
}
