#include "base/memory.h"

#include <fstream>
#include <string>

namespace undertext {

std::int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

void reset_peak_memory() {
  // proc(5): 5 resets the high water mark to the present size.
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace undertext
