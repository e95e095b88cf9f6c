// Tensors from typed arrays and back, their shape and dtype, and how they are freed.
#include "entries.h"

namespace dualfocus {

namespace {

struct TypedArray {
  napi_typedarray_type type;
  size_t length;
  void* data;
};

TypedArray readTypedArray(napi_env env, napi_value value, const char* name) {
  bool typed = false;
  check(env, napi_is_typedarray(env, value, &typed));
  if (!typed) throw std::invalid_argument(std::string(name) + ": expected a typed array, got " + kindOf(env, value));
  TypedArray array{};
  check(env, napi_get_typedarray_info(env, value, &array.type, &array.length, &array.data, nullptr, nullptr));
  return array;
}

napi_typedarray_type arrayTypeOf(at::ScalarType dtype) {
  switch (dtype) {
  case at::kFloat:
    return napi_float32_array;
  case at::kDouble:
    return napi_float64_array;
  case at::kHalf:
  case at::kBFloat16:
    return napi_uint16_array;
  case at::kInt:
    return napi_int32_array;
  case at::kLong:
    return napi_bigint64_array;
  case at::kByte:
  case at::kBool:
    return napi_uint8_array;
  default:
    throw std::invalid_argument(std::string("no typed array holds ") + c10::toString(dtype));
  }
}

/** The array's memory seen as a tensor, without a copy; valid during the call alone. */
at::Tensor view(const TypedArray& array, at::IntArrayRef shape, at::ScalarType dtype) {
  if (array.type != arrayTypeOf(dtype))
    throw std::invalid_argument("the typed array does not hold " + dtypeName(dtype));
  uint64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0) throw std::invalid_argument("shape: sizes must not be negative");
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(size), &count)) throw std::invalid_argument("shape: too large");
  }
  if (count != array.length)
    throw std::invalid_argument("the shape has " + std::to_string(count) + " elements, the array " + std::to_string(array.length));
  return at::from_blob(array.data, shape, at::TensorOptions().dtype(dtype));
}

/** fromArray(array, shape, dtype, device) */
napi_value fromArray(napi_env env, const Arguments& arguments) {
  const TypedArray array = readTypedArray(env, arguments[0], "array");
  const auto shape = arguments.integers(1, "shape");
  const at::ScalarType dtype = parseDtype(arguments.string(2, "dtype"));
  const at::Device device = parseDevice(arguments.string(3, "device"));
  const at::Tensor source = view(array, shape, dtype);
  return wrap(env, device.is_cpu() ? source.clone() : source.to(device));
}

/** toArray(tensor): a new typed array of the tensor's values, row-major. */
napi_value toArray(napi_env env, const Arguments& arguments) {
  const at::Tensor tensor = arguments.tensor(0, "tensor").detach();
  const napi_typedarray_type type = arrayTypeOf(tensor.scalar_type());
  void* data = nullptr;
  napi_value buffer, result;
  check(env, napi_create_arraybuffer(env, tensor.numel() * tensor.element_size(), &data, &buffer));
  check(env, napi_create_typedarray(env, type, tensor.numel(), buffer, 0, &result));
  if (tensor.numel() > 0) at::from_blob(data, tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type())).copy_(tensor);
  return result;
}

/** writeFrom(tensor, array): overwrites the tensor's values in place. */
napi_value writeFrom(napi_env env, const Arguments& arguments) {
  const at::Tensor tensor = arguments.tensor(0, "tensor").detach();
  tensor.copy_(view(readTypedArray(env, arguments[1], "array"), tensor.sizes(), tensor.scalar_type()));
  return makeUndefined(env);
}

napi_value shape(napi_env env, const Arguments& arguments) {
  const at::Tensor& tensor = arguments.tensor(0, "tensor");
  napi_value result;
  check(env, napi_create_array_with_length(env, tensor.dim(), &result));
  for (int64_t axis = 0; axis < tensor.dim(); axis++)
    check(env, napi_set_element(env, result, axis, makeNumber(env, static_cast<double>(tensor.size(axis)))));
  return result;
}

napi_value dtype(napi_env env, const Arguments& arguments) {
  return makeString(env, dtypeName(arguments.tensor(0, "tensor").scalar_type()));
}

/** item(tensor): the one element, as a number. */
napi_value item(napi_env env, const Arguments& arguments) {
  const at::Tensor& tensor = arguments.tensor(0, "tensor");
  if (tensor.numel() != 1) throw std::invalid_argument("expected one element, got " + std::to_string(tensor.numel()));
  return makeNumber(env, tensor.item().toDouble());
}

/** dispose(tensor): harmless when repeated. */
napi_value dispose(napi_env env, const Arguments& arguments) {
  TensorBox* box = TensorBox::find(env, arguments[0]);
  if (!box) throw std::invalid_argument("tensor: expected a tensor, got " + kindOf(env, arguments[0]));
  box->dispose(env);
  return makeUndefined(env);
}

napi_value liveTensors(napi_env env, const Arguments&) {
  int64_t count = 0;
  TensorBox::forEach([&](const at::Tensor&) { count++; });
  return makeNumber(env, static_cast<double>(count));
}

/** liveBytes(): what live tensors hold, shared memory counted once. */
napi_value liveBytes(napi_env env, const Arguments&) {
  std::unordered_set<const void*> seen;
  size_t bytes = 0;
  TensorBox::forEach([&](const at::Tensor& tensor) {
    if (!tensor.has_storage()) return;
    const auto& storage = tensor.storage();
    if (seen.insert(storage.unsafeGetStorageImpl()).second) bytes += storage.nbytes();
  });
  return makeNumber(env, static_cast<double>(bytes));
}

} // namespace

void registerMemory(napi_env env, napi_value exports) {
  define<fromArray>(env, exports, "fromArray");
  define<toArray>(env, exports, "toArray");
  define<writeFrom>(env, exports, "writeFrom");
  define<shape>(env, exports, "shape");
  define<dtype>(env, exports, "dtype");
  define<item>(env, exports, "item");
  define<dispose>(env, exports, "dispose");
  define<liveTensors>(env, exports, "liveTensors");
  define<liveBytes>(env, exports, "liveBytes");
}

} // namespace dualfocus
