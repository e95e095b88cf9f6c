// What build/dualfocus.node exports. Every function throws an Error on a wrong argument; none crashes the process.

/** A tensor, owned by JavaScript: freed by `dispose`, or by the garbage collector if `dispose` is never called. */
export interface Handle {
  readonly __tensor: never;
}

/** A captured CUDA graph. */
export interface GraphHandle {
  readonly __graph: never;
}

/** A mark in a CUDA stream. */
export interface EventHandle {
  readonly __event: never;
}

/** A member of a group of processes. */
export interface GroupHandle {
  readonly __group: never;
}

export type Result = Handle | null | undefined | number | boolean | string | Result[];
export type Bytes = Float32Array | Float64Array | Uint8Array | Uint16Array | Int32Array | BigInt64Array;

export interface Addon {
  /** Any operator by its full name, "aten::add.Tensor". Arguments are converted by the operator's schema; trailing ones may be omitted. */
  call(operator: string, ...args: unknown[]): Result;

  fromArray(array: Bytes, shape: readonly number[], dtype: string, device: string): Handle;
  toArray(tensor: Handle): Bytes;
  writeFrom(tensor: Handle, array: Bytes): void;
  shape(tensor: Handle): number[];
  dtype(tensor: Handle): string;
  item(tensor: Handle): number;
  dispose(tensor: Handle): void;
  liveTensors(): number;
  liveBytes(): number;

  setRequiresGrad(tensor: Handle, on: boolean): void;
  requiresGrad(tensor: Handle): boolean;
  backward(tensor: Handle, gradient?: Handle): void;
  grad(tensor: Handle): Handle | null;
  setGrad(tensor: Handle, gradient: Handle | null): void;
  /** setGradMode and setAutocast return the previous setting. */
  setGradMode(on: boolean): boolean;
  setAutocast(device: string, on: boolean): boolean;
  clearAutocastCache(): void;

  libraryVersion(): string;
  setThreads(count: number): void;
  threads(): number;
  seed(seed: number): void;

  cudaAvailable(): boolean;
  setFastMath(tf32: boolean, cudnnBenchmark: boolean): void;
  /** These throw in a build without CUDA, down to `profileEnd`. */
  useCuda(device: string): void;
  synchronize(): void;
  cudaMemory(device: string): { allocated: number; reserved: number; peak: number; free: number };
  captureBegin(): GraphHandle;
  captureEnd(graph: GraphHandle): void;
  replay(graph: GraphHandle): void;
  disposeGraph(graph: GraphHandle): void;
  recordEvent(): EventHandle;
  /** Milliseconds between two events; waits for them. */
  elapsed(from: EventHandle, to: EventHandle): number;
  /** Records the device's kernels and copies until `profileEnd`, which writes them as a Chrome trace. */
  profileBegin(): void;
  profileEnd(path: string): void;

  /** Returns when all members have joined. `backend` is "gloo" or "nccl"; the member that `serves` listens at host:port. */
  joinGroup(
    host: string,
    port: number,
    rank: number,
    size: number,
    backend: string,
    timeoutSeconds: number,
    serves: boolean,
    prefix: string,
  ): GroupHandle;
  broadcast(group: GroupHandle, tensor: Handle, root: number): void;
  allReduce(group: GroupHandle, tensor: Handle): void;
  leaveGroup(group: GroupHandle): void;

  /** Milliseconds per iteration of "add", "conv2d" or "conv3d" looped in C++. */
  benchmark(operation: string, a: Handle, b: Handle, iterations: number, backward: boolean): number;

  /** Whether the functions up to `renderLens` run on this device (CUDA: where nvcc compiled them). Channels are innermost; see native/fuse.h. */
  hasKernels(device: string): boolean;
  /** a(values + bias [+ residual]), a(v) = v for v > 0, else slope · v: in place, or into the channels of `to` starting at `firstChannel`. */
  finishConvolution(values: Handle, bias: Handle, residual: Handle | null, slope: number, to: Handle | null, firstChannel: number): void;
  /** Resamples `from` (bilinear or nearest) into the channels of `to` starting at `firstChannel`. */
  resampleInto(to: Handle, firstChannel: number, from: Handle, nearest: boolean): void;
  /**
   * The last step of a 3×3 convolution over upsampled maps: each source [B, 9C, (N,) h, w] holds the products with the nine weights before
   * upsampling (bilinear or nearest). to ← a(bias + own + Σ of the upsampled products at each tap's neighbour), a(v) as above, in the
   * channels of `to` starting at `firstChannel`; at most three sources.
   */
  windowSum(
    to: Handle,
    firstChannel: number,
    own: Handle | null,
    bias: Handle,
    slope: number,
    nearest: boolean,
    ...sources: readonly Handle[]
  ): void;
  /**
   * 2×2 blocks of images (row-major bytes or f32) as the channels of `to`, after `before` rows and columns of zeros.
   * Values become (value · factor) · scale + shift, with one scale and shift per channel.
   */
  gatherBlocks(to: Handle, from: Handle, before: number, factor: number, scale: Handle | null, shift: Handle | null): void;
  maxPool(to: Handle, from: Handle, side: number, stride: number, padding: number): void;
  /** Means of windows, values outside the image not counted; pairs are [height, width]. */
  meanPool(to: Handle, from: Handle, window: readonly number[], stride: readonly number[], padding: readonly number[]): void;
  /** to ← a(Σ weight · term), a(v) as above; at most six terms, each of the shape of `to` or [B, C, 1, 1] (one value per image and channel). */
  weightedSum(to: Handle, slope: number, ...weightsAndTerms: readonly (number | Handle)[]): void;
  /** A 3×3×3 convolution to one channel, f32: `weight` [27, C], `to` [B, 1, N, h, w]. */
  logitConvolution(to: Handle, from: Handle, weight: Handle, bias: Handle): void;
  /**
   * V_{n+1} − V_n of `from` [B, C, N, h, w], or its negative, into the channels of `to` starting at `firstChannel`; the last plane
   * repeats the previous difference, or is V_N.
   */
  planeDifference(to: Handle, firstChannel: number, from: Handle, negative: boolean, lastIsValue: boolean): void;
  /**
   * Resamples `logits` [B, N, h, w] (bilinear) to the size of `probability` [B, N, H, W] and takes the softmax over N. With `distances`
   * [B, N] it also writes their expectation and standard deviation, [B, 1, H, W] each. Row-major f32.
   */
  readOut(probability: Handle, logits: Handle, distances: Handle | null, depth: Handle | null, spread: Handle | null): void;

  /**
   * Batch norm with the batch's statistics, the sum with `residual` and the activation a(v) as above, with gradients; see native/norm.h. Moves
   * the running statistics. The channels must be a multiple of eight (of four in f32).
   */
  batchNorm(
    x: Handle,
    weight: Handle,
    bias: Handle,
    runningMean: Handle,
    runningVariance: Handle,
    momentum: number,
    epsilon: number,
    slope: number,
    residual: Handle | null,
  ): Handle;
  /** Max pooling with gradients, zeros nowhere: values outside the image do not count; see native/trainPool.h. The same multiple of channels. */
  trainPool(x: Handle, side: number, stride: number, padding: number): Handle;
  /** `windowSum` for training: one source's upsampled products [B, 9C, (N,) h, w], added to own [B, C, (N,) height, width], with gradients. */
  trainWindow(own: Handle | null, products: Handle, height: number, width: number, nearest: boolean): Handle;
  /** Logits [B, N, h, w], f32, resized bilinearly, then softmax over N, with gradients. */
  trainSoftmax(logits: Handle, height: number, width: number): Handle;
  /** [L_depth, L_fv, trend loss] of p [B, N, H, W], f [B, N], D* and valid [B, 1, H, W], with gradients by p; see native/trainLosses.h. */
  planeLosses(p: Handle, focusDistances: Handle, trueDepth: Handle, valid: Handle, beta: number, floor: number, slope: number): Handle;
  /** Mean and maximum over the planes of [B, C, N, h, w] as [B, 2C, h, w], and the volume for its other uses; see native/trainPlanes.h. */
  planePool(volume: Handle): [Handle, Handle];
  /** Volume [B, C, N, h, w] + map [B, C, h, w] at each plane, with gradients. */
  planeSpread(volume: Handle, map: Handle): Handle;
  /** Σ_n p_n of a volume and of the 4×4 pixels of each cell, [B, C + 48, h, w]: p [B, 1, N, h, w], images [B, N, 3, 4h, 4w] without gradient. */
  inFocus(volume: Handle, images: Handle, p: Handle): Handle;
  /** Logits [B, N, h, w] at four times their size by scores [B, 144, h, w] + start [144, 1, 1], with gradients; see native/trainUpsample.h. */
  convexUpsample(logits: Handle, scores: Handle, start: Handle): Handle;
  /**
   * Of images [B, N, 3, H, W] and filters [F, 3, 3, 3]: the means of r_n² and of (r_{n+1} − r_n)² over cells of 4×4, both [B·N, F, H/4, W/4],
   * with the gradient of the filters; see native/trainDetail.h.
   */
  detailEnergies(images: Handle, filters: Handle): [Handle, Handle];
  /** Of both, [B·N, F, h, w]: ℓ(e), ℓ(e) less its maximum over the planes, ℓ(change), [B, 3F, N, h, w]; ℓ(x) = (log(x + floor) + centre) · scale. */
  detailLogs(energies: Handle, changes: Handle, planes: number, floor: number, centre: number, scale: number): Handle;

  /**
   * The blur of RGB-D sets: `pictures` [B, 3, H, W] into `to` [B, P, 3, H, W], by `peak` and `steepness` [B, P, H, W] of each pixel's
   * kernel and `reach` [B, squares of distances], over a window of `window` pixels; see native/gather.h. Row-major f32.
   */
  gatherBlur(to: Handle, pictures: Handle, peak: Handle, steepness: Handle, reach: Handle, window: number): void;

  /** The thin-lens renderer: packed scenes into pictures and depth, see native/lens.h. */
  renderLens(
    primitives: Handle,
    cameras: Handle,
    focus: Handle,
    textures: Handle,
    images: Handle,
    allInFocus: Handle | null,
    depth: Handle,
    samples: number,
  ): void;
}
