/**
 * Why bf16 cannot be computed on this CPU, or false. On a processor without AVX-512 libtorch does without oneDNN's bf16; of a limit set for
 * oneDNN on one that has it (`npm test -- --processors`), it does not know, and fails.
 */
export const noBf16: string | false =
  ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"].some((name) => process.env[name] === "AVX2") && "oneDNN was told to have no bf16";
