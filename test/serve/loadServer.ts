// A server in a process of its own, whose memory can be measured: started by load.test.ts.
import { DEFAULT_LIMITS } from "../../src/serve/limits.ts";
import { withServer } from "./server.ts";

await withServer({ limits: { ...DEFAULT_LIMITS, requestsPerMinute: 0 } }, async ({ url, folder }) => {
  process.send?.({ url, folder });
  await new Promise<void>((resolve) => {
    process.on("message", () => process.send?.({ peak: process.resourceUsage().maxRSS * 1024 }));
    process.on("disconnect", resolve);
  });
});
