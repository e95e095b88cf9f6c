import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { formatDim } from "../dims.ts";
import type { DType, NumericArray, Shape } from "../engine.ts";
import { EngineError } from "../errors.ts";

/** A number or list is an integer attribute: ONNX distinguishes floats from integers, JavaScript does not. */
export type Attribute = number | readonly number[] | string | { readonly float: number };

export interface GraphNode {
  readonly name: string;
  readonly operator: string;
  /** Value names; an empty name omits an optional input. */
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** A constant of the graph, row-major; f16 and bf16 as their bits. */
export interface Initializer {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: NumericArray;
}

export interface GraphValue {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
}

export interface Graph {
  readonly name: string;
  readonly nodes: readonly GraphNode[];
  readonly initializers: readonly Initializer[];
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** TensorProto.DataType. */
export const ELEMENT_TYPE = { f32: 1, u8: 2, i32: 6, i64: 7, bool: 9, f16: 10, f64: 11, bf16: 16 } as const satisfies Record<DType, number>;

const IR_VERSION = 10;
const OPERATOR_SET = 21;
/** AttributeProto.AttributeType. */
const ATTRIBUTE_TYPE = { float: 1, int: 2, string: 3, ints: 7 } as const;
const LARGEST_FILE = 2 ** 31 - 1; // protobuf's limit on one message

/**
 * The graph as the bytes of an `.onnx` file (ModelProto; the numbers are the fields of onnx.proto3). The initialisers' data is
 * copied only once, into the result: the lengths of nested messages are summed from their parts.
 */
export function encodeModel(graph: Graph): Uint8Array {
  const graphParts = [graphHead(graph), ...graph.initializers.flatMap(tensorParts)];
  const graphLength = total(graphParts);
  const head = new BinaryWriter().tag(1, WireType.Varint).int64(IR_VERSION).tag(2, WireType.LengthDelimited).string("dualfocus");
  message(head, 8, (operatorSet) => operatorSet.tag(2, WireType.Varint).int64(OPERATOR_SET));
  for (const [key, value] of Object.entries(graph.metadata))
    message(head, 14, (entry) => entry.tag(1, WireType.LengthDelimited).string(key).tag(2, WireType.LengthDelimited).string(value));
  head.tag(7, WireType.LengthDelimited).uint32(graphLength);
  const parts = [head.finish(), ...graphParts];
  const length = total(parts);
  if (length > LARGEST_FILE)
    throw new EngineError(`the graph takes ${length} bytes and an .onnx file holds at most ${LARGEST_FILE}; store the weights as f16`);
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

const total = (parts: readonly Uint8Array[]): number => parts.reduce((sum, part) => sum + part.length, 0);

function message(writer: BinaryWriter, field: number, body: (inner: BinaryWriter) => unknown): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  body(writer);
  writer.join();
}

/** GraphProto without its initialisers. */
function graphHead(graph: Graph): Uint8Array {
  const writer = new BinaryWriter();
  for (const node of graph.nodes)
    message(writer, 1, (inner) => {
      writeNode(inner, node);
    });
  writer.tag(2, WireType.LengthDelimited).string(graph.name);
  for (const value of graph.inputs)
    message(writer, 11, (inner) => {
      writeValueInfo(inner, value);
    });
  for (const value of graph.outputs)
    message(writer, 12, (inner) => {
      writeValueInfo(inner, value);
    });
  return writer.finish();
}

/** NodeProto. */
function writeNode(writer: BinaryWriter, { name, operator, inputs, output, attributes }: GraphNode): void {
  for (const input of inputs) writer.tag(1, WireType.LengthDelimited).string(input);
  writer.tag(2, WireType.LengthDelimited).string(output);
  writer.tag(3, WireType.LengthDelimited).string(name).tag(4, WireType.LengthDelimited).string(operator);
  for (const [key, value] of Object.entries(attributes))
    message(writer, 5, (inner) => {
      writeAttribute(inner, key, value);
    });
}

/** AttributeProto. */
function writeAttribute(writer: BinaryWriter, name: string, value: Attribute): void {
  writer.tag(1, WireType.LengthDelimited).string(name);
  const type = (kind: keyof typeof ATTRIBUTE_TYPE): BinaryWriter => writer.tag(20, WireType.Varint).int32(ATTRIBUTE_TYPE[kind]);
  if (typeof value === "number") type("int").tag(3, WireType.Varint).int64(value);
  else if (typeof value === "string") type("string").tag(4, WireType.LengthDelimited).string(value);
  else if ("float" in value) type("float").tag(2, WireType.Bit32).float(value.float);
  else {
    type("ints");
    for (const item of value) writer.tag(8, WireType.Varint).int64(item);
  }
}

/** ValueInfoProto of a tensor; a symbolic size is written as its formula. */
function writeValueInfo(writer: BinaryWriter, { name, dtype, shape }: GraphValue): void {
  writer.tag(1, WireType.LengthDelimited).string(name);
  message(writer, 2, () => {
    message(writer, 1, () => {
      writer.tag(1, WireType.Varint).int32(ELEMENT_TYPE[dtype]);
      message(writer, 2, () => {
        for (const dim of shape)
          message(writer, 1, () => {
            if (typeof dim === "number") writer.tag(1, WireType.Varint).int64(dim);
            else writer.tag(2, WireType.LengthDelimited).string(formatDim(dim).replaceAll("·", "*"));
          });
      });
    });
  });
}

/** One TensorProto field of GraphProto: its head, then its data as it is in memory (little-endian, as ONNX requires). */
function tensorParts({ name, dtype, shape, data }: Initializer): Uint8Array[] {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const tensor = new BinaryWriter();
  for (const size of shape) tensor.tag(1, WireType.Varint).int64(size);
  tensor.tag(2, WireType.Varint).int32(ELEMENT_TYPE[dtype]).tag(8, WireType.LengthDelimited).string(name);
  const head = tensor.tag(9, WireType.LengthDelimited).uint32(bytes.length).finish();
  const field = new BinaryWriter().tag(5, WireType.LengthDelimited).uint32(head.length + bytes.length);
  return [field.finish(), head, bytes];
}
