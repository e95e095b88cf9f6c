import { DualFocusError } from "../../../src/errors.ts";
import { DISTANCE_FILE } from "../../../src/stack/distanceList.ts";
import { noImages } from "../../../src/stack/listing.ts";
import { isImageName } from "../../../src/stack/imageName.ts";
import { baseName, planeFiles } from "../../../src/stack/stackFormat.ts";
import { isVideo } from "../../../src/stack/sweep.ts";
import { isVisible } from "../droppedFiles.ts";
import type { Caller } from "./job.ts";
import type { UnpackedFiles, UserFile } from "./protocol.ts";
import { videoFrames } from "./video.ts";
import { isZip, unzip } from "./zip.ts";

/** Of the files in an archive only those that a stack may need are unpacked. */
function isOfUse(path: string): boolean {
  const name = baseName(path);
  const isRead = isImageName(name) || isVideo(name) || DISTANCE_FILE.test(name) || /\.json$/i.test(name);
  return isRead && isVisible({ path }) && !path.startsWith("__MACOSX/");
}

/** The images inside what was given: files of archives, frames of a video. Anything else stays as it is. */
export async function unpackFiles(given: readonly UserFile[], caller: Caller): Promise<UnpackedFiles> {
  const files: UserFile[] = [];
  for (const each of given) {
    if (isZip(each)) files.push(...(await unzip(each, { wanted: isOfUse, signal: caller.signal })));
    else files.push(each);
  }
  const [first] = given;
  if (first && files.length === 0) throw noImages(first.path);
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
