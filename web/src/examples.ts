import { PATHS } from "./contract.ts";
import type { UserFile } from "./worker/protocol.ts";

/** A stack that comes with the page. */
export interface Example {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly files: readonly string[];
}

const planes = (count: number): string[] => Array.from({ length: count }, (_, n) => `plane_${String(n).padStart(2, "0")}.png`);

export const EXAMPLES: readonly Example[] = [
  { name: "desk", title: "Desk", description: "Five pictures with known distances, in metres.", files: [...planes(5), "stack.json"] },
  { name: "macro", title: "Macro", description: "Six pictures from very near, in millimetres.", files: [...planes(6), "stack.json"] },
  { name: "breathing", title: "By hand", description: "Five pictures that do not lie on one another; no distances.", files: planes(5) },
];

export const exampleUrl = ({ name }: Example, file: string): string => `${PATHS.examples}${name}/${file}`;

/** The files of an example as if a person had dropped them. */
export async function fetchExample(example: Example): Promise<UserFile[]> {
  return Promise.all(
    example.files.map(async (name) => {
      const response = await fetch(exampleUrl(example, name)).catch(() => undefined);
      if (!response?.ok) throw new Error(`The example ${example.title} could not be loaded: ${name} is missing`);
      return { path: `${example.name}/${name}`, file: new File([await response.blob()], name) };
    }),
  );
}
