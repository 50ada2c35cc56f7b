// Pickles as torch.save writes them, to begin with.
#pragma once

#include "tensors/pickle_bytes.h"

namespace undertext::pickled {

inline std::vector<std::string> torch_pickles() {
  const std::string view = tensor(storage("0", 6), 1, {2, 2}, {2, 1});
  const std::string remembered = "}q\1(" + text("a") + "q\2" + view + "q\3" + text("b") + "h\3u";
  const std::string parameter =
      global("torch._utils", "_rebuild_parameter") + "(" + view + "\x88" + ordered_dict() + "tR";
  const std::string state = ordered_dict() + "(" + text("w") + view + text("s") +
                            tensor(storage("0", 6), 5, {}, {}) + "u}" + text("_metadata") + ordered_dict() +
                            "sb";
  return {
      whole(remembered),
      whole(state),
      whole(dict({{"epoch", "K\3"}, {"lr", "G" + std::string(8, '\0')}, {"model", state}, {"best", "N"}})),
      whole("](" + view + parameter + "e"),
      whole(dict({{"w", parameter}})),
      whole(dict({{"e", tensor(storage("0", 6), 0, {3, 4}, {0, 0})},
                  {"t", tensor(storage("0", 6), 0, {2, 3}, {1, 2})}})),
      "\x80\x04\x95" + std::string(8, '\0') + "}\x94\x8c\1w\x94\x8c\x0b" +
          "collections\x94\x8c\x0bOrderedDict\x94\x93)R\x94s.",
      whole(global("os", "system") + "(" + text("true") + "tR"),
  };
}

}  // namespace undertext::pickled
