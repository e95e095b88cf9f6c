import { canvasJpeg } from "../../../src/output/canvasJpeg.ts";
import { makeResultPage } from "../../../src/output/resultPage.ts";
import { PATHS, type ViewResult } from "../contract.ts";

/** The result as one HTML file that shows it without a network. */
export async function resultPageOf({ result, name, planes, focusDistances, focusChange }: ViewResult): Promise<Blob> {
  if (!canvasJpeg) throw new Error("This browser cannot encode images.");
  const [script, style] = await Promise.all([textOf(`${PATHS.viewer}.js`), textOf(`${PATHS.viewer}.css`)]);
  const facts = { name, planes: planes.length, focusDistances, focusChange };
  return new Blob([await makeResultPage(result, facts, { viewer: { script, style }, jpeg: canvasJpeg })], { type: "text/html" });
}

async function textOf(path: string): Promise<string> {
  const response = await fetch(path).catch(() => undefined);
  if (!response?.ok) throw new Error("The viewer could not be loaded. Is there a connection to the page's host?");
  return response.text();
}
