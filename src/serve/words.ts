import { remedies } from "../errors.ts";

const AGAIN = "submit the stack again";
const ALIGN = "set “align” to “auto” or “off”";
const MODEL = "set “model” to “small” or “fine”";
const OPERATOR = "ask whoever runs the server";

/** What the server says about an error: the fields of “options” to change. */
export const remedyOf = remedies({
  "no-stack": "send the images, each as a part “frames”",
  "single-image": "send all images of the stack, each as a part “frames”",
  "distance-count": "give one number in “distances” for each image, in their order",
  "distances-invalid": "correct “distances” or “unit”, or set “unit” to “index” to go by the order of the images",
  "distances-missing": "give “distances”, or leave out “unit” to get depth as plane indices",
  "some-distances-missing": "give all distances in “distances”, or set “unit” to “index” to go by the order of the images",
  "too-few-aligned": "set “align” to “off” if the frames are aligned already",
  "bad-alignment-file": ALIGN,
  "alignment-mismatch": ALIGN,
  "truth-unusable": AGAIN,
  "unknown-model": MODEL,
  "no-weights": MODEL,
  "network-unsupported": MODEL,
  "device-unavailable": OPERATOR,
  diverged: OPERATOR,
  "output-not-empty": OPERATOR,
  "output-in-use": OPERATOR,
  "write-failed": OPERATOR,
  "time-limit": "send fewer or smaller images, or set “size” to a smaller number",
  "memory-limit": "send smaller images, or set “size” to a smaller number",
  internal: AGAIN,
  "redis-unreachable": OPERATOR,
  "store-in-use": OPERATOR,
  "address-unavailable": OPERATOR,
});
