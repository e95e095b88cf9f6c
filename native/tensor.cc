#include "tensor.h"

#include <cmath>
#include <limits>

namespace dualfocus {

namespace {

constexpr double largestSafeInteger = 9007199254740991.0;
// Smaller tensors are not reported to the garbage collector: a scope frees most of them long before it runs.
constexpr int64_t reportedFrom = 1 << 20;

const std::pair<const char*, at::ScalarType> dtypes[] = {
    {"f32", at::kFloat}, {"f64", at::kDouble}, {"f16", at::kHalf}, {"bf16", at::kBFloat16},
    {"i32", at::kInt},   {"i64", at::kLong},   {"u8", at::kByte},  {"bool", at::kBool},
};

} // namespace

void check(napi_env env, napi_status status) {
  if (status == napi_ok) return;
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  if (pending) throw PendingException();
  const napi_extended_error_info* info = nullptr;
  napi_get_last_error_info(env, &info);
  throw std::runtime_error(info && info->error_message ? info->error_message : "Node-API call failed");
}

void rethrow(napi_env env) {
  std::string message;
  try {
    throw;
  } catch (const PendingException&) {
    return;
  } catch (const c10::Error& error) {
    message = error.what_without_backtrace();
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    message = "unknown C++ exception";
  }
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  if (!pending) napi_throw_error(env, nullptr, message.c_str());
}

std::string kindOf(napi_env env, napi_value value) {
  napi_valuetype type;
  if (napi_typeof(env, value, &type) != napi_ok) return "an unreadable value";
  switch (type) {
  case napi_undefined:
    return "undefined";
  case napi_null:
    return "null";
  case napi_boolean:
    return "a boolean";
  case napi_number:
    return "a number";
  case napi_string:
    return "a string";
  case napi_symbol:
    return "a symbol";
  case napi_function:
    return "a function";
  case napi_bigint:
    return "a bigint";
  case napi_external:
    return TensorBox::find(env, value) ? "a tensor" : "a foreign handle";
  default:
    break;
  }
  bool array = false;
  napi_is_array(env, value, &array);
  return array ? "an array" : "an object";
}

napi_value wrap(napi_env env, at::Tensor tensor) {
  if (!tensor.defined()) return makeNull(env);
  int64_t bytes = 0;
  if (tensor.is_cpu() && tensor.layout() == at::kStrided && tensor.has_storage() && tensor.storage().use_count() == 1)
    bytes = static_cast<int64_t>(tensor.storage().nbytes());
  return TensorBox::make(env, std::move(tensor), bytes >= reportedFrom ? bytes : 0);
}

const at::Tensor& unwrap(napi_env env, napi_value value, const std::string& name) {
  TensorBox* box = TensorBox::find(env, value);
  if (!box) throw std::invalid_argument(name + ": expected a tensor, got " + kindOf(env, value));
  if (box->disposed) throw std::invalid_argument(name + ": the tensor was disposed");
  return box->value;
}

at::ScalarType parseDtype(const std::string& name) {
  for (const auto& [known, dtype] : dtypes)
    if (name == known) return dtype;
  throw std::invalid_argument("unknown dtype \"" + name + "\"; expected f32, f64, f16, bf16, i32, i64, u8 or bool");
}

std::string dtypeName(at::ScalarType dtype) {
  for (const auto& [name, known] : dtypes)
    if (dtype == known) return name;
  return c10::toString(dtype);
}

at::Device parseDevice(const std::string& name) {
  const at::Device device(name);
  if (!device.is_cpu() && !device.is_cuda())
    throw std::invalid_argument("unknown device \"" + name + "\"; expected cpu, cuda or cuda:N");
  return device;
}

double readNumber(napi_env env, napi_value value, const std::string& name) {
  double result;
  if (napi_get_value_double(env, value, &result) != napi_ok)
    throw std::invalid_argument(name + ": expected a number, got " + kindOf(env, value));
  return result;
}

int64_t readInteger(napi_env env, napi_value value, const std::string& name) {
  napi_valuetype type;
  check(env, napi_typeof(env, value, &type));
  if (type == napi_bigint) {
    int64_t result;
    bool lossless;
    check(env, napi_get_value_bigint_int64(env, value, &result, &lossless));
    if (!lossless) throw std::invalid_argument(name + ": the bigint does not fit 64 bits");
    return result;
  }
  const double number = readNumber(env, value, name);
  if (!(std::abs(number) <= largestSafeInteger) || number != std::trunc(number))
    throw std::invalid_argument(name + ": expected an integer, got " + std::to_string(number));
  return static_cast<int64_t>(number);
}

bool readBoolean(napi_env env, napi_value value, const std::string& name) {
  bool result;
  if (napi_get_value_bool(env, value, &result) != napi_ok)
    throw std::invalid_argument(name + ": expected a boolean, got " + kindOf(env, value));
  return result;
}

std::string readString(napi_env env, napi_value value, const std::string& name) {
  char start[96]; // operator names fit, so that most calls read once
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, start, sizeof(start), &length) != napi_ok)
    throw std::invalid_argument(name + ": expected a string, got " + kindOf(env, value));
  if (length < sizeof(start) - 4) return std::string(start, length); // 4: a longer string may end early, at a whole character
  check(env, napi_get_value_string_utf8(env, value, nullptr, 0, &length));
  std::string result(length, '\0');
  check(env, napi_get_value_string_utf8(env, value, result.data(), length + 1, &length));
  return result;
}

std::vector<napi_value> readArray(napi_env env, napi_value value, const std::string& name) {
  bool array = false;
  check(env, napi_is_array(env, value, &array));
  if (!array) throw std::invalid_argument(name + ": expected an array, got " + kindOf(env, value));
  uint32_t length;
  check(env, napi_get_array_length(env, value, &length));
  std::vector<napi_value> items;
  for (uint32_t i = 0; i < length; i++) {
    napi_value item;
    check(env, napi_get_element(env, value, i, &item));
    items.push_back(item);
  }
  return items;
}

std::vector<int64_t> readIntegers(napi_env env, napi_value value, const std::string& name) {
  std::vector<int64_t> result;
  for (napi_value item : readArray(env, value, name)) result.push_back(readInteger(env, item, name));
  return result;
}

napi_value makeNumber(napi_env env, double value) {
  napi_value result;
  check(env, napi_create_double(env, value, &result));
  return result;
}

napi_value makeBoolean(napi_env env, bool value) {
  napi_value result;
  check(env, napi_get_boolean(env, value, &result));
  return result;
}

napi_value makeString(napi_env env, const std::string& value) {
  napi_value result;
  check(env, napi_create_string_utf8(env, value.data(), value.size(), &result));
  return result;
}

napi_value makeNull(napi_env env) {
  napi_value result;
  check(env, napi_get_null(env, &result));
  return result;
}

napi_value makeUndefined(napi_env env) {
  napi_value result;
  check(env, napi_get_undefined(env, &result));
  return result;
}

Arguments::Arguments(napi_env environment, napi_callback_info info) : env(environment) {
  check(env, napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr));
  if (count_ > limit) throw std::invalid_argument("too many arguments");
}

napi_value Arguments::operator[](size_t index) const { return index < count_ ? values_[index] : makeUndefined(env); }

bool Arguments::has(size_t index) const {
  if (index >= count_) return false;
  napi_valuetype type;
  check(env, napi_typeof(env, values_[index], &type));
  return type != napi_undefined && type != napi_null;
}

} // namespace dualfocus
