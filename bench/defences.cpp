// Our side of bench/rows/defences.py; see worker.h.
// prepare      reads the keyboard's model and its messages
// plain        seconds of a plain training on them
// private      seconds of the same with DP-SGD, whose steps draw their texts
// memory       bytes of the whole process at its peak, so far
// masks        seconds that the masks of a secure sum alone take: two streams of AES for each pair, and what
//              the server takes off
// secure sum   seconds of a secure sum of 100 clients, a tenth of whom drop out
#include <nlohmann/json.hpp>

#include "base/memory.h"
#include "base/threads.h"
#include "defences/dpsgd.h"
#include "defences/secure_aggregation/secure_sum.h"
#include "federated/local_training.h"
#include "worker.h"

using namespace undertext;

namespace {

constexpr std::size_t kMessages = 256;
constexpr std::int64_t kClients = 100, kDropped = 10, kNumbers = 1'400'000;

double train(const Client& client, bool with_privacy) {
  LocalTraining training{.epochs = 10, .batch = 32};
  std::vector<std::shared_ptr<const ClientDefence>> defences;
  if (with_privacy) {
    training.sampling = Sampling::poisson;
    defences.push_back(std::make_shared<DpSgd>(1.0, 1.1, Seed(1)));
  }
  const double began = seconds();
  const Update update = train_locally(*client.model, client.messages, training, "", defences);
  return seconds() - began;
}

Words numbers_of(std::int64_t client) {
  Words words(static_cast<std::size_t>(kNumbers));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * 7 + static_cast<std::uint64_t>(client);
  return words;
}

double mask_seconds() {
  Words words(static_cast<std::size_t>(kNumbers));
  const double began = seconds();
  constexpr std::size_t kTimes = 10;
  add_masks(std::vector<Mask>(kTimes, {secret_of(Seed(1))}), words);
  const double one = (seconds() - began) / static_cast<double>(kTimes);
  constexpr std::int64_t kLeft = kClients - kDropped;
  // Each client that is left adds its own and one for every other; the server takes off those of the clients
  // that came, and those between them and the others.
  return one * static_cast<double>(kLeft * kClients + kLeft + kDropped * kLeft);
}

double secure_sum_seconds() {
  std::vector<bool> dropped(static_cast<std::size_t>(kClients), false);
  for (std::int64_t i = 0; i < kDropped; ++i) dropped[static_cast<std::size_t>(10 * i + 3)] = true;
  Words expected(static_cast<std::size_t>(kNumbers), 0);
  for (std::int64_t client = 0; client < kClients; ++client)
    if (!dropped[static_cast<std::size_t>(client)]) {
      const Words own = numbers_of(client);
      for (std::size_t i = 0; i < own.size(); ++i) expected[i] += own[i];
    }
  set_threads(0);  // as a server would
  const double began = seconds();
  const SecureSum result = secure_sum(kClients, numbers_of, dropped);
  const double took = seconds() - began;
  set_threads(1);
  return result.sum == expected ? took : -1;
}

}  // namespace

int main(int argc, char** argv) {
  const Folders folders = folders_of(argc, argv);
  Client client;
  return answer_questions({
      {"prepare",
       [&] {
         client = prepare_client(folders, kMessages);
         return 0.0;
       }},
      {"plain", [&] { return train(client, false); }},
      {"private", [&] { return train(client, true); }},
      {"memory", [&] { return static_cast<double>(peak_memory()); }},
      {"masks", mask_seconds},
      {"secure sum", secure_sum_seconds},
      {"threads", [] { return static_cast<double>(hardware_threads()); }},
  });
}
