import { configs, type ConfigName, type NetworkConfig } from "../src/model/config.ts";
import { option } from "./timing.ts";

/** The network `name` with the parts of `--parts detail=6,context=16,convex=24`: how many filters, and how wide the hidden layers. */
export function networkOf(name: string): NetworkConfig {
  const config = configs[name as ConfigName];
  const given = option("parts", "").split(",").filter(Boolean).map((part) => part.split("=")); // prettier-ignore
  if (config.kind !== "dualfocus" || given.length === 0) return config;
  const { detail, context, convex, ...unknown } = Object.fromEntries(given) as Record<string, string | undefined>;
  const [wrong] = Object.keys(unknown);
  if (wrong !== undefined) throw new Error(`--parts: ${wrong} is not one of detail, context, convex`);
  return {
    ...config,
    ...(detail !== undefined && { detail: { filters: Number(detail) } }),
    ...(context !== undefined && { planeContext: { width: Number(context) } }),
    ...(convex !== undefined && { convexUpsampling: { width: Number(convex) } }),
  };
}
