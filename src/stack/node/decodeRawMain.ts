// The process that develops one raw file, from standard input to standard output: started by `decodeRaw`.
import { watchProcess } from "../../system/processWatch.ts";
import { developRaw } from "../../io/libraw.ts";
import { HEAD_BYTES, loadLibRaw } from "./decodeRaw.ts";

watchProcess({ memory: Number(process.argv[2]) });
const chunks: Buffer[] = [];
for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
const pixels = developRaw(Buffer.concat(chunks), await loadLibRaw());
if (pixels) {
  const { width, height, orientation, data } = pixels;
  const head = Buffer.alloc(HEAD_BYTES);
  for (const [n, value] of [width, height, orientation].entries()) head.writeUInt32LE(value, 4 * n);
  process.stdout.write(head);
  process.stdout.write(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}
