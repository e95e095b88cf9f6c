import type { Image } from "../../../src/image/image.ts";
import type { ViewResult } from "../contract.ts";
import type { StoredFacts } from "../state/state.ts";
import type { FocusChoice, PackedImages, UnpackedFiles } from "../worker/protocol.ts";
import { readValue, removeAll, writeValue } from "./database.ts";
import { packed, unpacked } from "./pack.ts";

/** All that is needed to show a result again, and to run its stack again. */
export interface StoredResult {
  readonly view: ViewResult;
  /** The images in working size, for the views that show them. */
  readonly images: PackedImages;
  /** By the image's index in the order of the file names. */
  readonly thumbnails: Readonly<Record<number, Blob>>;
  readonly align: boolean;
  /** What was opened, and the user's choices; absent if the files are too large to be stored. */
  readonly opened?: UnpackedFiles & { readonly name: string; readonly focus: FocusChoice };
}

/** Changes whenever what is stored does; a result in another format is not read. */
const FORMAT = 2;
/** Bytes of files that are stored with a result. */
export const MOST_FILE_BYTES = 500e6;

/** Replaces the result that was stored before. */
export async function storeResult(result: StoredResult): Promise<StoredFacts> {
  const { name, planes, result: maps } = result.view;
  const facts = { name, planes: planes.length, width: maps.depth.width, height: maps.depth.height, at: Date.now() };
  await writeValue("facts", undefined); // a copy that is cut short must not be taken for one
  await writeValue(
    "result",
    packed({ ...result, view: { ...result.view, result: { ...maps, allInFocus: maps.allInFocus && narrow(maps.allInFocus, maps.bits) } } }),
  );
  await writeValue("facts", { ...facts, format: FORMAT });
  return facts;
}

/** What is stored, without reading it. */
export async function storedFacts(): Promise<StoredFacts | undefined> {
  const facts = (await readValue("facts")) as (StoredFacts & { readonly format: number }) | undefined;
  return facts?.format === FORMAT ? facts : undefined;
}

export async function loadResult(): Promise<StoredResult | undefined> {
  if (!(await storedFacts())) return undefined;
  const stored = (await unpacked(await readValue("result"))) as StoredResult;
  const { allInFocus } = stored.view.result;
  if (!allInFocus) return stored;
  return { ...stored, view: { ...stored.view, result: { ...stored.view.result, allInFocus: widen(allInFocus) } } };
}

export const removeResult = removeAll;

/** With as many bits as the files have; the all-in-focus image is saved with no more. */
function narrow(image: Image, bits: 8 | 16 = 8): unknown {
  const most = bits === 8 ? 255 : 65535;
  const data = new (bits === 8 ? Uint8Array : Uint16Array)(image.data.length);
  for (let i = 0; i < data.length; i++) data[i] = Math.round(most * Math.min(Math.max(image.data[i] as number, 0), 1));
  return { ...image, data };
}

function widen(image: Omit<Image, "data"> & { readonly data: ArrayLike<number> }): Image {
  const most = image.data instanceof Uint16Array ? 65535 : 255;
  return { ...image, data: Float32Array.from(image.data, (value) => value / most) };
}
