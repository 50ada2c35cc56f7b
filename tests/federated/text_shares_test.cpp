#include "federated/text_shares.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace undertext {
namespace {

using Lines = std::vector<std::string>;

TEST(TextShares, AreContiguousAndOfTheSizeAskedFor) {
  const TextSource source{{"abcd", "ef", "ghij", "klmnopqrs", "tuvwxyz"}, "t.txt"};
  const TextShares shares = share_text(source, {.clients = 2, .size = 6});
  // abcd\ne | f\nghij | \nklmno | pqrs\nt
  EXPECT_EQ(shares.clients, (std::vector<Lines>{{"abcd", "e"}, {"f", "ghij"}}));
  EXPECT_EQ(shares.validation, Lines{"klmno"});
  EXPECT_EQ(shares.test, (Lines{"pqrs", "t"}));
  EXPECT_EQ(joined(shares.test), "pqrs\nt");
}

TEST(TextShares, CountsCharactersNotBytes) {
  const TextShares shares =
      share_text({{"äöüÄÖÜ", "€€€€€"}, "t.txt"}, {.clients = 1, .size = 4, .lower = true});
  EXPECT_EQ(shares.clients, std::vector<Lines>{{"äöüä"}});
  EXPECT_EQ(shares.validation, (Lines{"öü", "€"}));
  EXPECT_EQ(shares.test, Lines{"€€€€"});
}

TEST(TextShares, WithoutASizeAllIsSharedOut) {
  const TextShares shares = share_text({{"abcdefghijklmnop"}, "t.txt"}, {.clients = 2});
  EXPECT_EQ(shares.clients, (std::vector<Lines>{{"abcd"}, {"efgh"}}));
  EXPECT_EQ(shares.test, Lines{"mnop"});
}

TEST(TextShares, ByLine) {
  const TextSource source{{"a", "b", "c", "d", "e", "f", "g"}, "t.txt"};
  const TextShares shares = share_text(source, {.clients = 2, .size = 1, .by_line = true});
  EXPECT_EQ(shares.clients, (std::vector<Lines>{{"a"}, {"b"}}));
  EXPECT_EQ(shares.validation, Lines{"c"});
  EXPECT_EQ(shares.test, Lines{"d"});
}

TEST(TextShares, HeldOutTextIsTheServersAndTheTests) {
  const TextShares shares =
      share_text({{"abcdef"}, "t.txt"}, {.clients = 2, .size = 3}, TextSource{{"uvwxyz"}, "held.txt"});
  EXPECT_EQ(shares.clients, (std::vector<Lines>{{"abc"}, {"def"}}));
  EXPECT_EQ(shares.validation, Lines{"uvw"});
  EXPECT_EQ(shares.test, Lines{"xyz"});
}

TEST(TextShares, TooLittleTextNamesTheFileAndBothSizes) {
  const auto complaint = [](const ShareOptions& options, std::optional<TextSource> held_out = {}) {
    try {
      share_text({{"abcdefghij"}, "t.txt"}, options, held_out);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(
      complaint({.clients = 2, .size = 3}),
      "t.txt: 10 characters, expected at least 12 for 2 clients of 3, the server's validation and a test");
  EXPECT_EQ(complaint({.clients = 4, .size = 3}, TextSource{{"abcdef"}, "held.txt"}),
            "t.txt: 10 characters, expected at least 12 for 4 clients of 3");
  EXPECT_EQ(complaint({.clients = 2, .size = 3}, TextSource{{"a"}, "held.txt"}),
            "held.txt: 1 characters, expected at least 2 for the server's validation and a test");
  EXPECT_EQ(
      complaint({.clients = 20}),
      "t.txt: 10 characters, expected at least 22 for 20 clients of 1, the server's validation and a test");
  EXPECT_EQ(complaint({.clients = 2, .size = 1'000'000'000'000'000'000}).substr(0, 40),
            "t.txt: 10 characters, expected at least ");
}

}  // namespace
}  // namespace undertext
