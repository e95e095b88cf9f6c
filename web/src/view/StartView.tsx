import type { VNode } from "preact";

import { TEST_IDS } from "../contract.ts";
import { EXAMPLES, exampleUrl } from "../examples.ts";
import type { StepProps, ViewProps } from "./App.tsx";
import { DropZone } from "./DropZone.tsx";
import { HowToShoot } from "./HowToShoot.tsx";

/** A short introduction, the drop zone and the examples. */
export function StartView({ state, controller, isOver }: StepProps): VNode {
  const { opening } = state;
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
        onCancel={() => {
          controller.cancelOpening();
        }}
      />
      <LastResult state={state} controller={controller} />
      <HowToShoot />
      <section class="examples" aria-labelledby="examples-title">
        <h2 id="examples-title">Or try one of these</h2>
        <p class="quiet">They are rendered, not photographed, so their true depth is known.</p>
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

/** The result of the last run, which this browser keeps, and the stack that is still open. */
function LastResult({ state: { stored, result, stack, resultStack }, controller }: ViewProps): VNode | null {
  const facts = stored.status === "stored" ? stored : undefined;
  const name = result?.name ?? facts?.name;
  const isWaiting = stack !== undefined && stack.id !== resultStack;
  if (name === undefined && !isWaiting) return null;
  return (
    <section class="card last-result" aria-labelledby="last-title" data-testid={TEST_IDS.stored}>
      <div>
        <h2 id="last-title">Where you left off</h2>
        {name !== undefined && (
          <p class="quiet">
            The result of {name}
            {facts ? `, ${facts.planes} images, ${facts.width} × ${facts.height} pixels` : ""}. It is kept in this browser only, until the
            next result.
          </p>
        )}
      </div>
      <div class="buttons">
        {isWaiting && (
          <button
            type="button"
            onClick={() => {
              controller.go("setup");
            }}
          >
            Go on with {stack.name}
          </button>
        )}
        {name !== undefined && (
          <>
            <button type="button" class="primary" data-testid={TEST_IDS.openStored} onClick={() => void controller.openLast()}>
              Open the result
            </button>
            <button type="button" data-testid={TEST_IDS.deleteStored} onClick={() => void controller.forget()}>
              Delete it
            </button>
          </>
        )}
      </div>
    </section>
  );
}
