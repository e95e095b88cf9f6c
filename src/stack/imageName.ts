import { RAW_NAME } from "../io/raw.ts";

const IMAGE = /\.(jpe?g|png|tiff?|webp|avif|hei[cf]|hif|bmp)$/i;

/** Whether a file's name is that of an image, a result among them. */
export const isImageName = (name: string): boolean => IMAGE.test(name) || RAW_NAME.test(name);
