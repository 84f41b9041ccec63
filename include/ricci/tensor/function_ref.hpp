#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace ricci {

template <class Signature> class function_ref;

/// A reference to a callable: two pointers, never null, never owning.
///   Value   calling it calls the object it was made from
///   Memory  none; the object must outlive the reference, so it is for parameters only
template <class Result, class... Arguments> class function_ref<Result(Arguments...)> {
 public:
  template <class Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, function_ref> &&
             std::is_invocable_r_v<Result, Callable&, Arguments...>)
  function_ref(Callable&& callable) noexcept {
    using object_type = std::remove_reference_t<Callable>;
    if constexpr (std::is_function_v<object_type>) {
      target_.function = reinterpret_cast<void (*)()>(&callable);
      call_ = [](target to, Arguments... arguments) -> Result {
        return reinterpret_cast<object_type*>(to.function)(std::forward<Arguments>(arguments)...);
      };
    } else {
      target_.object = const_cast<void*>(static_cast<void const*>(std::addressof(callable)));
      call_ = [](target to, Arguments... arguments) -> Result {
        return (*static_cast<object_type*>(to.object))(std::forward<Arguments>(arguments)...);
      };
    }
  }

  Result operator()(Arguments... arguments) const {
    return call_(target_, std::forward<Arguments>(arguments)...);
  }

 private:
  union target {
    void* object;
    void (*function)();
  };
  target target_;
  Result (*call_)(target, Arguments...);
};

}  // namespace ricci
