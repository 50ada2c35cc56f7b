#include "base/sha256.h"

#include <gtest/gtest.h>

namespace undertext {
namespace {

// FIPS 180-4, appendix B.1, and the hash of nothing.
TEST(Sha256, AgreesWithThePublishedExamples) {
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, TellsListsOfStringsApart) {
  const auto hash = [](std::initializer_list<const char*> texts) {
    Sha256 sum;
    for (const char* text : texts) sum.add_string(text);
    return sum.hex();
  };
  EXPECT_NE(hash({"ab", "c"}), hash({"a", "bc"}));
  EXPECT_EQ(hash({"ab", "c"}), hash({"ab", "c"}));
}

}  // namespace
}  // namespace undertext
