// Secure aggregation (Bonawitz et al., 2017, figure 4): a server learns the sum of its clients' numbers and
// nothing else of them, also where some clients drop out on the way. The server follows the protocol.
//   0  every client sends two public keys, one for masks, one for sealed messages;
//   1  it shares out its mask key and the seed of a mask of its own among all, sealed for each;
//   2  it sends x + own mask + sum over others of +- the mask agreed with each: those between two clients
//   cancel; 3  those who are still there give shares: of the own seeds of clients whose numbers came, of the
//   mask keys of
//      clients whose numbers did not. From these the server takes off what did not cancel.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "defences/secure_aggregation/keys.h"
#include "defences/secure_aggregation/secret_sharing.h"

namespace undertext {

using Words = std::vector<std::uint64_t>;

struct ClientKeys {
  PublicKey mask, seal;
};

class SecureClient {
 public:
  // number: 0 to clients - 1. threshold: shares that give a secret back.
  SecureClient(std::int64_t number, std::int64_t clients, std::int64_t threshold, Seed seed);

  ClientKeys keys() const { return {mask_.open, seal_.open}; }
  // One sealed message for every client, its own too. keys: of all clients.
  std::vector<std::string> shares(std::span<const ClientKeys> keys);
  // What the server hands over of the others' messages to this client, one from each.
  void receive(std::span<const std::string> sealed);
  // The words, masked. Adds modulo 2^64.
  Words masked(Words words) const;
  // This client's shares, one of each client: of the own seed where the words came, of the mask key where
  // they did not. Never of both: a server with both could unmask what the client sent.
  std::vector<Share> reveal(const std::vector<bool>& came) const;

 private:
  std::int64_t number_, clients_, threshold_;
  Seed seed_;
  KeyPair mask_, seal_;
  Secret own_seed_;
  std::vector<ClientKeys> keys_;
  std::vector<Secret> shared_;  // with each client, for what is sealed
  struct Held {
    Share own_seed, mask_key;
  };
  std::vector<Held> held_;  // of each client
};

class SecureServer {
 public:
  SecureServer(std::int64_t clients, std::int64_t threshold) : clients_(clients), threshold_(threshold) {}

  void take_keys(std::vector<ClientKeys> keys) { keys_ = std::move(keys); }
  void take_words(std::int64_t client, const Words& words);
  const std::vector<bool>& came() const { return came_; }
  // The sum of the words that came. revealed: what clients that are still there gave, one entry each.
  // UserError where they are fewer than the threshold.
  Words sum(std::span<const std::vector<Share>> revealed);

 private:
  std::int64_t clients_, threshold_;
  std::vector<ClientKeys> keys_;
  std::vector<bool> came_ = std::vector<bool>(static_cast<std::size_t>(clients_), false);
  Words sum_;
};

// The whole protocol in one process. dropped[i]: client i is gone before it sends its words. What each client
// sent is what a server sees of it: masked[i], empty where it dropped out; left out unless asked for.
struct SecureSumOptions {
  double threshold_share = 2.0 / 3;  // of the clients, rounded up
  bool keep_masked = false;
  Seed seed{1};
};
struct SecureSum {
  Words sum;
  std::vector<Words> masked;
};
SecureSum secure_sum(std::int64_t clients, const std::function<Words(std::int64_t client)>& words_of,
                     const std::vector<bool>& dropped, const SecureSumOptions& options = {});

}  // namespace undertext
