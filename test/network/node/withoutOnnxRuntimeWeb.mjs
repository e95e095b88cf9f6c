// Makes onnxruntime-web look as if it were not installed.
import { register } from "node:module";

const hook = `
  export function resolve(specifier, context, next) {
    if (specifier !== "onnxruntime-web") return next(specifier, context);
    throw Object.assign(new Error("Cannot find package 'onnxruntime-web'"), { code: "ERR_MODULE_NOT_FOUND" });
  }`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
