// What a reader says about bad bytes.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace undertext {

// The message of the UserError that `call` throws; empty when it throws none.
template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// One line that begins with the file and holds `expected`.
inline void expect_one_clear_line(const std::string& message, const std::string& file,
                                  const std::string& expected) {
  EXPECT_NE(message, "") << "was accepted";
  EXPECT_TRUE(message.starts_with(file + ": ")) << message;
  EXPECT_NE(message.find(expected), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), file.size() + 400) << message;
}

// A kind of lie and what is said about it.
struct LyingFile {
  const char* name;
  std::string bytes;
  const char* expected;
};

inline std::ostream& operator<<(std::ostream& out, const LyingFile& lie) {
  return out << lie.name;
}

}  // namespace undertext
