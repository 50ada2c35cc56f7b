// What a record looks like: fixed text with free places, "my number is {ddd}-{dd}". All of its texts as a
// small automaton, in which each text has exactly one path, so that a search never meets a text twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace undertext {

class RecordPattern {
 public:
  struct Edge {
    char32_t character;
    std::int32_t to;  // always a later state
    bool free;        // stands in braces; false: in fixed text
  };
  struct State {
    std::vector<Edge> edges;  // ascending by character
    bool final = false;       // a text may end here
    double texts = 0;         // that lead from here to an end
  };

  // In braces stand
  //   letters, each for one free character: d a digit, a a lower-case letter, A an upper-case one, x a
  //   hexadecimal digit in lower case: {ddd}, {Aadd};
  //   alternatives, which may differ in length: {red|green|blue};
  //   a file with one alternative a line: {@names.txt}.
  // A backslash takes its meaning from a brace, a bar or a backslash. UserError that names the place for
  // whatever else is there, for a pattern that leaves nothing free, and for one that grows too large.
  static RecordPattern parse(std::string_view pattern);

  const std::string& written() const { return written_; }  // as it was parsed
  // Begins at state 0.
  const std::vector<State>& states() const { return states_; }
  double size() const { return states_.front().texts; }  // how many texts, each counted once
  double log2_size() const;

  std::string sample(Random& random) const;  // uniform over the texts
  bool matches(std::string_view text) const;
  // All texts in Unicode's order; only for patterns whose size() was found bearable.
  std::vector<std::string> all() const;

 private:
  void sort_and_count();

  std::string written_;
  std::vector<State> states_;
};

}  // namespace undertext
