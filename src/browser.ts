/** The public API in a browser: the same names as in Node, less what reads a disk. */
export * from "./everywhere.ts";
export { createWebSession as createSession, type WebSessionOptions as SessionOptions } from "./network/browser/webSession.ts";
