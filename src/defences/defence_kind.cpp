#include "defences/defence_kind.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace undertext {
namespace {

constexpr double kMost = 1e17;

std::vector<DefenceKind> made_kinds() {
  using enum DefenceSide;
  return {
      {"clipping", "clipping", client, "a step's gradient is scaled down to a norm (decepticons, appendix G)",
       "clip"},
      {"noise-per-step", "noise per step", client,
       "noise on the gradient of every step (gboard-next-word, algorithm 3)", "sigma"},
      {"noise-on-result", "noise on the result", client,
       "noise on what is sent (gboard-next-word, algorithm 4; decepticons, appendix G)", "sigma"},
      {"dpsgd", "DP-SGD", client,
       "each text's gradient is cut to a norm, noise added to their sum (Abadi et al., 2016)", "sigma"},
      {"pruning", "pruning", client, "the smallest numbers of a gradient stay at home (film, section 6.3)",
       "share"},
      {"frozen-embedding", "frozen embedding", client,
       "the token embedding is neither trained nor sent (film, section 5)", ""},
      {"noised-embedding", "noised embedding", client,
       "noise on the embedding while it trains (record-level, section VI-A)", "sigma"},
      {"dropout-embedding", "dropout on the embedding", client,
       "a share of what the embedding puts out is zero while it trains (record-level, section VI-A)", "rate"},
      {"adversarial-embedding", "adversarial embedding", client,
       "trained on the embedding moved to where the loss is larger too (record-level, eq. 13)", "magnitude"},
      {"lstm-dropout", "LSTM dropout", client, "more dropout behind the layers (record-level, section VI-B)",
       "rate"},
      {"vocabulary", "smaller vocabulary", model,
       "words that are not among the most frequent are unknown to the client (gboard-next-word, section 8)",
       "words"},
      {"characters", "character level", model,
       "a model of characters in place of words (gboard-next-word, section 8)", ""},
      {"secure-aggregation", "secure aggregation", server,
       "the server learns the sum of its clients' updates alone (Bonawitz et al., 2017)", "users"},
      {"dp-fedavg", "DP-FedAvg", server,
       "each client's update is cut to a norm, noise added to their sum (McMahan et al., 2018)", "sigma"},
      {"dp-ftrl", "DP-FTRL", server,
       "the same with noise by a tree over the rounds, which needs no sampling (Kairouz et al., 2021)",
       "sigma"}};
}

std::vector<DefenceParameter> made_parameters() {
  return {
      {"sigma",
       0.1,
       false,
       0,
       kMost,
       {},
       "standard deviation of the noise; of laplace its scale b; of dpsgd, dp-fedavg and dp-ftrl in units of "
       "clip; of noised-embedding on the embedding",
       {"noise-per-step", "noise-on-result", "dpsgd", "noised-embedding", "dp-fedavg", "dp-ftrl"}},
      {"noise",
       "gaussian",
       false,
       0,
       0,
       {"gaussian", "laplace"},
       "its kind",
       {"noise-per-step", "noise-on-result"}},
      {"clip",
       0,
       false,
       0,
       kMost,
       {},
       "largest norm of a step's gradient, of dpsgd of a text's, of dp-fedavg and dp-ftrl of a client's "
       "update; 0: as it is",
       {"clipping", "noise-per-step", "noise-on-result", "dpsgd", "dp-fedavg", "dp-ftrl"}},
      {"sampling",
       "batches",
       false,
       0,
       0,
       {"batches", "poisson"},
       "which texts a step has: the next ones, or each on its own by chance, as the accountant assumes",
       {"dpsgd"}},
      {"where",
       "output",
       false,
       0,
       0,
       {"output", "weights"},
       "noise on what the embedding puts out, or in its weights, where it stays and adds up",
       {"noised-embedding"}},
      {"share",
       0.9,
       false,
       0,
       0.999999,
       {},
       "of the gradient that is set to zero, the smallest numbers",
       {"pruning"}},
      {"scope",
       "each",
       false,
       0,
       0,
       {"each", "all"},
       "the share of each tensor, or of all together",
       {"pruning"}},
      {"rate",
       0.1,
       false,
       0,
       0.999999,
       {},
       "share of the embedding's output, or of the layers', that is set to zero in training",
       {"dropout-embedding", "lstm-dropout"}},
      {"magnitude",
       0.1,
       false,
       0,
       1e6,
       {},
       "norm of the step on the embedding's output that raises the loss",
       {"adversarial-embedding"}},
      {"words", 500, true, 1, 1e9, {}, "how many of the vocabulary's first words stay", {"vocabulary"}},
      {"users", 10, true, 2, 1e6, {}, "clients whose updates are summed", {"secure-aggregation"}}};
}

}  // namespace

const char* name_of(DefenceSide side) {
  return side == DefenceSide::client ? "client" : side == DefenceSide::server ? "server" : "model";
}

const std::vector<DefenceKind>& defence_kinds() {
  static const std::vector<DefenceKind> all = made_kinds();
  return all;
}

const std::vector<DefenceParameter>& defence_parameters() {
  static const std::vector<DefenceParameter> all = made_parameters();
  return all;
}

const DefenceKind& defence_kind(std::string_view name) {
  const auto found = std::ranges::find(defence_kinds(), name, &DefenceKind::name);
  if (found != defence_kinds().end()) return *found;
  std::vector<std::string> names;
  for (const DefenceKind& kind : defence_kinds()) names.push_back(kind.name);
  fail("{}: no such defence, expected one of {}", quote(name), fmt::join(names, ", "));
}

std::vector<const DefenceParameter*> parameters_of(std::string_view kind) {
  std::vector<const DefenceParameter*> own;
  for (const DefenceParameter& parameter : defence_parameters())
    if (std::ranges::find(parameter.kinds, kind) != parameter.kinds.end()) own.push_back(&parameter);
  return own;
}

}  // namespace undertext
