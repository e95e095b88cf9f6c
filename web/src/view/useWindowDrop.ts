import { useEffect, useRef, useState } from "preact/hooks";

import { droppedFiles, nameOf } from "../droppedFiles.ts";
import type { UserFile } from "../worker/protocol.ts";

export type OnFiles = (name: string, files: readonly UserFile[]) => void;

/**
 * Takes files let go anywhere over the window: without this a browser would leave the page and show the file. Says whether some hang over
 * it right now. Without `onFiles` they are not taken.
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
