#include <ricci/error/message.hpp>

#include <limits>

using namespace ricci;

// Sentences.
constexpr message text(auto const&... parts) {
  message m;
  (void)(m << ... << parts);
  return m;
}
static_assert(text("axis ", -64, " of ", std::int64_t{0}).view() == "axis -64 of 0", "numbers are written out");
static_assert(text(std::numeric_limits<std::int64_t>::min()).view() == "-9223372036854775808", "the lowest one too");
constexpr message overfull = [] {
  message m;
  for (int i = 0; i < 100; ++i) m << "0123456789";
  return m;
}();
static_assert(overfull.size == message::capacity, "what does not fit is cut off");

// Near names.
static_assert(detail::edit_distance("hiden", "hidden") == 1, "one letter missing");
static_assert(detail::edit_distance("", "abc") == 3, "all of them");
static_assert(detail::is_near("model", "models"), "a plural");
static_assert(detail::is_near("head_dims", "head_dim"), "a letter too many");
static_assert(detail::is_near("ceq", "seq"), "one letter of three");
static_assert(!detail::is_near("batch", "seq"), "nothing alike");
static_assert(!detail::is_near("q", "k"), "names of one letter are all alike: none is suggested");
static_assert(!detail::is_near("row", "mlp"), "three letters of three");
