/** The last part of a path of any system: Node's `basename`, for code that runs in a browser too. */
export const baseName = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
