import { spawn } from "node:child_process";
import { Command } from "commander";

import { startWebServer } from "./webServer.ts";
import { copySite, openSite } from "./webSite.ts";
import { portNumber } from "./arguments.ts";
import { aborted, stoppable } from "./stop.ts";

/** Always the same, because a browser stores data (weights, the offline copy) per address and port. */
const PORT = 8473;

interface WebOptions {
  readonly port: number;
  readonly host: string;
  readonly open: boolean;
  readonly output?: string;
}

export function webCommand(): Command {
  return new Command("web")
    .option("--port <N>", "port to serve it on (0: any free port)", portNumber, PORT)
    .option("--host <ADDRESS>", "address to serve it on", "localhost")
    .option("--no-open", "do not open a browser")
    .option("-o, --output <DIR>", "write the page into a new folder, to be hosted anywhere, instead of serving it")
    .action(async ({ port, host, open, output }: WebOptions) => {
      const site = openSite();
      if (output !== undefined) {
        process.stdout.write(`${output}: ${await copySite(site, output)} files\n`);
        return;
      }
      const server = await startWebServer(site, { host, port });
      await stoppable(async (signal) => {
        process.stdout.write(`${server.url}\n`);
        process.stderr.write("Ctrl-C stops the server\n");
        if (open) openBrowser(server.url);
        await aborted(signal);
        await server.close();
      });
    });
}

/** Asks the desktop to show the page. A machine without one still serves it, so a failure does not matter. */
function openBrowser(url: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};
