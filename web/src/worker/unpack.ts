import { DualFocusError } from "../../../src/errors.ts";
import { baseName, planeFiles } from "../../../src/stack/stackFormat.ts";
import { isVideo } from "../../../src/stack/sweep.ts";
import { isVisible } from "../droppedFiles.ts";
import type { Caller } from "./job.ts";
import type { UnpackedFiles, UserFile } from "./protocol.ts";
import { videoFrames } from "./video.ts";
import { isZip, unzip } from "./zip.ts";

/** The images inside what was given: files of archives, frames of a video. Anything else stays as it is. */
export async function unpackFiles(given: readonly UserFile[], caller: Caller): Promise<UnpackedFiles> {
  const files: UserFile[] = [];
  for (const each of given) {
    if (isZip(each)) files.push(...(await unzip(each, (path) => isVisible({ path }) && !/\/$|^__MACOSX\//.test(path))));
    else files.push(each);
  }
  const videos = files.filter(({ path }) => isVideo(path));
  const [video] = videos;
  if (!video || planeFiles(files.map(({ path }) => baseName(path))).length > 0) return { files, notes: [] };
  if (videos.length > 1)
    throw new DualFocusError("video-among-files", `there are ${videos.length} videos`, { facts: { file: video.path } });
  const { signal, onEvent } = caller;
  const onProgress = (seconds: number, of: number): void => {
    onEvent({ kind: "stage", stage: "frames", done: Math.floor(of > 0 ? (100 * seconds) / of : 0), of: 100 });
  };
  const { files: frames, note } = await videoFrames(video, { signal, onProgress });
  return { files: frames, notes: [note] };
}
