/** What a child process is for, which decides what it gets of our environment. */
export type ChildNeed =
  /** To start at all: its libraries, its language, its temporary folder. */
  | "system"
  /** To compute: how graphics cards, thread pools and runtimes are set up. */
  | "device"
  /** To open a store that is a bucket. */
  | "bucket";

const VARIABLES: Readonly<Record<ChildNeed, RegExp>> = {
  system: new RegExp(
    [
      "^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|TMP|TEMP|LC_\\w+|XDG_\\w+|VIPS_\\w+|MALLOC_\\w+|(LD|DYLD)_\\w+",
      "NODE_(OPTIONS|PATH|V8_COVERAGE|COMPILE_CACHE|DISABLE_COMPILE_CACHE|NO_WARNINGS)|NO_COLOR|FORCE_COLOR",
      "SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMDATA|USERPROFILE|NUMBER_OF_PROCESSORS)$", // Windows
    ].join("|"),
    "i",
  ),
  device:
    /^(CUDA|CUDNN|CUBLAS|NVIDIA|NCCL|ROCR|HIP|HSA|VK|VULKAN|MESA|LIBGL|GALLIUM|DRI|DISPLAY|WAYLAND|ORT|OMP|GOMP|KMP|MKL|OPENBLAS|DNNL|ONEDNN|ATEN|TORCH|PYTORCH)(_\w+)?$/,
  bucket:
    /^(AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|REGION|DEFAULT_REGION|ENDPOINT_URL|ENDPOINT_URL_S3)|DUALFOCUS_S3_ALLOW_HTTP|HTTPS?_PROXY|NO_PROXY|NODE_USE_ENV_PROXY|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|SSL_CERT_(FILE|DIR))$/i,
};

/**
 * The variables that a child process needs, and no others: decoders of strangers' files have no use for the keys of a bucket or the
 * address of Redis, and what they do not hold they cannot give away.
 */
export const childEnvironment = (needs: readonly ChildNeed[], environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => needs.some((need) => VARIABLES[need].test(name))));
