import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { extent } from "../../../src/output/result.ts";
import { TEST_IDS, type ViewResult } from "../contract.ts";
import { paintValues, type Painting } from "../paint.ts";
import type { Figures } from "../worker/protocol.ts";
import { PaintedCanvas } from "./PaintedCanvas.tsx";
import type { ResultProps } from "./ResultView.tsx";

/** The paper's figures for this stack. */
export function FiguresView({ state: { figures }, controller, result }: ResultProps): VNode {
  useEffect(() => {
    void controller.loadFigures();
  }, [controller, result]);
  return (
    <section class="figures" data-testid={TEST_IDS.figures} data-status={figures.status}>
      <p>
        For each plane, DualFocus estimates the gradients of a depth surface, reconstructs the smooth surface that fits them best, and
        combines all planes into the probability that a pixel is in focus there. Yellow is high, dark is low.
      </p>
      {figures.status === "done" ? (
        <FigureTable figures={figures} view={result} />
      ) : (
        <p role="status">{figures.status === "failed" ? figures.problem.message : "Computing the figures …"}</p>
      )}
    </section>
  );
}

interface Row {
  readonly title: string;
  readonly note: string;
  readonly paintings: readonly Painting[];
}

function FigureTable({ figures, view }: { figures: Figures; view: ViewResult }): VNode {
  const rows = useMemo(() => rowsOf(figures, view), [figures, view]);
  return (
    <div class="figure-scroll" tabIndex={0} role="region" aria-label="Figures, plane by plane">
      <table style={{ "--shape": view.result.depth.width / view.result.depth.height }}>
        <thead>
          <tr>
            <th scope="col">Plane</th>
            {figures.planes.map((plane) => (
              <th key={plane} scope="col">
                {plane + 1}
                {view.planes[plane]?.thumbnail && <img src={view.planes[plane].thumbnail} alt="" />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, note, paintings }) => (
            <tr key={title}>
              <th scope="row">
                {title}
                <span class="quiet">{note}</span>
              </th>
              {paintings.map((painting, n) => (
                <td key={n}>
                  <PaintedCanvas class="small-map" painting={painting} label={`${title}, plane ${(figures.planes[n] ?? 0) + 1}`} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function rowsOf({ planes, grid, gradient, surfaceGradient, surface }: Figures, { result }: ViewResult): Row[] {
  const gridMaps = (data: Float32Array): Painting[] => {
    const range = extent(data);
    return planes.map((_, n) =>
      paintValues({ width: grid, height: grid, values: data.subarray(n * grid * grid, (n + 1) * grid * grid) }, range),
    );
  };
  const { probability } = result;
  const size = (probability?.width ?? 0) * (probability?.height ?? 0);
  return [
    { title: "|Γ|", note: "estimated gradients", paintings: gridMaps(gradient) },
    { title: "z*", note: "the best-fitting surface", paintings: gridMaps(surface) },
    { title: "|θ(z*)|", note: "gradients of that surface", paintings: gridMaps(surfaceGradient) },
    {
      title: "p",
      note: "probability of being in focus",
      paintings: planes.flatMap((plane) =>
        probability ? [paintValues({ ...probability, values: probability.data.subarray(plane * size, (plane + 1) * size) })] : [],
      ),
    },
  ];
}
