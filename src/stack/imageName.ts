import { ERRORS } from "../errors.ts";
import { RAW_NAME } from "../io/raw.ts";

const IMAGE = /\.(jpe?g|png|tiff?|webp|avif|hei[cf]|hif|bmp)$/i;

/** Whether a file's name is that of an image, a result among them. */
export const isImageName = (name: string): boolean => IMAGE.test(name) || RAW_NAME.test(name);

/** What to do about a file that cannot be read: one image of several can be spared. */
export const unreadableRemedy = (file: string): string =>
  isImageName(file) ? "copy or export it again; if it is one of several images of a stack, it can be left out" : ERRORS["bad-file"].remedy;
