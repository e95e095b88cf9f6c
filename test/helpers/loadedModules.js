// `node --import this` writes the address of every module the program loads to the file $LOADED_MODULES, one a line.
import { appendFileSync } from "node:fs";
import module, { createRequire } from "node:module";
import process from "node:process";
import { pathToFileURL } from "node:url";

const hook = `
  import { appendFileSync } from "node:fs";
  export function load(url, context, next) {
    appendFileSync(${JSON.stringify(process.env.LOADED_MODULES)}, url + "\\n");
    return next(url, context);
  }
`;
module.register(`data:text/javascript,${encodeURIComponent(hook)}`);

process.on("exit", () => {
  const required = Object.keys(createRequire(import.meta.url).cache).map((file) => pathToFileURL(file).href);
  appendFileSync(process.env.LOADED_MODULES, required.map((url) => `${url}\n`).join(""));
});
