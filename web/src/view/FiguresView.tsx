import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { extent } from "../../../src/output/result.ts";
import { TEST_IDS, type ViewResult } from "../contract.ts";
import { paintValues, type Painting } from "../paint.ts";
import type { Figures } from "../worker/protocol.ts";
import { PaintedCanvas } from "./PaintedCanvas.tsx";
import type { ResultProps } from "./ResultView.tsx";

/** The paper's figures, of this very stack. */
export function FiguresView({ state: { figures }, controller, result }: ResultProps): VNode {
  useEffect(() => {
    void controller.loadFigures();
  }, [controller, result]);
  return (
    <section class="figures" data-testid={TEST_IDS.figures} data-status={figures.status}>
      <p>
        DualFocus looks at every plane on its own: where does the picture change as a sharp surface would? From these gradients it rebuilds
        a smooth surface per plane, and from all planes the probability that a pixel is in focus there. Yellow is much, dark is little.
      </p>
      {figures.status === "done" ? (
        <FigureTable figures={figures} view={result} />
      ) : (
        <p role="status">{figures.status === "failed" ? figures.problem.message : "Looking inside the network …"}</p>
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
    { title: "|Γ|", note: "gradients that were found", paintings: gridMaps(gradient) },
    { title: "z*", note: "the surface that fits them best", paintings: gridMaps(surface) },
    { title: "|θ(z*)|", note: "gradients of that surface", paintings: gridMaps(surfaceGradient) },
    {
      title: "p",
      note: "probability to be in focus here",
      paintings: planes.flatMap((plane) =>
        probability ? [paintValues({ ...probability, values: probability.data.subarray(plane * size, (plane + 1) * size) })] : [],
      ),
    },
  ];
}
