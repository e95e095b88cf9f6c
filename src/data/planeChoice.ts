import { choosePlanes } from "../stack/focalStack.ts";
import { DatasetError } from "./dataset.ts";

/** How many planes a stack has, and how many of them were asked for; all, without a number. */
interface Choice {
  readonly available: number;
  readonly planes: number | undefined;
}

/** Which planes of a stack are taken, counted from the nearest. `where` names the stack, should it have too few. */
export function takePlanes(where: string, { available, planes = available }: Choice): number[] {
  if (planes > available) throw new DatasetError(`${where}: has ${available} planes, fewer than the ${planes} asked for`);
  return choosePlanes(available, planes);
}

/** The planes taken of stacks that have these numbers of them, for a protocol's text: they need not be evenly spread. */
export function planesInWords(available: readonly number[], planes: number | undefined): string {
  const numbers = [...new Set(available)].sort((a, b) => a - b);
  if (planes === undefined) return `all ${numbers.join(" or ")} planes`;
  return `planes ${numbers.map((number) => `${choosePlanes(number, planes).join(" ")} of ${number}`).join(" or ")}`;
}
