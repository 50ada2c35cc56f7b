#include "audit/defence_strengths.h"

#include "base/error.h"

namespace undertext {
namespace {

// Gradients of a sum over some messages have norms of tens; steps are of 0.001.
const std::vector<std::string> kKeyboard = {"clipping:clip=10",
                                            "clipping:clip=1",
                                            "clipping:clip=0.01",
                                            "noise-per-step:sigma=0.1",
                                            "noise-per-step:sigma=0.3",
                                            "noise-per-step:sigma=1",
                                            "noise-per-step:sigma=3",
                                            "noise-per-step:sigma=10",
                                            "noise-on-result:sigma=0.0001",
                                            "noise-on-result:sigma=0.001",
                                            "noise-on-result:sigma=0.01",
                                            "dpsgd:sigma=0.01,clip=1",
                                            "dpsgd:sigma=0.1,clip=1",
                                            "dpsgd:sigma=0.5,clip=1",
                                            "dpsgd:sigma=1,clip=1",
                                            "dpsgd:sigma=4,clip=1",
                                            "pruning:share=0.9",
                                            "pruning:share=0.99",
                                            "pruning:share=0.999",
                                            "pruning:share=0.9999",
                                            "vocabulary:words=1000",
                                            "vocabulary:words=300",
                                            "vocabulary:words=100",
                                            "vocabulary:words=30",
                                            "secure-aggregation:users=2",
                                            "secure-aggregation:users=4",
                                            "secure-aggregation:users=8",
                                            "frozen-embedding",
                                            "noised-embedding",
                                            "dropout-embedding",
                                            "adversarial-embedding",
                                            "lstm-dropout",
                                            "characters",
                                            "dp-fedavg:sigma=1,clip=1",
                                            "dp-ftrl:sigma=1,clip=1"};

// Gradients of a mean, clipped to 1 as in decepticons, figure 18.
const std::vector<std::string> kTransformer = {"clipping:clip=1",
                                               "clipping:clip=0.01",
                                               "noise-per-step:sigma=1e-06,clip=1",
                                               "noise-per-step:sigma=0.0001,clip=1",
                                               "noise-per-step:sigma=0.01,clip=1",
                                               "noise-on-result:sigma=1e-08,clip=1",
                                               "noise-on-result:sigma=1e-06,clip=1",
                                               "noise-on-result:sigma=0.0001,clip=1",
                                               "noise-on-result:sigma=0.01,clip=1",
                                               "dpsgd:sigma=0.0001,clip=1",
                                               "dpsgd:sigma=0.01,clip=1",
                                               "dpsgd:sigma=0.5,clip=1",
                                               "dpsgd:sigma=1,clip=1",
                                               "pruning:share=0.9",
                                               "pruning:share=0.99",
                                               "pruning:share=0.999",
                                               "pruning:share=0.9999",
                                               "frozen-embedding",
                                               "secure-aggregation:users=2",
                                               "secure-aggregation:users=8",
                                               "vocabulary:words=300",
                                               "noised-embedding",
                                               "dropout-embedding",
                                               "adversarial-embedding",
                                               "lstm-dropout",
                                               "characters",
                                               "dp-fedavg:sigma=1,clip=1",
                                               "dp-ftrl:sigma=1,clip=1"};

const std::vector<std::string> kRecords = {"dropout-embedding:rate=0.2",
                                           "dropout-embedding:rate=0.5",
                                           "noised-embedding:sigma=0.1",
                                           "noised-embedding:sigma=1",
                                           "noised-embedding:sigma=4",
                                           "adversarial-embedding:magnitude=0.1",
                                           "adversarial-embedding:magnitude=1",
                                           "lstm-dropout:rate=0.3",
                                           "lstm-dropout:rate=0.5",
                                           "clipping:clip=1",
                                           "clipping:clip=0.1",
                                           "noise-per-step:sigma=0.001",
                                           "noise-per-step:sigma=0.01",
                                           "noise-on-result:sigma=0.001",
                                           "noise-on-result:sigma=0.01",
                                           "noise-on-result:sigma=0.1",
                                           "dpsgd:sigma=0.01,clip=1",
                                           "dpsgd:sigma=0.1,clip=1",
                                           "dpsgd:sigma=1,clip=1",
                                           "pruning:share=0.9",
                                           "pruning:share=0.99",
                                           "frozen-embedding",
                                           "secure-aggregation:users=2",
                                           "dp-fedavg:sigma=0.01,clip=1",
                                           "dp-fedavg:sigma=0.1,clip=1",
                                           "dp-ftrl:sigma=0.01,clip=1",
                                           "dp-ftrl:sigma=0.1,clip=1",
                                           "vocabulary:words=20",
                                           "characters"};

}  // namespace

const std::vector<std::string>& all_defences(const std::string& preset) {
  if (preset == "keyboard") return kKeyboard;
  if (preset == "transformer") return kTransformer;
  UNDERTEXT_CHECK(preset == "records");
  return kRecords;
}

}  // namespace undertext
