// One text cut into the shares of a federation's clients, of its server, and of who tests the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace undertext {

// The lines of a file, and its name for messages.
struct TextSource {
  std::vector<std::string> lines;
  std::string name;
};

struct ShareOptions {
  std::int64_t clients = 1;
  // Of each client, of the validation text and of the test text: characters, among them the line feeds
  // between lines, or with by_line whole lines. 0: equal shares of all there is.
  std::int64_t size = 0;
  bool by_line = false;
  bool lower = false;  // letters in lower case
};

struct TextShares {
  std::vector<std::vector<std::string>> clients;  // lines, the first and the last perhaps cut
  std::vector<std::string> validation, test;
};

// Contiguous and without overlap: the clients' shares, then validation and test; these two from `held_out`,
// where there is one, at most half of it each. UserError that names the source, what is needed and what there
// is, for too little text.
TextShares share_text(const TextSource& source, const ShareOptions& options,
                      const std::optional<TextSource>& held_out = {});

// As one text, with line feeds between the lines.
std::string joined(const std::vector<std::string>& lines);

}  // namespace undertext
