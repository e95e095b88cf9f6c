import type { TargetedEvent, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { mayHaveCamera } from "../camera/camera.ts";
import { TEST_IDS } from "../contract.ts";
import { nameOf, pickedFiles } from "../droppedFiles.ts";
import type { OpeningState } from "../state/state.ts";
import { openingWords } from "../state/words.ts";
import { CameraView } from "./CameraView.tsx";
import type { OnFiles } from "./useWindowDrop.ts";

interface DropZoneProps {
  readonly opening: OpeningState;
  /** Files are being dragged over the window. */
  readonly isOver: boolean;
  readonly onFiles: OnFiles;
  readonly onCancel: () => void;
}

/** Shows where to drop files, and two buttons to choose them instead. */
export function DropZone({ opening, isOver, onFiles, onCancel }: DropZoneProps): VNode {
  const isBusy = opening !== undefined;
  const [files, folder] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)];
  const take = ({ currentTarget: input }: TargetedEvent<HTMLInputElement>): void => {
    const picked = pickedFiles(input.files ?? []);
    input.value = ""; // the same files may be chosen again
    if (picked.length > 0) onFiles(nameOf(picked), picked);
  };
  return (
    <section class={isOver ? "drop-zone is-over" : "drop-zone"} data-testid={TEST_IDS.dropZone} aria-busy={isBusy} aria-label="Your images">
      <StackDrawing />
      <p class="drop-title" role="status">
        {isBusy ? openingWords(opening) : "Drop your images or their folder here"}
      </p>
      <p class="drop-text">
        JPEG, HEIC, PNG, TIFF, WebP, AVIF or raw, also in a ZIP: at least three, ideally five to ten. Or a video in which the focus moves.
      </p>
      <div class="buttons">
        <button type="button" class="primary" disabled={isBusy} onClick={() => files.current?.click()}>
          Choose images
        </button>
        <button type="button" disabled={isBusy} onClick={() => folder.current?.click()}>
          Choose a folder
        </button>
        <TakePhotos isBusy={isBusy} onFiles={onFiles} />
        {isBusy && <CancelOpening onCancel={onCancel} />}
      </div>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label="Images"
        accept={ACCEPTED}
        data-testid={TEST_IDS.filesInput}
        onChange={take}
      />
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Folder"
        data-testid={TEST_IDS.folderInput}
        onChange={take}
        {...{ webkitdirectory: true }}
      />
    </section>
  );
}

/** Only where the browser can set a camera's focus. */
function TakePhotos({ isBusy, onFiles }: { isBusy: boolean; onFiles: OnFiles }): VNode | null {
  const [isOffered, setOffered] = useState(false);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    void mayHaveCamera().then(setOffered);
  }, []);
  if (!isOffered) return null;
  return (
    <>
      <button
        type="button"
        disabled={isBusy}
        data-testid={TEST_IDS.openCamera}
        onClick={() => {
          setOpen(true);
        }}
      >
        Take photos
      </button>
      {isOpen && (
        <CameraView
          onPhotos={(files) => {
            setOpen(false);
            onFiles(`Photos of ${new Date().toLocaleTimeString([], { timeStyle: "short" })}`, files);
          }}
          onClose={() => {
            setOpen(false);
          }}
        />
      )}
    </>
  );
}

const ACCEPTED = [
  ...["image/*", "video/*", ".heic", ".heif", ".hif", ".tif", ".tiff", ".zip", ".mkv", ".json", ".csv", ".tsv", ".txt"],
  ...[".dng", ".nef", ".nrw", ".cr2", ".cr3", ".arw", ".raf", ".orf", ".rw2", ".pef", ".srw"],
].join();

/** Stops opening files: a long video, many raw files. */
export function CancelOpening({ onCancel }: { onCancel: () => void }): VNode {
  return (
    <button type="button" data-testid={TEST_IDS.cancelOpening} onClick={onCancel}>
      Cancel
    </button>
  );
}

function StackDrawing(): VNode {
  return (
    <svg class="stack-drawing" viewBox="0 0 120 72" width="120" height="72" aria-hidden="true">
      {[0, 1, 2].map((n) => (
        <rect key={n} x={8 + 18 * n} y={24 - 9 * n} width="62" height="42" rx="5" />
      ))}
      <circle cx="75" cy="27" r="9" />
    </svg>
  );
}
