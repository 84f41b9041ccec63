#pragma once

#include <array>
#include <cstring>

#include "kernels/convert/convert.hpp"
#include "kernels/reduce/reducer.hpp"

namespace ricci::kernels {

struct output_array {
  std::byte* data;
  dtype type;
};

/// Finished results on their way to the output, converted many at a time. The first one goes to
/// element `first`, each further one `stride` elements on.
class result_writer {
 public:
  result_writer(reducer const& r, std::int64_t count, output_array output, std::int64_t first,
                std::int64_t stride)
      : reducer_(r), count_(count), output_(output), next_(first), stride_(stride) {}
  ~result_writer() { flush(); }
  result_writer(result_writer const&) = delete;
  result_writer& operator=(result_writer const&) = delete;

  void push(reduce_state const& state) {
    reducer_.finish(state, count_, held_.data() + held_count_ * size_of(reducer_.result));
    if (++held_count_ == capacity) flush();
  }

  /// The first n lanes. @pre n <= block_limit
  void push(reduce_lanes const& lanes, std::int64_t n) {
    flush();
    reducer_.finish_lanes(lanes, n, count_, held_.data());
    held_count_ = n;
    flush();
  }

 private:
  static constexpr std::int64_t capacity = block_limit;

  void flush() {
    std::int64_t const size = size_of(output_.type);
    std::byte* const target = output_.data + next_ * size;
    if (stride_ == 1) {
      convert(held_.data(), reducer_.result, target, output_.type, held_count_);
    } else {
      alignas(8) std::array<std::byte, 8 * capacity> converted;
      convert(held_.data(), reducer_.result, converted.data(), output_.type, held_count_);
      for (std::int64_t i = 0; i < held_count_; ++i)
        std::memcpy(target + i * stride_ * size, converted.data() + i * size,
                    static_cast<std::size_t>(size));
    }
    next_ += held_count_ * stride_;
    held_count_ = 0;
  }

  reducer const& reducer_;
  std::int64_t count_;  // elements that each result has seen
  output_array output_;
  std::int64_t next_, stride_, held_count_ = 0;
  alignas(8) std::array<std::byte, 8 * capacity> held_;
};

}  // namespace ricci::kernels
