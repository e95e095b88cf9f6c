import { PATHS } from "./contract.ts";
import type { UserFile } from "./worker/protocol.ts";

/** A stack that is included in the page. */
export interface Example {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly files: readonly string[];
}

/** Filled in by the build: name → files. */
declare const __EXAMPLES__: Readonly<Record<string, readonly string[]>>;

const example = (name: string, title: string, description: string): Example => {
  const files = __EXAMPLES__[name] ?? [];
  const pictures = files.filter((file) => file.endsWith(".png")).length;
  return { name, title, description: `${pictures} images ${description}`, files };
};

export const EXAMPLES: readonly Example[] = [
  example("desk", "Desk", "with known distances in metres."),
  example("macro", "Macro", "at close range, in millimetres."),
  example("breathing", "Hand-held", "with sensor noise, shake and focus breathing; no distances."),
];

export const exampleUrl = ({ name }: Example, file: string): string => `${PATHS.examples}${name}/${file}`;

/** The files of an example, as if the user had dropped them. */
export async function fetchExample(example: Example): Promise<UserFile[]> {
  return Promise.all(
    example.files.map(async (name) => {
      const response = await fetch(exampleUrl(example, name)).catch(() => undefined);
      if (!response?.ok) throw new Error(`The example ${example.title} could not be loaded: ${name} is missing`);
      return { path: `${example.name}/${name}`, file: new File([await response.blob()], name) };
    }),
  );
}
