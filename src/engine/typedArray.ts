import { floatToBfloat, floatToHalf } from "../io/halfFloat.ts";
import type { DType, NumericArray } from "./engine.ts";

/** The values in the array type of `dtype`; the same array if it already has that type. */
export function toArray(values: ArrayLike<number> | NumericArray, dtype: DType): NumericArray {
  const isBits = values instanceof Uint16Array; // f16 and bf16 are stored as their bits
  const numbers = values instanceof BigInt64Array ? Array.from(values, Number) : values;
  switch (dtype) {
    case "f32":
      return values instanceof Float32Array ? values : Float32Array.from(numbers);
    case "f64":
      return values instanceof Float64Array ? values : Float64Array.from(numbers);
    case "f16":
      return isBits ? values : floatToHalf(numbers);
    case "bf16":
      return isBits ? values : floatToBfloat(numbers);
    case "i32":
      return values instanceof Int32Array ? values : Int32Array.from(numbers);
    case "i64":
      return values instanceof BigInt64Array ? values : BigInt64Array.from(Array.from(numbers), BigInt);
    case "u8":
      return values instanceof Uint8Array ? values : Uint8Array.from(numbers);
    case "bool":
      return Uint8Array.from(numbers, (value) => (value === 0 ? 0 : 1));
  }
}
