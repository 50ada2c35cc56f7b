// FedAvg by secure aggregation: the server learns the weighted sum of its clients' weights and of their
// sizes, and nothing of a single one.
#pragma once

#include <vector>

#include "base/random.h"
#include "defences/secure_aggregation/secure_sum.h"
#include "federated/fed_avg.h"

namespace undertext {

// Means differ from FedAvg's by the rounding to fixed point alone. A round of one client is refused: its sum
// would be that client's weights.
class SecureAveraging : public Averaging {
 public:
  explicit SecureAveraging(Seed seed) : seed_(seed) {}
  void add(const NamedTensors& weights, std::int64_t size) override;
  NamedTensors mean() override;

 private:
  Seed seed_;
  NamedTensors shapes_;         // of the first client: names and shapes alone count
  std::vector<Words> clients_;  // |D_i| w_i and |D_i|, in fixed point
};

}  // namespace undertext
