// Shared by every file of the addon: entries that cannot crash, arguments, and C++ values owned by JavaScript.
#pragma once

// Only the experimental version has basic finalizers, which free a value during the garbage collection that finds it. Other
// finalizers wait for the event loop: a synchronous loop over 10 MB tensors once reached 4.4 GB.
#define NAPI_EXPERIMENTAL
#define NAPI_VERSION 2147483647
#include <node_api.h>

#include <ATen/ATen.h>
#include <torch/version.h>

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace dualfocus {

/** As libtorch's operators take it. */
#if TORCH_VERSION_MAJOR >= 2
template <class T> using Optional = std::optional<T>;
#else
template <class T> using Optional = c10::optional<T>;
#endif

/** A JavaScript exception is already pending and must not be replaced. */
struct PendingException {};

void check(napi_env env, napi_status status);

/** "a number", "a tensor", "null"…: what a wrong argument was, for messages. */
std::string kindOf(napi_env env, napi_value value);

/**
 * A C++ value held by a JavaScript external. Every box is registered, so that an external from another addon is rejected
 * instead of being read. `dispose` empties the box at once; the collector frees the box itself.
 */
template <class T> class Box {
public:
  static napi_value make(napi_env env, T value, int64_t externalBytes = 0) {
    auto* box = new Box{std::move(value), externalBytes};
    napi_value result;
    {
      std::lock_guard<std::mutex> lock(mutex());
      all().insert(box);
    }
    const napi_status status = napi_create_external(env, box, &Box::finalize, nullptr, &result);
    if (status != napi_ok) remove(box);
    check(env, status);
    box->adjust(env, externalBytes);
    return result;
  }

  /** The box behind `value`, or null when it is something else. */
  static Box* find(napi_env env, napi_value value) {
    napi_valuetype type;
    check(env, napi_typeof(env, value, &type));
    if (type != napi_external) return nullptr;
    void* data = nullptr;
    check(env, napi_get_value_external(env, value, &data));
    std::lock_guard<std::mutex> lock(mutex());
    auto* box = static_cast<Box*>(data);
    return all().count(box) ? box : nullptr;
  }

  template <class Visit> static void forEach(Visit visit) {
    std::lock_guard<std::mutex> lock(mutex());
    for (Box* box : all())
      if (!box->disposed) visit(box->value);
  }

  void dispose(napi_env env) {
    if (disposed) return;
    disposed = true;
    value = T();
    adjust(env, -externalBytes);
    externalBytes = 0;
  }

  T value;
  int64_t externalBytes;
  bool disposed = false;

private:
  Box(T held, int64_t bytes) : value(std::move(held)), externalBytes(bytes) {}

  // Never destroyed: finalizers still run while the process ends.
  static std::unordered_set<Box*>& all() {
    static auto* boxes = new std::unordered_set<Box*>();
    return *boxes;
  }
  static std::mutex& mutex() {
    static auto* guard = new std::mutex();
    return *guard;
  }
  static void remove(Box* box) {
    {
      std::lock_guard<std::mutex> lock(mutex());
      all().erase(box);
    }
    delete box;
  }
  static void finalize(node_api_basic_env env, void* data, void*) {
    auto* box = static_cast<Box*>(data);
    box->adjust(env, -box->externalBytes);
    remove(box);
  }
  /** Reports to the garbage collector how much memory this small object holds. */
  void adjust(node_api_basic_env env, int64_t bytes) {
    int64_t total;
    if (bytes != 0) napi_adjust_external_memory(env, bytes, &total);
  }
};

using TensorBox = Box<at::Tensor>;

/** A JavaScript handle that owns `tensor`; null for an undefined tensor. */
napi_value wrap(napi_env env, at::Tensor tensor);

/** The tensor behind a handle. Throws for anything else and for a disposed tensor, naming the argument. */
const at::Tensor& unwrap(napi_env env, napi_value value, const std::string& name);

at::ScalarType parseDtype(const std::string& name);
std::string dtypeName(at::ScalarType dtype);
at::Device parseDevice(const std::string& name);

double readNumber(napi_env env, napi_value value, const std::string& name);
int64_t readInteger(napi_env env, napi_value value, const std::string& name);
bool readBoolean(napi_env env, napi_value value, const std::string& name);
std::string readString(napi_env env, napi_value value, const std::string& name);
std::vector<int64_t> readIntegers(napi_env env, napi_value value, const std::string& name);
/** The elements of a JavaScript array. */
std::vector<napi_value> readArray(napi_env env, napi_value value, const std::string& name);

napi_value makeNumber(napi_env env, double value);
napi_value makeBoolean(napi_env env, bool value);
napi_value makeString(napi_env env, const std::string& value);
napi_value makeNull(napi_env env);
napi_value makeUndefined(napi_env env);

/** The arguments of one call, by position. */
class Arguments {
public:
  static constexpr size_t limit = 40;

  Arguments(napi_env env, napi_callback_info info);

  size_t count() const { return count_; }
  napi_value operator[](size_t index) const;
  /** Given, and neither undefined nor null. */
  bool has(size_t index) const;

  const at::Tensor& tensor(size_t index, const char* name) const { return unwrap(env, (*this)[index], name); }
  double number(size_t index, const char* name) const { return readNumber(env, (*this)[index], name); }
  int64_t integer(size_t index, const char* name) const { return readInteger(env, (*this)[index], name); }
  bool boolean(size_t index, const char* name) const { return readBoolean(env, (*this)[index], name); }
  std::string string(size_t index, const char* name) const { return readString(env, (*this)[index], name); }
  std::vector<int64_t> integers(size_t index, const char* name) const { return readIntegers(env, (*this)[index], name); }

  napi_env env;

private:
  size_t count_ = limit;
  napi_value values_[limit];
};

/** Rethrows the current C++ exception as a JavaScript error. Only inside a catch block. */
void rethrow(napi_env env);

using Body = napi_value (*)(napi_env, const Arguments&);

/** A native entry: every C++ exception in `body` becomes a JavaScript error. */
template <Body body> napi_value entry(napi_env env, napi_callback_info info) {
  try {
    const Arguments arguments(env, info);
    return body(env, arguments);
  } catch (...) {
    rethrow(env);
    return nullptr;
  }
}

/** Adds the function `name` to the addon's exports: `define<body>(env, exports, "name")`. */
template <Body body> void define(napi_env env, napi_value exports, const char* name) {
  napi_value function;
  check(env, napi_create_function(env, name, NAPI_AUTO_LENGTH, &entry<body>, nullptr, &function));
  check(env, napi_set_named_property(env, exports, name, function));
}

} // namespace dualfocus
