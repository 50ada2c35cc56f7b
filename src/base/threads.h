// Thread control in one place. Our own code splits work into pieces whose number does not depend on the
// thread count; the BLAS under it runs one thread per call, so that results are the same bytes for any count.
#pragma once

#include <cstdint>
#include <functional>

namespace undertext {

int hardware_threads();

// Sets the size of our pool, torch's intra-op threads, and OpenBLAS to one thread per call. 0: all cores.
void set_threads(int count);
int threads();

// Calls body(i) for every i in [0, count), spread over the threads; returns when all are done. An exception
// in a body reaches the caller. Nested calls run in the calling thread.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body);

}  // namespace undertext
