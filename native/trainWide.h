// The type in which values of type T are summed. Included inside a namespace.
#pragma once

template <class T> struct WideOf {
  using type = float;
};
template <> struct WideOf<double> {
  using type = double;
};
template <class T> using Wide = typename WideOf<T>::type;
