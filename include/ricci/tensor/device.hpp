#pragma once

namespace ricci {

/// The processor's memory: where tensors live when nothing else is said.
struct host {
  static constexpr char const* name = "host";
};

namespace detail {
template <class D> inline constexpr bool is_device = false;
template <> inline constexpr bool is_device<host> = true;
}  // namespace detail

}  // namespace ricci
