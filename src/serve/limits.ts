/** How much the server takes, from one request and from all. */
export interface Limits {
  /** Bytes of one request. */
  readonly requestBytes: number;
  /** Bytes of one image. */
  readonly fileBytes: number;
  /** Images of one stack, pages of a TIFF included. */
  readonly frames: number;
  /** Pixels of one image. */
  readonly pixels: number;
  /** Requests that send a stack at the same time. */
  readonly uploads: number;
  /** Jobs that wait; more are turned away. */
  readonly queued: number;
  /** Clients that listen to the progress of jobs at the same time. */
  readonly listeners: number;
  readonly connections: number;
  /** Connections of one client's address at the same time; not behind a proxy, whose connections are everyone's. */
  readonly connectionsPerClient: number;
  /** Bytes that must be free on the disk for the server to be ready. */
  readonly freeBytes: number;
  /** Requests a minute of one client; 0 for any number. */
  readonly requestsPerMinute: number;
  /** Seconds without a byte after which an upload is given up. */
  readonly idleSeconds: number;
  /** Seconds for the headers of a request. */
  readonly headerSeconds: number;
  /** Seconds for a whole request. */
  readonly requestSeconds: number;
  /** Seconds between two signs of life to those who listen. */
  readonly heartbeatSeconds: number;
}

export const DEFAULT_LIMITS: Limits = {
  requestBytes: 1 << 30,
  fileBytes: 200 << 20,
  frames: 100,
  pixels: 100e6,
  uploads: 200,
  queued: 1000,
  listeners: 1000,
  connections: 2000,
  connectionsPerClient: 200,
  freeBytes: 256 << 20,
  requestsPerMinute: 600,
  idleSeconds: 20,
  headerSeconds: 10,
  requestSeconds: 900,
  heartbeatSeconds: 15,
};

/** Of the `options` field and of a part's headers: far more than any honest client sends. */
export const OPTIONS_BYTES = 64 << 10;
export const PART_HEADER_BYTES = 4 << 10;
