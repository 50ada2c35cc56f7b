// Two kinds of failure, kept apart: what a user can mend and what only we can.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace undertext {

// A mistake in what the user gave us (a file, a flag, a text). The message is one line that names the
// thing, says what is wrong and what was expected. The program prints it and exits with code 2.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw UserError(fmt::format(format, std::forward<Args>(args)...));
}

// A name that came from outside (a file, a tensor, a word), safe inside a one-line message: in quotes,
// without control characters, cut when long.
std::string quote(std::string_view name);

// Reports a bug in undertext and aborts. Never reached by any input, however hostile.
[[noreturn]] void bug(const char* file, int line, const char* condition);

}  // namespace undertext

// States what our own code guarantees. A user's mistake must be caught before, by fail().
#define UNDERTEXT_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::undertext::bug(__FILE__, __LINE__, #condition))
