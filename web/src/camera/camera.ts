import type { UserFile } from "../worker/protocol.ts";

/** What browsers that can set the focus add to the types of TypeScript. Distances in metres. */
interface FocusCapabilities extends MediaTrackCapabilities {
  readonly focusMode?: readonly string[];
  readonly focusDistance?: { readonly min: number; readonly max: number };
  readonly exposureMode?: readonly string[];
  readonly whiteBalanceMode?: readonly string[];
}

/** A camera whose focus this page can set. */
export interface FocusCamera {
  readonly stream: MediaStream;
  /** The distances it can be set to [m]. */
  readonly range: readonly [number, number];
  focus(distance: number): Promise<void>;
  /** Exposure and colours stay as they are from now on, where the camera allows it: they may not change from photo to photo. */
  holdExposure(): Promise<void>;
  close(): void;
}

/** Whether this browser can set the focus of any camera. Whether it can of this device's is known only once that is open. */
export async function mayHaveCamera(): Promise<boolean> {
  const devices = (navigator as Partial<Navigator>).mediaDevices; // only on https and localhost
  const supported = devices?.getSupportedConstraints() as Readonly<Record<string, boolean>> | undefined;
  if (!devices || !supported?.["focusDistance"]) return false;
  return (await devices.enumerateDevices().catch(() => [])).some(({ kind }) => kind === "videoinput");
}

/** Farther is as good as infinity, and what drivers state beyond it is not a distance. */
const FAR = 10;
const NEAR = 0.05;

/** Opens the camera at the back; undefined if its focus cannot be set. */
export async function openCamera(): Promise<FocusCamera | undefined> {
  const size = { width: { ideal: 1920 }, height: { ideal: 1440 } };
  const stream = await navigator.mediaDevices.getUserMedia({ audio: false, video: { facingMode: "environment", ...size } });
  const [track] = stream.getVideoTracks();
  const close = (): void => {
    for (const each of stream.getTracks()) each.stop();
  };
  const { focusMode, exposureMode, whiteBalanceMode, ...able } = capabilitiesOf(track, close);
  const range = focusMode?.includes("manual") ? rangeOf(able) : undefined;
  if (!track || !range) {
    close();
    return undefined;
  }
  const apply = (settings: Readonly<Record<string, unknown>>): Promise<void> => track.applyConstraints({ advanced: [settings] });
  return {
    stream,
    range,
    focus: (distance) => apply({ focusMode: "manual", focusDistance: distance }),
    holdExposure: () =>
      apply({
        ...(exposureMode?.includes("manual") ? { exposureMode: "manual" } : {}),
        ...(whiteBalanceMode?.includes("manual") ? { whiteBalanceMode: "manual" } : {}),
      }),
    close,
  };
}

/** Nothing in browsers that cannot tell; if asking fails, the camera is closed. */
function capabilitiesOf(track: Partial<MediaStreamTrack> | undefined, close: () => void): FocusCapabilities {
  try {
    return track?.getCapabilities?.() ?? {};
  } catch (error) {
    close();
    throw error;
  }
}

/** Undefined if the focus cannot move within the distances that are of use. */
function rangeOf({ focusDistance }: Pick<FocusCapabilities, "focusDistance">): readonly [number, number] | undefined {
  if (!focusDistance) return undefined;
  const { min, max } = focusDistance;
  const [near, far] = [Math.max(NEAR, min), min < FAR ? Math.min(FAR, max) : max];
  return near < far ? [near, far] : undefined;
}

/** Focus distances from near to far in even steps of 1/distance: blur changes by as much from each to the next. */
export function focusSteps({ near, far, count }: { near: number; far: number; count: number }): number[] {
  return Array.from({ length: count }, (_, n) => 1 / (1 / near + (n / (count - 1)) * (1 / far - 1 / near)));
}

/** Milliseconds until a lens has moved and the picture shows it. */
const SETTLING = 600;

export interface Shooting {
  readonly distances: readonly number[];
  readonly signal: AbortSignal;
  /** Called with the number of photos taken. */
  readonly onPhoto: (taken: number) => void;
}

/** One photo at each distance, named after it. */
export async function takePhotos(
  camera: FocusCamera,
  video: HTMLVideoElement,
  { distances, signal, onPhoto }: Shooting,
): Promise<UserFile[]> {
  await camera.holdExposure();
  const files: UserFile[] = [];
  for (const distance of distances) {
    await camera.focus(distance);
    await new Promise((resolve) => setTimeout(resolve, SETTLING));
    signal.throwIfAborted();
    const name = `photo_${files.length + 1}_${distance.toFixed(3)}m.png`;
    files.push({ path: name, file: new File([await pictureOf(video)], name) });
    onPhoto(files.length);
  }
  return files;
}

async function pictureOf(video: HTMLVideoElement): Promise<Blob> {
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
  canvas.getContext("2d")?.drawImage(video, 0, 0);
  return canvas.convertToBlob({ type: "image/png" });
}
