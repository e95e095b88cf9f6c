// Makes onnxruntime-node look as if it were not installed.
import { register } from "node:module";

const hook = `
  export function resolve(specifier, context, next) {
    if (specifier !== "onnxruntime-node") return next(specifier, context);
    throw Object.assign(new Error("Cannot find package 'onnxruntime-node'"), { code: "ERR_MODULE_NOT_FOUND" });
  }`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
