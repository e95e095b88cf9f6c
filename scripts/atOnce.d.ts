export function atOnce(bytesEach: number): number;
