// Any ATen operator by name, its arguments converted as the operator's own schema says.
#include "entries.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <cmath>
#include <unordered_map>

namespace dualfocus {

namespace {

enum class Kind { Tensor, Scalar, Int, Float, Bool, String, Dtype, Device, Layout, MemoryFormat, List, Unsupported };

struct Parameter {
  std::string name;
  Kind kind = Kind::Unsupported;
  Kind element = Kind::Unsupported; // of a list
  bool optionalElement = false;
  bool optional = false;
  int32_t length = 0; // of a fixed-size list, which one number may stand for
  Optional<c10::IValue> fallback;
};

struct Operator {
  c10::OperatorHandle handle;
  std::vector<Parameter> parameters;
  size_t returns;
};

Kind kindOfType(const c10::TypePtr& type) {
  switch (type->kind()) {
  case c10::TypeKind::TensorType:
    return Kind::Tensor;
  case c10::TypeKind::NumberType:
    return Kind::Scalar;
  case c10::TypeKind::IntType:
  case c10::TypeKind::SymIntType:
    return Kind::Int;
  case c10::TypeKind::FloatType:
    return Kind::Float;
  case c10::TypeKind::BoolType:
    return Kind::Bool;
  case c10::TypeKind::StringType:
    return Kind::String;
  case c10::TypeKind::ScalarTypeType:
    return Kind::Dtype;
  case c10::TypeKind::DeviceObjType:
    return Kind::Device;
  case c10::TypeKind::LayoutType:
    return Kind::Layout;
  case c10::TypeKind::MemoryFormatType:
    return Kind::MemoryFormat;
  case c10::TypeKind::ListType:
    return Kind::List;
  default:
    return Kind::Unsupported;
  }
}

bool unwrapOptional(c10::TypePtr& type) {
  if (type->kind() != c10::TypeKind::OptionalType) return false;
  type = type->expectRef<c10::OptionalType>().getElementType();
  return true;
}

Parameter describeParameter(const c10::Argument& argument) {
  c10::TypePtr type = argument.real_type();
  Parameter parameter;
  parameter.name = argument.name();
  parameter.optional = unwrapOptional(type);
  parameter.kind = kindOfType(type);
  if (parameter.kind == Kind::List) {
    c10::TypePtr element = type->expectRef<c10::ListType>().getElementType();
    parameter.optionalElement = unwrapOptional(element);
    parameter.element = kindOfType(element);
    parameter.length = argument.N().value_or(0);
  }
  parameter.fallback = argument.default_value();
  return parameter;
}

const Operator& findOperator(const std::string& name) {
  thread_local std::unordered_map<std::string, Operator> known;
  const auto cached = known.find(name);
  if (cached != known.end()) return cached->second;

  const size_t dot = name.find('.');
  const std::string base = name.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  auto handle = c10::Dispatcher::singleton().findSchema({base, overload});
  if (!handle) throw std::invalid_argument("no operator is called \"" + name + "\" in this libtorch");
  Operator found{*handle, {}, handle->schema().returns().size()};
  for (const auto& argument : handle->schema().arguments()) found.parameters.push_back(describeParameter(argument));
  return known.emplace(name, std::move(found)).first->second;
}

/** A whole number stays an integer, so that `i64 + 1` is i64. */
c10::Scalar readScalar(napi_env env, napi_value value, const std::string& name) {
  napi_valuetype type;
  check(env, napi_typeof(env, value, &type));
  if (type == napi_boolean) return c10::Scalar(readBoolean(env, value, name));
  if (type == napi_bigint) return c10::Scalar(readInteger(env, value, name));
  const double number = readNumber(env, value, name);
  const bool whole = std::abs(number) <= 9007199254740991.0 && number == std::trunc(number) && !(number == 0 && std::signbit(number));
  return whole ? c10::Scalar(static_cast<int64_t>(number)) : c10::Scalar(number);
}

int64_t readLayout(const std::string& layout) {
  if (layout == "strided") return static_cast<int64_t>(at::Layout::Strided);
  throw std::invalid_argument("unknown layout \"" + layout + "\"; expected strided");
}

int64_t readMemoryFormat(const std::string& format) {
  if (format == "contiguous") return static_cast<int64_t>(at::MemoryFormat::Contiguous);
  if (format == "preserve") return static_cast<int64_t>(at::MemoryFormat::Preserve);
  if (format == "channels_last") return static_cast<int64_t>(at::MemoryFormat::ChannelsLast);
  if (format == "channels_last_3d") return static_cast<int64_t>(at::MemoryFormat::ChannelsLast3d);
  throw std::invalid_argument("unknown memory format \"" + format +
                              "\"; expected contiguous, preserve, channels_last or channels_last_3d");
}

c10::IValue convertOne(napi_env env, Kind kind, napi_value value, const std::string& name) {
  switch (kind) {
  case Kind::Tensor:
    return unwrap(env, value, name);
  case Kind::Scalar:
    return readScalar(env, value, name);
  case Kind::Int:
    return readInteger(env, value, name);
  case Kind::Float:
    return readNumber(env, value, name);
  case Kind::Bool:
    return readBoolean(env, value, name);
  case Kind::String:
    return readString(env, value, name);
  case Kind::Dtype:
    return static_cast<int64_t>(parseDtype(readString(env, value, name)));
  case Kind::Device:
    return parseDevice(readString(env, value, name));
  case Kind::Layout:
    return readLayout(readString(env, value, name));
  case Kind::MemoryFormat:
    return readMemoryFormat(readString(env, value, name));
  default:
    throw std::invalid_argument(name + ": its type cannot be passed from JavaScript");
  }
}

bool isNothing(napi_env env, napi_value value) {
  napi_valuetype type;
  check(env, napi_typeof(env, value, &type));
  return type == napi_undefined || type == napi_null;
}

c10::IValue convertTensorList(napi_env env, const Parameter& parameter, napi_value value) {
  const auto items = readArray(env, value, parameter.name);
  if (!parameter.optionalElement) {
    c10::List<at::Tensor> list;
    for (napi_value item : items) list.push_back(unwrap(env, item, parameter.name));
    return list;
  }
  c10::List<Optional<at::Tensor>> list;
  for (napi_value item : items)
    list.push_back(isNothing(env, item) ? Optional<at::Tensor>() : unwrap(env, item, parameter.name));
  return list;
}

template <class T, class Read> c10::IValue convertNumbers(napi_env env, const Parameter& parameter, napi_value value, Read read) {
  c10::List<T> list;
  napi_valuetype type;
  check(env, napi_typeof(env, value, &type));
  if (parameter.length > 0 && type == napi_number) {
    for (int32_t i = 0; i < parameter.length; i++) list.push_back(read(env, value, parameter.name));
    return list;
  }
  for (napi_value item : readArray(env, value, parameter.name)) list.push_back(read(env, item, parameter.name));
  return list;
}

c10::IValue convertList(napi_env env, const Parameter& parameter, napi_value value) {
  switch (parameter.element) {
  case Kind::Tensor:
    return convertTensorList(env, parameter, value);
  case Kind::Int:
    return convertNumbers<int64_t>(env, parameter, value, readInteger);
  case Kind::Float:
    return convertNumbers<double>(env, parameter, value, readNumber);
  case Kind::Bool:
    return convertNumbers<bool>(env, parameter, value, readBoolean);
  case Kind::Scalar:
    return convertNumbers<at::Scalar>(env, parameter, value, readScalar);
  default:
    throw std::invalid_argument(parameter.name + ": its type cannot be passed from JavaScript");
  }
}

c10::IValue convert(napi_env env, const Parameter& parameter, napi_value value) {
  napi_valuetype type;
  check(env, napi_typeof(env, value, &type));
  if (type == napi_undefined && parameter.fallback) return *parameter.fallback;
  if (type == napi_undefined || type == napi_null) {
    if (parameter.optional) return c10::IValue();
    throw std::invalid_argument(parameter.name + ": is required");
  }
  return parameter.kind == Kind::List ? convertList(env, parameter, value) : convertOne(env, parameter.kind, value, parameter.name);
}

napi_value convertResult(napi_env env, const c10::IValue& value) {
  if (value.isTensor()) return wrap(env, value.toTensor());
  if (value.isNone()) return makeNull(env);
  if (value.isBool()) return makeBoolean(env, value.toBool());
  if (value.isInt()) return makeNumber(env, static_cast<double>(value.toInt()));
  if (value.isDouble()) return makeNumber(env, value.toDouble());
  if (value.isString()) return makeString(env, value.toStringRef());
  if (value.isList()) {
    const auto list = value.toListRef();
    napi_value result;
    check(env, napi_create_array_with_length(env, list.size(), &result));
    for (size_t i = 0; i < list.size(); i++) check(env, napi_set_element(env, result, i, convertResult(env, list[i])));
    return result;
  }
  throw std::invalid_argument("the operator returns a " + value.tagKind() + ", which cannot be passed to JavaScript");
}

/** call(operator, ...args): missing trailing arguments take the schema's defaults. */
napi_value call(napi_env env, const Arguments& arguments) {
  const Operator& target = findOperator(arguments.string(0, "operator"));
  if (arguments.count() - 1 > target.parameters.size())
    throw std::invalid_argument("takes " + std::to_string(target.parameters.size()) + " arguments, got " +
                                std::to_string(arguments.count() - 1));
  torch::jit::Stack stack;
  stack.reserve(target.parameters.size());
  for (size_t i = 0; i < target.parameters.size(); i++)
    stack.push_back(convert(env, target.parameters[i], arguments[i + 1]));
  target.handle.callBoxed(&stack);
  if (stack.empty()) return makeUndefined(env);
  if (stack.size() == 1) return convertResult(env, stack[0]);
  napi_value result;
  check(env, napi_create_array_with_length(env, stack.size(), &result));
  for (size_t i = 0; i < stack.size(); i++) check(env, napi_set_element(env, result, i, convertResult(env, stack[i])));
  return result;
}

} // namespace

void registerDispatch(napi_env env, napi_value exports) { define<call>(env, exports, "call"); }

} // namespace dualfocus
