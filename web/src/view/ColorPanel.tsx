import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { drawColorPicture } from "../../../src/output/colorPicture.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { TEST_IDS } from "../contract.ts";
import type { Controller } from "../controller.ts";
import { copyImage, fileStem, imageBlob, offer } from "../downloads/offer.ts";
import { opaque } from "../paint.ts";
import { CONFIDENCE_CHOICES, hatchedPixels, MAP_NAMES, type Look } from "../state/look.ts";
import { Choice } from "./fields.tsx";

interface ColorPanelProps {
  readonly result: DepthResult;
  readonly name: string;
  readonly look: Look;
  readonly controller: Pick<Controller, "setLook">;
}

/** The colours of the depth map, and the picture of it to take along. */
export function ColorPanel({ result, name, look, controller }: ColorPanelProps): VNode {
  const [words, setWords] = useState("");
  const picture = (): Promise<Blob> => {
    const { map, flip, legend, range } = look;
    const hatched = hatchedPixels(result, look);
    return imageBlob(opaque(drawColorPicture({ ...result, ...(range ? { range } : {}) }, { map, flip, legend, hatched })));
  };
  const attempt = (done: string, work: () => Promise<void>): void => {
    work().then(
      () => {
        setWords(done);
      },
      (error: unknown) => {
        setWords(error instanceof Error ? error.message : String(error));
      },
    );
  };
  return (
    <section class="card" aria-labelledby="color-title">
      <h2 id="color-title">Colours</h2>
      <Choice
        label="Colour map"
        value={look.map}
        choices={MAP_NAMES}
        testId={TEST_IDS.colorMap}
        onChange={(map) => {
          controller.setLook({ map });
        }}
      />
      <TrustChoice look={look} controller={controller} label="Hatch errors above" />
      <ColorTicks result={result} look={look} controller={controller} />
      <div class="buttons">
        <button
          type="button"
          data-testid={TEST_IDS.savePicture}
          onClick={() => {
            attempt("", async () => {
              offer(await picture(), `${fileStem(name)}-depth.png`);
            });
          }}
        >
          Save image
        </button>
        <button
          type="button"
          data-testid={TEST_IDS.copyPicture}
          onClick={() => {
            attempt("Copied.", () => copyImage(picture()));
          }}
        >
          Copy image
        </button>
      </div>
      <p role="status" class="quiet">
        {words}
      </p>
    </section>
  );
}

function ColorTicks({ result, look, controller }: Omit<ColorPanelProps, "name">): VNode {
  return (
    <div class="ticks">
      {result.filled && (
        <Tick
          label="Hatch filled areas"
          checked={look.hatchFilled}
          onChange={(hatchFilled) => {
            controller.setLook({ hatchFilled });
          }}
        />
      )}
      <Tick
        label="Flip near and far"
        checked={look.flip}
        onChange={(flip) => {
          controller.setLook({ flip });
        }}
      />
      <Tick
        label="Legend in the saved image"
        checked={look.legend}
        onChange={(legend) => {
          controller.setLook({ legend });
        }}
      />
    </div>
  );
}

/** The one limit of error for the depth map, the 3-D view and downloads. */
export function TrustChoice({ look, controller, label }: Pick<ColorPanelProps, "look" | "controller"> & { readonly label: string }): VNode {
  return (
    <Choice
      label={label}
      value={look.leastConfidence}
      choices={CONFIDENCE_CHOICES}
      testId={TEST_IDS.trust}
      onChange={(leastConfidence) => {
        controller.setLook({ leastConfidence });
      }}
    />
  );
}

/** A labelled tick box. */
export function Tick({ label, checked, onChange }: { label: string; checked: boolean; onChange: (checked: boolean) => void }): VNode {
  return (
    <label class="tick">
      <input
        type="checkbox"
        checked={checked}
        onChange={({ currentTarget }) => {
          onChange(currentTarget.checked);
        }}
      />
      {label}
    </label>
  );
}
