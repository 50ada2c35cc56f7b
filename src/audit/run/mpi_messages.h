// Bytes from rank to rank. Only for files that are left out of a program without MPI.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tensors/named_tensors.h"

namespace undertext {

inline constexpr int kAnyRank = -1;

struct MpiMessage {
  int from, tag;
  std::string bytes;
};

void send_message(std::string_view bytes, int rank, int tag);
// Whatever has arrived from `rank`; nothing when nothing has.
std::optional<MpiMessage> arrived_message(int rank);
// The next one from `rank`. Looks now and then: MPI's own waiting keeps a core busy.
MpiMessage next_message(int rank);

// The tensors in the order of their names, of any size; the receiver has some of the same shapes, which are
// overwritten.
void send_tensors(const NamedTensors& tensors, int rank, int tag);
void receive_tensors(NamedTensors& tensors, int rank, int tag);

}  // namespace undertext
