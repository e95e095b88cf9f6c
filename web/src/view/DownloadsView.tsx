import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";

import { TEST_IDS } from "../contract.ts";
import { downloads, zipAll } from "../downloads/downloads.ts";
import { fileStem, offer } from "../downloads/offer.ts";
import { TrustChoice } from "./ColorPanel.tsx";
import type { ResultProps } from "./ResultView.tsx";

/** All outputs of the command-line program. */
export function DownloadsView({ result: view, state: { look }, controller }: ResultProps): VNode {
  const list = useMemo(() => downloads(view, look), [view, look]);
  const [busy, setBusy] = useState<string>();
  const [words, setWords] = useState("");
  const save = async (name: string, file: string, make: () => Promise<Blob>): Promise<void> => {
    setBusy(name);
    setWords(`Creating ${file} …`);
    try {
      offer(await make(), file);
      setWords(`${file} was saved by your browser.`);
    } catch (error) {
      setWords(`${file} could not be created: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      setBusy(undefined);
    }
  };
  const stem = fileStem(view.name);
  const zip = (): Promise<void> =>
    save("all", `${stem}-depth.zip`, () =>
      zipAll(view, {
        look,
        onProgress: (share) => {
          setWords(`Packing: ${Math.round(100 * share)} %`);
        },
      }),
    );
  return (
    <section class="downloads">
      <button
        type="button"
        class="primary large"
        disabled={busy !== undefined}
        data-testid={TEST_IDS.downloadAll}
        onClick={() => void zip()}
      >
        Everything as one zip
      </button>
      <p role="status" class="quiet">
        {words}
      </p>
      <TrustChoice look={look} controller={controller} label="Leave out of points and surfaces, and hatch in colour, errors above" />
      <ul>
        {list.map((download) => {
          const { name, file, label } = download;
          return (
            <li key={name}>
              <button
                type="button"
                disabled={busy !== undefined}
                aria-busy={busy === name}
                data-testid={`${TEST_IDS.download}${name}`}
                onClick={() => void save(name, `${stem}-${file}`, () => download.make())}
              >
                <span class="download-file">{file}</span>
                <span class="download-label">{label}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
