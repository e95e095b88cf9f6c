import { useEffect, useRef, useState } from "preact/hooks";

import { droppedFiles, nameOf } from "../droppedFiles.ts";
import type { UserFile } from "../worker/protocol.ts";

export type OnFiles = (name: string, files: readonly UserFile[]) => void;

/**
 * Accepts files dropped anywhere on the window; otherwise the browser would leave the page and show the file. Returns whether files are
 * being dragged over the window. Without `onFiles` drops are ignored.
 */
export function useWindowDrop(onFiles: OnFiles | undefined): boolean {
  const [isOver, setOver] = useState(false);
  const handler = useRef(onFiles);
  handler.current = onFiles;
  useEffect(() => {
    const over = (event: DragEvent): void => {
      event.preventDefault();
      setOver(handler.current !== undefined);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      if (!event.dataTransfer) return;
      void droppedFiles(event.dataTransfer).then((files) => handler.current?.(nameOf(files), files));
    };
    const listeners = { dragover: over, dragleave: leave, drop } as const;
    for (const [kind, listener] of Object.entries(listeners)) window.addEventListener(kind, listener as EventListener);
    return () => {
      for (const [kind, listener] of Object.entries(listeners)) window.removeEventListener(kind, listener as EventListener);
    };
  }, []);
  return isOver;
}
