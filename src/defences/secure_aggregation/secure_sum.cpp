#include "defences/secure_aggregation/secure_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr std::string_view kMaskPurpose = "undertext mask", kSealPurpose = "undertext shares";

std::string bytes_of(const Share& share) {
  std::string bytes(sizeof share.place + sizeof share.values, '\0');
  std::memcpy(bytes.data(), &share.place, sizeof share.place);
  std::memcpy(bytes.data() + sizeof share.place, share.values.data(), sizeof share.values);
  return bytes;
}

Share share_of(std::string_view bytes) {
  Share share;
  std::memcpy(&share.place, bytes.data(), sizeof share.place);
  std::memcpy(share.values.data(), bytes.data() + sizeof share.place, sizeof share.values);
  return share;
}

// A key seals one message, so each direction has its own.
std::string seal_purpose(std::int64_t from, std::int64_t to) {
  return fmt::format("{} from {} to {}", kSealPurpose, from, to);
}

// The mask between two clients: the one with the smaller number adds it, the other takes it off.
MaskSign sign_of(std::int64_t own, std::int64_t other) {
  return own < other ? MaskSign::plus : MaskSign::minus;
}

MaskSign opposite(MaskSign sign) {
  return sign == MaskSign::plus ? MaskSign::minus : MaskSign::plus;
}

void add(const Words& from, Words& to) {
  if (to.empty()) to.assign(from.size(), 0);
  if (to.size() != from.size())
    fail("secure aggregation: {} numbers from a client, expected {} as from the others", from.size(),
         to.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

}  // namespace

SecureClient::SecureClient(std::int64_t number, std::int64_t clients, std::int64_t threshold, Seed seed)
    : number_(number),
      clients_(clients),
      threshold_(threshold),
      seed_(seed),
      mask_(key_pair(secret_of(seed.derive("mask key")))),
      seal_(key_pair(secret_of(seed.derive("seal key")))),
      own_seed_(secret_of(seed.derive("own mask"))) {}

std::vector<std::string> SecureClient::shares(std::span<const ClientKeys> keys) {
  UNDERTEXT_CHECK(std::ssize(keys) == clients_);
  keys_.assign(keys.begin(), keys.end());
  const std::vector<Share> of_seed =
      share_secret(own_seed_, clients_, threshold_, seed_.derive("shares of the own mask"));
  const std::vector<Share> of_key =
      share_secret(mask_.secret, clients_, threshold_, seed_.derive("shares of the mask key"));
  std::vector<std::string> sealed;
  shared_.clear();
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    shared_.push_back(shared_secret(seal_.secret, keys_[i].seal));
    sealed.push_back(seal(derived_secret(shared_.back(), seal_purpose(number_, static_cast<std::int64_t>(i))),
                          bytes_of(of_seed[i]) + bytes_of(of_key[i])));
  }
  return sealed;
}

void SecureClient::receive(std::span<const std::string> sealed) {
  UNDERTEXT_CHECK(std::ssize(sealed) == clients_);
  held_.clear();
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    const std::string opened = open_sealed(
        derived_secret(shared_[i], seal_purpose(static_cast<std::int64_t>(i), number_)), sealed[i]);
    const std::size_t half = opened.size() / 2;
    held_.push_back({share_of(std::string_view(opened).substr(0, half)),
                     share_of(std::string_view(opened).substr(half))});
  }
}

Words SecureClient::masked(Words words) const {
  std::vector<Mask> masks = {{own_seed_, MaskSign::plus}};
  for (std::int64_t other = 0; other < clients_; ++other)
    if (other != number_)
      masks.push_back({agree(mask_.secret, keys_[static_cast<std::size_t>(other)].mask, kMaskPurpose),
                       sign_of(number_, other)});
  add_masks(masks, words);
  return words;
}

std::vector<Share> SecureClient::reveal(const std::vector<bool>& came) const {
  UNDERTEXT_CHECK(std::ssize(came) == clients_);
  std::vector<Share> shares;
  for (std::size_t i = 0; i < came.size(); ++i)
    shares.push_back(came[i] ? held_[i].own_seed : held_[i].mask_key);
  return shares;
}

void SecureServer::take_words(std::int64_t client, const Words& words) {
  add(words, sum_);
  came_[static_cast<std::size_t>(client)] = true;
}

Words SecureServer::sum(std::span<const std::vector<Share>> revealed) {
  if (std::ssize(revealed) < threshold_)
    fail(
        "secure aggregation: {} clients are left, expected at least {} to take off the masks of those who "
        "are "
        "gone",
        revealed.size(), threshold_);
  // Masks that did not cancel, each with the sign that takes it off.
  std::vector<Mask> left;
  for (std::int64_t client = 0; client < clients_; ++client) {
    std::vector<Share> shares;
    for (std::int64_t i = 0; i < threshold_; ++i)
      shares.push_back(revealed[static_cast<std::size_t>(i)][static_cast<std::size_t>(client)]);
    const Secret secret = join_shares(shares);
    if (came_[static_cast<std::size_t>(client)]) {
      left.push_back({secret, MaskSign::minus});
      continue;
    }
    for (std::int64_t other = 0; other < clients_; ++other)
      if (came_[static_cast<std::size_t>(other)])
        left.push_back({agree(secret, keys_[static_cast<std::size_t>(other)].mask, kMaskPurpose),
                        opposite(sign_of(other, client))});
  }
  // Each thread takes all of them off a part of the words.
  constexpr std::int64_t kWords = 1 << 15;
  parallel_for((std::ssize(sum_) + kWords - 1) / kWords, [&](std::int64_t piece) {
    const auto first = static_cast<std::size_t>(piece * kWords);
    add_masks(left, std::span(sum_).subspan(first, std::min<std::size_t>(kWords, sum_.size() - first)),
              first);
  });
  return std::move(sum_);
}

SecureSum secure_sum(std::int64_t clients, const std::function<Words(std::int64_t client)>& words_of,
                     const std::vector<bool>& dropped, const SecureSumOptions& options) {
  UNDERTEXT_CHECK(std::ssize(dropped) == clients);
  if (clients < 2)
    fail("secure aggregation: {} clients, expected at least 2: the sum of one is its own", clients);
  const auto n = static_cast<std::size_t>(clients);
  const auto threshold = std::max<std::int64_t>(
      2, std::llround(std::ceil(options.threshold_share * static_cast<double>(clients))));
  std::vector<SecureClient> all;
  std::vector<ClientKeys> keys;
  for (std::int64_t i = 0; i < clients; ++i) {
    all.emplace_back(i, clients, threshold, options.seed.derive(static_cast<std::uint64_t>(i)));
    keys.push_back(all.back().keys());
  }
  SecureServer server(clients, threshold);
  server.take_keys(keys);
  std::vector<std::vector<std::string>> sealed(n);  // [from][to]
  parallel_for(clients, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    sealed[place] = all[place].shares(keys);
  });
  parallel_for(clients, [&](std::int64_t i) {
    std::vector<std::string> received;
    for (const std::vector<std::string>& from : sealed) received.push_back(from[static_cast<std::size_t>(i)]);
    all[static_cast<std::size_t>(i)].receive(received);
  });

  SecureSum result;
  if (options.keep_masked) result.masked.resize(n);
  // As many at a time as there are threads: no more copies of an update are in memory than that.
  const auto at_once = static_cast<std::int64_t>(std::max(1, threads()));
  for (std::int64_t first = 0; first < clients; first += at_once) {
    std::vector<Words> sent(static_cast<std::size_t>(std::min(at_once, clients - first)));
    parallel_for(std::ssize(sent), [&](std::int64_t i) {
      const auto client = static_cast<std::size_t>(first + i);
      if (!dropped[client]) sent[static_cast<std::size_t>(i)] = all[client].masked(words_of(first + i));
    });
    for (std::int64_t i = 0; i < std::ssize(sent); ++i) {
      Words& words = sent[static_cast<std::size_t>(i)];
      if (dropped[static_cast<std::size_t>(first + i)]) continue;
      server.take_words(first + i, words);
      if (options.keep_masked) result.masked[static_cast<std::size_t>(first + i)] = std::move(words);
    }
  }
  std::vector<std::vector<Share>> revealed;
  for (std::size_t i = 0; i < n; ++i)
    if (!dropped[i]) revealed.push_back(all[i].reveal(server.came()));
  result.sum = server.sum(revealed);
  return result;
}

}  // namespace undertext
