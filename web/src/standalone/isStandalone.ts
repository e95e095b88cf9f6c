/** True in the script of a self-contained result: no worker, no files beside it. Filled in by the build. */
declare const __STANDALONE__: boolean;

export const IS_STANDALONE = typeof __STANDALONE__ !== "undefined" && __STANDALONE__;
