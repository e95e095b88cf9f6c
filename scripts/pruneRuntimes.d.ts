export function pruneRuntimes(modules: string, machine: { readonly platform: string; readonly arch: string }): void;
