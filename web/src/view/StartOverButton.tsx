import type { VNode } from "preact";

import type { Controller } from "../controller.ts";
import { TEST_IDS } from "../contract.ts";

export function StartOverButton({ controller }: { readonly controller: Controller }): VNode {
  return (
    <button
      type="button"
      data-testid={TEST_IDS.startOver}
      onClick={() => {
        controller.go("start");
      }}
    >
      New stack
    </button>
  );
}
