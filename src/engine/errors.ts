/** A tensor has another shape than the code at hand needs. The message holds both shapes. */
export class ShapeError extends Error {
  override readonly name = "ShapeError";
}

/** An engine refused or failed an operation. The message names the operation and its operands. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}
