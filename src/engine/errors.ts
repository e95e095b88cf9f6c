/** A tensor does not have the shape that is needed. The message names both shapes. */
export class ShapeError extends Error {
  override readonly name = "ShapeError";
}

/** An engine rejected an operation, or it failed. The message names the operation and its operands. */
export class EngineError extends Error {
  override readonly name: string = "EngineError";
}

/** The device lacks what an operation needs: memory, or the operation itself. Another device may be able to do it. */
export class DeviceLimitError extends EngineError {
  override readonly name = "DeviceLimitError";
}
