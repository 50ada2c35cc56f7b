#include <algorithm>

#include "base/threads.h"
#include "federated/federation.h"

namespace undertext {
namespace {

class ThreadTrainers : public ClientTrainers {
 public:
  ThreadTrainers(const FederationParties& parties, const FederationOptions& options)
      : parties_(parties), options_(options) {}

  // As many at a time as there are threads, so that no more copies of the model are in memory than that.
  void train(const LanguageModel& global, std::span<const ClientTask> tasks, const Take& take) override {
    const auto at_once = static_cast<std::size_t>(std::max(1, threads()));
    for (std::size_t first = 0; first < tasks.size(); first += at_once) {
      const auto now = tasks.subspan(first, std::min(at_once, tasks.size() - first));
      std::vector<NamedTensors> weights(now.size());
      parallel_for(std::ssize(now), [&](std::int64_t i) {
        const auto place = static_cast<std::size_t>(i);
        weights[place] = client_weights(global, now[place], parties_, options_);
      });
      for (std::size_t i = 0; i < now.size(); ++i) take(now[i], weights[i]);
    }
  }

 private:
  const FederationParties& parties_;
  const FederationOptions& options_;
};

}  // namespace

std::unique_ptr<ClientTrainers> thread_trainers(const FederationParties& parties,
                                                const FederationOptions& options) {
  return std::make_unique<ThreadTrainers>(parties, options);
}

}  // namespace undertext
