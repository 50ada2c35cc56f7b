// Scratch memory that outlives a call: a training step needs some megabytes, and handing them back to the
// system after each step would cost a tenth of its time in page faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace undertext {

class Buffer {
 public:
  // At least n floats, aligned to a cache line. The content is not kept when the buffer grows.
  float* floats(std::int64_t n) {
    const auto wanted = static_cast<std::size_t>(n);
    if (wanted > size_) {
      memory_.reset();
      const std::size_t bytes = (wanted * sizeof(float) + 63) / 64 * 64;
      memory_.reset(static_cast<float*>(std::aligned_alloc(64, bytes)));
      if (!memory_) throw std::bad_alloc();
      size_ = wanted;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace undertext
