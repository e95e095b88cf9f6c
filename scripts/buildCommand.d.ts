export function buildCommand(root: string, target?: string): Promise<void>;
