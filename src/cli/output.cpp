#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace undertext {

void print_text(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) fail("standard output: cannot write: {}", std::strerror(errno));
}

void print_json(const nlohmann::json& json) {
  // File names may be no UTF-8; everything else is.
  print_text(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  if (terminal != nullptr && std::strcmp(terminal, "dumb") == 0) return false;
  return isatty(STDOUT_FILENO) == 1;
}

int output_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void print_note(std::string_view text) {
  fmt::print(stderr, "undertext: {}\n", text);
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace undertext
