// Stands for a decoder that a file has led astray. The name of the file says how.
import { watchProcess } from "../../src/system/processWatch.ts";

process.on("message", ({ file }: { file: string }) => {
  const held: Uint8Array[] = [];
  if (file.includes("forever")) for (;;);
  if (file.includes("memory")) for (;;) held.push(new Uint8Array(16 << 20).fill(1));
  if (file.includes("crash")) process.abort();
  process.send?.({
    type: "checked",
    frame: { file, ending: "png", width: 64, height: 48, pages: 1, planes: [{ page: 0 }], pid: process.pid, environment: process.env },
  });
});
process.on("disconnect", () => process.exit(0));
watchProcess({ memory: Number(process.argv[2]) });
