#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace undertext {

void bug(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "undertext: this is a bug: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace undertext
