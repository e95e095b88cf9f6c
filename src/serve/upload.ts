import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { once, setMaxListeners } from "node:events";
import { createWriteStream } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { Writable, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { OPTIONS_BYTES, PART_HEADER_BYTES, type Limits } from "./limits.ts";
import { Problem, tooLarge } from "./problem.ts";
import type { Turns } from "./turns.ts";

/** What a client has sent: pictures in the order of the parts, under names of ours, and the text of `options`. */
export interface Upload {
  readonly files: readonly string[];
  readonly options?: string;
  /** Of the whole request. */
  readonly bytes: number;
}

interface Receiving {
  /** Exists and is empty; whoever made it removes it, whatever happens. */
  readonly folder: string;
  readonly limits: Limits;
  readonly turns: Turns;
}

const HOW = "send multipart/form-data with a part “frames” for each picture and one part “options” with JSON";

/**
 * Streams the parts of a multipart request to files. It ends as soon as a limit is passed, the client stops or the format is broken;
 * by then no file is open any more. Names that the client gives are not looked at.
 */
export async function receiveUpload(request: IncomingMessage, { folder, limits, turns }: Receiving): Promise<Upload> {
  const parser = openParser(request, limits);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // one for each file
  const fail = (reason: unknown): void => {
    stop.abort(reason);
  };
  const files: string[] = [];
  const writes: Promise<void>[] = [];
  let options: string | undefined;
  parser.on("file", (_field, stream) => {
    const file = join(folder, `upload_${String(files.length).padStart(4, "0")}`);
    files.push(file);
    stream.once("limit", () => {
      fail(tooLarge(`picture ${files.length} is larger than ${limits.fileBytes} bytes`));
    });
    const write = save(stream, { file, signal: stop.signal });
    write.catch(fail); // at once, not when the last part has come
    writes.push(write);
  });
  parser.on("field", (field, value, _fieldCut, valueCut) => {
    if (field !== "options") fail(badRequest("there is a part that is neither “frames” nor “options”"));
    else if (valueCut) fail(tooLarge(`“options” is longer than ${OPTIONS_BYTES} bytes`));
    else options = value;
  });
  const meter = watch(request, { limits, fail });
  const pieces = inPieces(parser, turns);
  try {
    await parse(request, { parser, pieces, limits, fail, signal: stop.signal });
    await Promise.all(writes);
    stop.signal.throwIfAborted();
    return { files, bytes: meter.bytes(), ...(options === undefined ? {} : { options }) };
  } catch (error) {
    stop.abort(error);
    request.unpipe(pieces);
    parser.destroy();
    await Promise.allSettled(writes);
    throw stop.signal.reason; // the first thing that went wrong, not what followed from it
  } finally {
    meter.release();
  }
}

function openParser(request: IncomingMessage, limits: Limits): BusboyInstance {
  const { "content-type": type = "", "content-encoding": encoding, "content-length": length } = request.headers;
  if (!/^multipart\/form-data *(;|$)/i.test(type))
    throw new Problem("unsupported-type", { detail: "the request is not multipart/form-data", remedy: HOW });
  if (encoding !== undefined && encoding !== "identity")
    throw new Problem("unsupported-type", { detail: "the request is compressed", remedy: "send it without Content-Encoding" });
  if (length !== undefined && Number(length) > limits.requestBytes)
    throw tooLarge(`the request is larger than ${limits.requestBytes} bytes`);
  try {
    return new Busboy({
      headers: { ...request.headers, "content-type": type },
      isPartAFile: (field) => field === "frames",
      limits: {
        files: limits.frames,
        fileSize: limits.fileBytes,
        fields: 1,
        fieldSize: OPTIONS_BYTES,
        headerPairs: 20,
        headerSize: PART_HEADER_BYTES,
      },
    });
  } catch (cause) {
    throw badRequest("the boundary of the parts is missing or malformed", cause);
  }
}

const badRequest = (detail: string, cause?: unknown): Problem =>
  new Problem("bad-request", { detail, remedy: HOW, headers: { Connection: "close" }, cause });

const tooSlow = (seconds: number): Problem =>
  new Problem("timeout", {
    detail: `nothing was sent for ${seconds} seconds`,
    remedy: "send the request again",
    headers: { Connection: "close" },
  });

interface Parsing {
  readonly parser: BusboyInstance;
  readonly pieces: Writable;
  readonly limits: Limits;
  readonly fail: (reason: unknown) => void;
  readonly signal: AbortSignal;
}

function parse(request: IncomingMessage, { parser, pieces, limits, fail, signal }: Parsing): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => {
      reject(signal.reason as Problem);
    });
    parser.on("filesLimit", () => {
      fail(tooLarge(`there are more than ${limits.frames} pictures`));
    });
    parser.on("fieldsLimit", () => {
      fail(badRequest("there is more than one part besides “frames”"));
    });
    parser.on("error", (cause) => {
      fail(badRequest("the parts of the request are broken off or malformed", cause));
    });
    parser.on("finish", resolve);
    request.pipe(pieces);
  });
}

/** Parts that may begin in what is parsed at a time: each has headers to read and a file to open. */
const PARTS_AT_A_TIME = 8;

/** Cuts a chunk where parts may begin, so that no piece has more than a few of them; one of plain data stays whole. */
export function piecesOf(chunk: Buffer): Buffer[] {
  const starts = [0];
  for (let at = chunk.indexOf("\r\n--"), n = 1; at >= 0; at = chunk.indexOf("\r\n--", at + 4), n++)
    if (n % PARTS_AT_A_TIME === 0) starts.push(at);
  return starts.map((start, n) => chunk.subarray(start, starts[n + 1]));
}

/** What is written to it goes to the parser piece by piece, each in its turn. */
function inPieces(parser: BusboyInstance, turns: Turns): Writable {
  const parseChunk = async (chunk: Buffer): Promise<void> => {
    await Promise.all(piecesOf(chunk).map((piece) => turns(() => parser.destroyed || parser.write(piece))));
    if (parser.writableNeedDrain) await once(parser, "drain");
  };
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      parseChunk(chunk).then(() => {
        done();
      }, done);
    },
    final(done) {
      parser.end();
      done();
    },
  }).on("error", () => undefined); // the parser's own, which has been reported
}

/** Counts bytes, and gives up on a client that is gone or sends nothing while we wait for it. */
function watch(request: IncomingMessage, { limits, fail }: Pick<Parsing, "limits" | "fail">): { bytes: () => number; release: () => void } {
  let bytes = 0;
  const tick = setInterval(() => {
    const before = bytes;
    setImmediate(() => {
      if (bytes > before || request.isPaused()) return; // it is we who are slow: this process, or the disk
      fail(request.complete ? badRequest("the parts of the request have no end") : tooSlow(limits.idleSeconds));
    });
  }, limits.idleSeconds * 1000);
  const onData = (chunk: Buffer): void => {
    tick.refresh();
    if ((bytes += chunk.length) > limits.requestBytes) fail(tooLarge(`the request is larger than ${limits.requestBytes} bytes`));
  };
  const onClose = (): void => {
    if (!request.complete) fail(badRequest("the connection ended before the request"));
  };
  request.on("data", onData).on("close", onClose).on("error", onClose);
  const release = (): void => {
    clearInterval(tick);
    request.off("data", onData).off("close", onClose); // the listener to errors stays: one nobody hears ends the process
  };
  return { bytes: () => bytes, release };
}

/** Ends when the file is closed, written or not. */
async function save(stream: Readable, { file, signal }: { file: string; signal: AbortSignal }): Promise<void> {
  const output = createWriteStream(file, { flags: "wx", mode: 0o600 });
  const closed = new Promise<void>((resolve) => output.once("close", resolve));
  stream.on("error", () => undefined); // also those that come after the pipeline has ended
  try {
    await pipeline(stream, output, { signal });
  } finally {
    await closed;
  }
}
