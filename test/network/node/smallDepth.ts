// Prints the depth of a fixed stack by the shipped small network, and whether ONNX Runtime's native addon computed it.
import { recordGraph } from "../../../src/model/graph.ts";
import { loadModel } from "../../../src/network/node/loadModel.ts";
import { createOnnxSession } from "../../../src/network/node/onnxSession.ts";

const session = await createOnnxSession(recordGraph(loadModel("small")), { threads: 1 });
const images = Float32Array.from({ length: 3 * 3 * 32 * 64 }, (_, i) => ((i * 7919) % 251) / 251);
const { depth } = await session.run({
  images: { data: images, shape: [1, 3, 3, 32, 64] },
  focusDistances: { data: Float32Array.of(0.5, 0.7, 1), shape: [1, 3] },
});
await session.dispose();
const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] };
const native = sharedObjects.some((name) => name.includes("onnxruntime_binding"));
console.log(JSON.stringify({ depth: [...((depth?.data ?? []) as Float32Array)], native }));
