#include "defences/secure_aggregation/secure_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "defences/secure_aggregation/fixed_point.h"

namespace undertext {
namespace {

// Client c has the words 1000 c + i.
Words counted(std::int64_t client, std::size_t size) {
  Words words(size);
  for (std::size_t i = 0; i < size; ++i) words[i] = static_cast<std::uint64_t>(client) * 1000 + i;
  return words;
}

// RFC 7748, section 6.1.
TEST(SecureKeys, AgreesAsTheStandardSays) {
  const auto bytes = [](const char* hex) {
    Secret secret;
    for (std::size_t i = 0; i < secret.size(); ++i) {
      unsigned value = 0;
      std::sscanf(hex + 2 * i, "%2x", &value);
      secret[i] = static_cast<std::uint8_t>(value);
    }
    return secret;
  };
  const KeyPair alice = key_pair(secret_of(Seed(3)));
  const KeyPair bob = key_pair(bytes("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"));
  EXPECT_EQ(bob.open, bytes("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"));
  EXPECT_EQ(agree(alice.secret, bob.open, "masks"), agree(bob.secret, alice.open, "masks"));
  EXPECT_NE(agree(alice.secret, bob.open, "masks"), agree(alice.secret, bob.open, "shares"));
  EXPECT_THROW(agree(alice.secret, PublicKey{}, "masks"), UserError);
}

TEST(SecureKeys, SealsAndNoticesChanges) {
  const Secret key = secret_of(Seed(1));
  std::string sealed = seal(key, "two shares");
  EXPECT_EQ(open_sealed(key, sealed), "two shares");
  EXPECT_THROW(open_sealed(secret_of(Seed(2)), sealed), UserError);
  sealed[3] = static_cast<char>(sealed[3] ^ 1);
  EXPECT_THROW(open_sealed(key, sealed), UserError);
  EXPECT_THROW(open_sealed(key, "short"), UserError);
}

TEST(SecretSharing, ThresholdSharesGiveItBackAndFewerDoNot) {
  const Secret secret = secret_of(Seed(5));
  const std::vector<Share> shares = share_secret(secret, 9, 4, Seed(6));
  EXPECT_EQ(join_shares(std::vector{shares[0], shares[1], shares[2], shares[3]}), secret);
  EXPECT_EQ(join_shares(std::vector{shares[8], shares[2], shares[5], shares[3]}), secret);
  EXPECT_NE(join_shares(std::vector{shares[8], shares[2], shares[5]}), secret);
}

TEST(FixedPoint, MeetsFloatsAndRefusesWhatWouldWrap) {
  const std::vector<double> numbers = {0, 1, -1, 0.1f, -123.456f, 1e-12};
  const std::vector<double> back = from_fixed_point(to_fixed_point(numbers, 100));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(back[i], numbers[i]);
  EXPECT_EQ(back[5], 0);
  EXPECT_THROW(to_fixed_point(std::vector{1e9}, 100), UserError);
  EXPECT_THROW(to_fixed_point(std::vector{std::nan("")}, 1), UserError);
}

TEST(SecureSum, IsTheSumOfThoseWhoStayed) {
  for (const std::vector<bool>& dropped : {std::vector<bool>(7, false),
                                           {true, false, false, false, false, false, true},
                                           {false, false, false, true, false, false, false}}) {
    Words expected(3000, 0);
    for (std::int64_t c = 0; c < 7; ++c)
      for (std::size_t i = 0; !dropped[static_cast<std::size_t>(c)] && i < expected.size(); ++i)
        expected[i] += counted(c, expected.size())[i];
    const SecureSum result = secure_sum(
        7, [](std::int64_t c) { return counted(c, 3000); }, dropped);
    EXPECT_EQ(result.sum, expected);
  }
}

TEST(SecureSum, RefusesWhenTooFewAreLeft) {
  const std::vector<bool> dropped = {true, true, true, false, false, false};
  EXPECT_THROW(secure_sum(
                   6, [](std::int64_t c) { return counted(c, 10); }, dropped),
               UserError);
  EXPECT_THROW(secure_sum(1, [](std::int64_t c) { return counted(c, 10); }, {false}), UserError);
}

// What the server receives of one client looks like random words: half of the bits are set, and nothing goes
// along with the words beneath.
TEST(SecureSum, OneClientsWordsTellNothing) {
  constexpr std::size_t kWords = 4000;
  const SecureSum result = secure_sum(5, [](std::int64_t c) { return counted(c, kWords); },
                                      std::vector<bool>(5, false), {.keep_masked = true});
  for (const Words& masked : result.masked) {
    std::int64_t bits = 0;
    double together = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
      bits += __builtin_popcountll(masked[i]);
      together += (static_cast<double>(masked[i]) / 0x1p64 - 0.5) * (static_cast<double>(i) / kWords - 0.5);
    }
    const double all = 64.0 * kWords;
    EXPECT_NEAR(static_cast<double>(bits), all / 2, 5 * std::sqrt(all) / 2);
    EXPECT_NEAR(together / kWords, 0, 5 / 12.0 / std::sqrt(kWords));
  }
}

}  // namespace
}  // namespace undertext
