// The flags that say which texts of a file count.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "models/language_model.h"
#include "text/text_filter.h"

namespace undertext {

class TextFilterFlags {
 public:
  void add_flags(CLI::App& app);

  const TextFilter& filter() const { return filter_; }
  // Leaves out the texts that the model finds too surprising, where --max-perplexity is given. UserError that
  // begins with `where` when none is left.
  std::vector<Sentence> expected_ones(std::vector<Sentence> texts, const LanguageModel& model,
                                      const std::string& where) const;

 private:
  TextFilter filter_;
  double max_perplexity_ = 0;  // 0: any
};

}  // namespace undertext
