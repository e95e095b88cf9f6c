/** Packages that come without types for the files we use: only what we call. */

declare module "libheif-js/libheif-wasm/libheif-bundle.mjs" {
  type Failure = { readonly code: unknown; readonly message: string };
  interface Channel {
    readonly id: unknown;
    readonly width: number;
    readonly height: number;
    /** Bytes from one row to the next. */
    readonly stride: number;
    readonly bits_per_pixel: number;
    readonly data: Uint8Array;
  }
  export interface Libheif {
    readonly heif_error_code: { readonly heif_error_Ok: unknown };
    readonly heif_colorspace: { readonly heif_colorspace_RGB: unknown };
    readonly heif_chroma: { readonly heif_chroma_interleaved_RGB: unknown; readonly heif_chroma_interleaved_RRGGBB_LE: unknown };
    heif_context_alloc(): object;
    heif_context_free(context: object): void;
    heif_context_read_from_memory(context: object, bytes: Uint8Array): Failure;
    heif_js_context_get_primary_image_handle(context: object): object | Failure;
    heif_image_handle_release(handle: object): void;
    heif_js_decode_image2(
      handle: object,
      colourSpace: unknown,
      chroma: unknown,
    ): { readonly image: object; readonly channels: readonly Channel[] } | Failure | undefined;
    heif_image_release(image: object): void;
  }
  export default function createLibheif(options?: { print?: (line: string) => void; printErr?: (line: string) => void }): Libheif;
}

declare module "libraw-wasm/dist/libraw.js" {
  interface LibRaw {
    open(bytes: Uint8Array, settings: Readonly<Record<string, unknown>>): void;
    metadata(all: boolean): { readonly flip: number } | undefined;
    imageData():
      | {
          readonly width: number;
          readonly height: number;
          readonly colors: number;
          readonly bits: number;
          readonly data: Uint8Array | Uint16Array;
        }
      | undefined;
    delete(): void;
  }
  export interface LibRawModule {
    readonly LibRaw: new () => LibRaw;
  }
  export default function createModule(options: {
    wasmBinary?: Uint8Array;
    print?: (line: string) => void;
    printErr?: (line: string) => void;
  }): Promise<LibRawModule>;
}
