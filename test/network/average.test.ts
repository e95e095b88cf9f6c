import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { decodeNpy } from "../../src/io/npy.ts";
import { encodePng } from "../../src/io/png.ts";
import { AVERAGES } from "../../src/network/facts.ts";
import { loadModel } from "../../src/network/node/loadModel.ts";
import { writeModel } from "../../src/network/weightsFile.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { runCommand } from "../helpers/command.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

const root = temporaryFolder();
const { stack } = slantedStack({ width: 96, height: 64, planes: 4 });
stack.images.forEach((image, n) => {
  put(join(root, "stack", `plane_${n}.png`), encodePng(image));
});
put(join(root, "stack", "stack.json"), JSON.stringify({ unit: "m", focus: stack.focusDistances }));

const shipped = loadModel("small");
for (const average of AVERAGES)
  put(join(root, `${average}.safetensors`), writeModel({ ...shipped, facts: { average } }, { storage: "f16" }));

test("depth averages metres as the weights were trained, which their file says: eq. 6 in dioptres or in metres", async (context) => {
  assert.equal(shipped.facts.average, "dioptres");
  for (const average of AVERAGES) {
    const turned = (value: number): number => (average === "dioptres" ? 1 / value : value);
    const output = join(root, `out ${average}`);
    const options = ["--save", "npy,probability", "--align", "off", "--size", "full", "--device", "cpu", "--quiet"];
    const { code, err } = await runCommand(context, "depth", join(root, "stack"), "--model", join(root, `${average}.safetensors`), "-o", output, ...options); // prettier-ignore
    assert.equal(code, 0, err);
    const [depth, p] = ["depth.npy", "probability.npy"].map((file) => decodeNpy(readFileSync(join(output, file))).data as Float32Array);
    assert.ok(depth && p);
    const expected = depth.map((_, i) =>
      turned(stack.focusDistances.reduce((sum, distance, n) => sum + turned(distance) * (p[n * depth.length + i] as number), 0)),
    );
    const worst = expected.reduce((most, value, i) => Math.max(most, Math.abs(value - (depth[i] as number))), 0);
    assert.ok(worst < 1e-4, `${average}: ${worst} m from eq. 6`);
  }
});
