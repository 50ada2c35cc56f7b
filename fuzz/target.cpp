#include "fuzz/target.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/threads.h"

// --write-seeds FOLDER: writes the seeds there, one a file, and ends.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  undertext::set_threads(1);
  if (*argc == 3 && std::strcmp((*argv)[1], "--write-seeds") == 0) {
    const std::vector<std::string> seeds = undertext::seeds();
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      undertext::write_file(std::filesystem::path((*argv)[2]) / fmt::format("seed-{}", i), seeds[i]);
    }
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    undertext::try_input({reinterpret_cast<const char*>(data), size});
  } catch (const undertext::UserError& error) {
    // A message is one line, whatever the input holds.
    if (std::strpbrk(error.what(), "\r\n") != nullptr) std::abort();
  }
  return 0;
}
