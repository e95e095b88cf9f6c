import { InvalidArgumentError } from "commander";

/** Numbers on the command line: each is a parser that commander calls, and refuses what makes no sense. */
export const wholeNumber =
  (least: number, most = Infinity) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isInteger(value) || value < least || value > most)
      throw new InvalidArgumentError(`It takes a whole number, ${least} ${most < Infinity ? `to ${most}` : "or more"}.`);
    return value;
  };

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError("It takes a number above 0.");
  return value;
}

export function portNumber(text: string): number {
  const port = Number(text);
  if (text.trim() === "" || !Number.isInteger(port) || port < 0 || port > 65535)
    throw new InvalidArgumentError("It takes a whole number from 0 to 65535.");
  return port;
}
