import type { VNode } from "preact";

import { TEST_IDS } from "../contract.ts";
import { EXAMPLES, exampleUrl } from "../examples.ts";
import type { StepProps } from "./App.tsx";
import { DropZone } from "./DropZone.tsx";

/** A short introduction, the drop zone and the examples. */
export function StartView({ state: { opening }, controller, isOver }: StepProps): VNode {
  return (
    <>
      <section class="hero">
        <h1>How far away is every pixel?</h1>
        <p>
          Photograph one still scene several times and move the focus between the shots. DualFocus finds the distance of every pixel, an
          all-in-focus image and a 3-D model. Nothing is uploaded.
        </p>
      </section>
      <DropZone
        opening={opening}
        isOver={isOver}
        onFiles={(name, files) => {
          void controller.open(name, files);
        }}
      />
      <section class="examples" aria-labelledby="examples-title">
        <h2 id="examples-title">Or try one of these</h2>
        <ul>
          {EXAMPLES.map((example) => (
            <li key={example.name}>
              <button
                type="button"
                class="example"
                disabled={opening !== undefined}
                data-testid={`${TEST_IDS.example}${example.name}`}
                onClick={() => {
                  void controller.openExample(example);
                }}
              >
                <img src={exampleUrl(example, example.files[Math.floor(example.files.length / 2)] ?? "")} alt="" width={384} height={256} />
                <span class="example-title">{example.title}</span>
                <span class="example-text">{example.description}</span>
              </button>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
