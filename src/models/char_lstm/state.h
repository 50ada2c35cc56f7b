// What an LSTM remembers of what it read.
#pragma once

#include <vector>

namespace undertext {

// Of some sentences: h and c, each (layers, sentences, U). Empty: nothing was read yet.
struct LstmState {
  std::vector<float> h, c;

  bool empty() const { return h.empty(); }
};

}  // namespace undertext
