/** The public API in a browser: the same names as in Node, less what reads a disk. */
export * from "./everywhere.ts";
export { openNetwork, type OpenOptions } from "./network/browser/openNetwork.ts";
