// A workplace for transformers: a tokenizer of words, texts of them, and configs of small models.
#pragma once

#include "program.h"

namespace undertext {

class TransformerPlace : public Workplace {
 public:
  struct Shape {
    int words = 60;  // of the vocabulary: word0, word1, ...
    int texts = 40;  // of public.txt
    int length = 6;  // words of a text
    int width = 64;  // of the models gpt2.json and plain.json, of one layer
  };
  explicit TransformerPlace(const Shape& shape);

  // Each returns the path of what it wrote. config: "gpt2" or "plain", with random weights.
  std::string made(const std::string& config) const;
  std::string updated(const std::string& model, const std::string& texts,
                      const std::vector<std::string>& more = {"--gradient"}) const;

  // A gpt2 from random weights, trained on public.txt in batches of 8. `more`: flags at the end.
  Outcome train(const std::string& out, int epochs, const std::vector<std::string>& more = {}) const;

  Outcome attack(const std::string& name, const std::string& model, const std::string& update,
                 const std::vector<std::string>& more = {}) const;
};

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more);

}  // namespace undertext
