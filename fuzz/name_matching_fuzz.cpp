// A file whose tensors have the lines of the input for names.
#include <ATen/ATen.h>

#include <algorithm>

#include "fuzz/target.h"
#include "fuzz/tensor_inputs.h"
#include "tensors/name_matching.h"

namespace undertext {

void try_input(std::string_view bytes) {
  static const std::vector<WantedTensor> wanted = {{"transformer.wte.weight", {2}},
                                                   {"transformer.h.0.ln_1.weight", {1}},
                                                   {"transformer.h.0.ln_1.bias", {1}},
                                                   {"head.bias", {1}, true}};
  static const at::Tensor one = at::ones({1}), two = at::ones({2});
  MatchOptions options;
  options.ignored = {"*.attn.bias", "a*b*c"};
  options.aliases = {{"lm_head.weight", "transformer.wte.weight"}};
  options.partial = !bytes.empty() && bytes.front() == '?';
  TensorFile file;
  for (std::size_t begin = 0; begin < bytes.size() && file.order.size() < 64;) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string name(bytes.substr(begin, end - begin));
    const bool wide = name.find("wte") != name.npos || name.find("head") != name.npos;
    if (file.tensors.emplace(name, wide ? two : one).second) file.order.push_back(name);
    begin = end + 1;
  }
  settle_names(file);
  for (const auto& [name, tensor] : match_names(file, wanted, options, "input")) {
    const auto found = std::ranges::find(wanted, name, &WantedTensor::name);
    UNDERTEXT_CHECK(found != wanted.end() && tensor.sizes() == at::IntArrayRef(found->shape));
  }
}

std::vector<std::string> seeds() {
  return {
      "transformer.wte.weight\ntransformer.h.0.ln_1.weight\ntransformer.h.0.ln_1.bias\nlm_head.weight",
      "module.wte.weight\nmodule.h.0.ln_1.gamma\nmodule.h.0.ln_1.beta\nmodule.h.0.attn.bias",
      "base_model.model.transformer.wte.weight\naxxbxxc",
      "arr_0\narr_1\narr_2",
      "?\ntransformer.h.0.ln_1.bias",
  };
}

}  // namespace undertext
