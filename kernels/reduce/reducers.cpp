#include "kernels/reduce/reducers.hpp"

#include <string>

#include <ricci/error/exceptions.hpp>

namespace ricci::kernels {
namespace {

using namespace reducers;

template <class Kind, class T> constexpr reducer instance = make_reducer<Kind, T>();

template <class T> reducer const* find(reduction op) {
  switch (op) {
    case reduction::sum:
      return &instance<sum<T>, T>;
    case reduction::mean:
      return &instance<mean<T>, T>;
    case reduction::prod:
      return &instance<prod<T>, T>;
    case reduction::max:
      return &instance<extremum<T, true>, T>;
    case reduction::min:
      return &instance<extremum<T, false>, T>;
    case reduction::argmax:
      return &instance<position<T, true>, T>;
    case reduction::argmin:
      return &instance<position<T, false>, T>;
    case reduction::logsumexp:
      if constexpr (std::is_floating_point_v<T>) return &instance<logsumexp<T>, T>;
      return nullptr;
    default:
      return nullptr;
  }
}

// Booleans are bytes of 0 and 1: any is their maximum, all their minimum.
template <bool Largest> struct any_or_all : extremum<u8, Largest> {
  static constexpr u8 first = Largest ? 0 : 1;
};

reducer const* find_boolean(reduction op) {
  if (op == reduction::any) return &instance<any_or_all<true>, u8>;
  if (op == reduction::all) return &instance<any_or_all<false>, u8>;
  return find<u8>(op);
}

reducer const* find_any(reduction op, dtype type) {
  switch (type) {
    case dtype::f64:
      return find<f64>(op);
    case dtype::f32:
      return find<f32>(op);
    case dtype::i64:
      return find<i64>(op);
    case dtype::i32:
      return find<i32>(op);
    case dtype::i16:
      return find<i16>(op);
    case dtype::i8:
      return find<i8>(op);
    case dtype::u16:
      return find<u16>(op);
    case dtype::u8:
      return find<u8>(op);
    case dtype::boolean:
      return find_boolean(op);
    default:
      return nullptr;
  }
}

constexpr std::string_view names[] = {"sum", "mean",      "max",    "min",    "prod", "any",
                                      "all", "logsumexp", "argmax", "argmin", "user"};

}  // namespace

std::string_view name_of(reduction op) { return names[static_cast<int>(op)]; }

reducer const& find_reducer(reduction op, dtype type) {
  reducer const* const found = find_any(op, type);
  if (found == nullptr)
    throw value_error("reduce: " + std::string(name_of(op)) + " is not defined on " +
                      std::string(name_of(type)) + ".");
  return *found;
}

}  // namespace ricci::kernels
