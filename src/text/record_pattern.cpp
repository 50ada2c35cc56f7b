#include "text/record_pattern.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "text/corpus.h"
#include "text/utf8.h"

namespace undertext {
namespace {

constexpr std::size_t kMostStates = std::size_t{1} << 22;  // beyond that, a list is no list of names
constexpr std::int32_t kAccept = -1;                       // what follows the last part

// Alternatives, one of which stands in a text; fixed text has one.
struct Part {
  std::vector<std::u32string> alternatives;
  bool free = false;
};

std::u32string code_points(std::string_view text) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto character = decode_utf8(text, i);
    UNDERTEXT_CHECK(character);
    result += character->value;
    i += character->bytes;
  }
  return result;
}

std::string in_utf8(std::u32string_view text) {
  std::string result;
  for (const char32_t character : text) append_utf8(result, character);
  return result;
}

class Parser {
 public:
  explicit Parser(std::string_view written) : written_(written), text_(code_points(written)) {}

  std::vector<Part> parts() {
    while (at_ < text_.size()) {
      if (text_[at_] == U'{') {
        end_fixed();
        group();
      } else if (text_[at_] == U'}') {
        fail("pattern {}: a }} at character {} closes nothing; write \\}} for the character itself",
             quote(written_), at_ + 1);
      } else {
        fixed_ += next();
      }
    }
    end_fixed();
    return std::move(parts_);
  }

 private:
  // The next character, what is escaped without its backslash.
  char32_t next() {
    const char32_t character = text_[at_++];
    if (character != U'\\') return character;
    if (at_ == text_.size() || std::u32string_view(U"{}|\\").find(text_[at_]) == std::u32string_view::npos)
      fail("pattern {}: the backslash at character {} escapes nothing; expected one of {{ }} | \\ after it",
           quote(written_), at_);
    return text_[at_++];
  }

  void end_fixed() {
    if (!fixed_.empty()) parts_.push_back({{std::move(fixed_)}, false});
    fixed_.clear();
  }

  // What stands in braces, the first of which is at at_.
  void group() {
    const std::size_t open = at_++;
    std::vector<std::u32string> alternatives(1);
    for (bool closed = false; !closed;) {
      if (at_ == text_.size() || text_[at_] == U'{')
        fail("pattern {}: the {{ at character {} is not closed", quote(written_), open + 1);
      if (text_[at_] == U'}' || text_[at_] == U'|') {
        closed = text_[at_++] == U'}';
        if (!closed) alternatives.emplace_back();
      } else {
        alternatives.back() += next();
      }
    }
    const std::string shown = quote(in_utf8(text_.substr(open, at_ - open)));
    if (std::ranges::any_of(alternatives, [](const auto& one) { return one.empty(); }))
      fail("pattern {}: {} {}", quote(written_), shown,
           alternatives.size() > 1 ? "has an empty alternative" : "is empty; expected letters like {ddd}");
    if (alternatives.size() > 1)
      parts_.push_back({std::move(alternatives), true});
    else if (alternatives[0][0] == U'@')
      list(in_utf8(alternatives[0].substr(1)), shown);
    else
      for (const char32_t letter : alternatives[0]) parts_.push_back({characters(letter, shown), true});
  }

  void list(const std::string& file, const std::string& shown) {
    if (file.empty()) fail("pattern {}: {} names no file", quote(written_), shown);
    Part part{{}, true};
    for (const std::string& line : read_lines(file)) part.alternatives.push_back(code_points(line));
    parts_.push_back(std::move(part));
  }

  std::vector<std::u32string> characters(char32_t letter, const std::string& shown) const {
    std::u32string all;
    const auto add = [&](char32_t first, char32_t last) {
      for (char32_t c = first; c <= last; ++c) all += c;
    };
    if (letter == U'd' || letter == U'x') add(U'0', U'9');
    if (letter == U'x') add(U'a', U'f');
    if (letter == U'a') add(U'a', U'z');
    if (letter == U'A') add(U'A', U'Z');
    if (all.empty())
      fail(
          "pattern {}: {} holds {}; expected d (a digit), a or A (a letter), x (a hexadecimal digit), "
          "alternatives like {{red|green}} or a file like {{@names.txt}}",
          quote(written_), shown, quote(in_utf8({&letter, 1})));
    std::vector<std::u32string> result;
    for (const char32_t c : all) result.emplace_back(1, c);
    return result;
  }

  std::string written_;
  std::u32string text_, fixed_;
  std::size_t at_ = 0;
  std::vector<Part> parts_;
};

// One trie for each part, in one list of nodes. The end of a part is the beginning of the next: where an
// alternative begins another one, a character leads to two nodes.
class Tries {
 public:
  Tries(const std::vector<Part>& parts, const std::string& written) : written_(written) {
    for (const Part& part : parts) {
      roots_.push_back(add_node());
      for (const std::u32string& alternative : part.alternatives) insert(alternative, part.free);
    }
  }

  // The nodes that a character leads to from any of `from`, by character, and whether it is free there.
  struct Target {
    std::set<std::int32_t> nodes;
    bool free = false;
  };
  std::map<char32_t, Target> targets(const std::vector<std::int32_t>& from) const {
    std::map<char32_t, Target> result;
    for (const std::int32_t node : from) {
      if (node == kAccept) continue;
      for (const auto& [character, step] : nodes_[static_cast<std::size_t>(node)]) {
        Target& target = result[character];
        target.free = target.free || step.free;
        if (step.node >= 0 && !nodes_[static_cast<std::size_t>(step.node)].empty())
          target.nodes.insert(step.node);
        if (step.ends) target.nodes.insert(after(step.part));
      }
    }
    return result;
  }

 private:
  struct Step {
    std::int32_t node = -1;
    std::size_t part = 0;
    bool ends = false, free = false;
  };
  using Node = std::map<char32_t, Step>;

  std::int32_t add_node() {
    if (nodes_.size() >= kMostStates)
      fail("pattern {}: its alternatives have more than {} characters in all", quote(written_), kMostStates);
    nodes_.emplace_back();
    return static_cast<std::int32_t>(nodes_.size()) - 1;
  }

  std::int32_t after(std::size_t part) const { return part + 1 < roots_.size() ? roots_[part + 1] : kAccept; }

  void insert(const std::u32string& text, bool free) {
    std::int32_t at = roots_.back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool fresh = !nodes_[static_cast<std::size_t>(at)].contains(text[i]);
      const std::int32_t node = fresh ? add_node() : -1;
      Step& step = nodes_[static_cast<std::size_t>(at)][text[i]];
      if (fresh) step = {node, roots_.size() - 1, false, free};
      step.ends = step.ends || i + 1 == text.size();
      at = step.node;
    }
  }

  std::string written_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> roots_;  // of each part
};

}  // namespace

RecordPattern RecordPattern::parse(std::string_view pattern) {
  if (find_invalid_utf8(pattern)) fail("the pattern {} is not UTF-8", quote(pattern));
  RecordPattern result;
  result.written_ = pattern;
  const Tries tries(Parser(pattern).parts(), result.written_);

  // Each state is a set of nodes in which a text may be after the same characters.
  std::map<std::vector<std::int32_t>, std::int32_t> known;
  std::vector<std::vector<std::int32_t>> sets = {{pattern.empty() ? kAccept : 0}};
  known[sets[0]] = 0;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    State state;
    state.final = sets[s].front() == kAccept;  // sets are ascending
    for (const auto& [character, target] : tries.targets(sets[s])) {
      const std::vector<std::int32_t> nodes(target.nodes.begin(), target.nodes.end());
      const auto [to, fresh] = known.try_emplace(nodes, static_cast<std::int32_t>(sets.size()));
      if (fresh) sets.push_back(nodes);
      state.edges.push_back({character, to->second, target.free});
    }
    result.states_.push_back(std::move(state));
    if (sets.size() > kMostStates)
      fail("pattern {}: alternatives that begin one another make it too large", quote(pattern));
  }
  result.sort_and_count();
  if (result.size() < 2)
    fail("pattern {} leaves nothing free; expected a free place like {{ddd}} or {{red|green}}",
         quote(pattern));
  if (!std::isfinite(result.size())) fail("pattern {} has more texts than can be counted", quote(pattern));
  return result;
}

// Puts the states in an order in which edges lead to later ones, and counts texts from the end.
void RecordPattern::sort_and_count() {
  std::vector<std::int32_t> incoming(states_.size(), 0), order = {0}, place(states_.size(), 0);
  for (const State& state : states_)
    for (const Edge& edge : state.edges) ++incoming[static_cast<std::size_t>(edge.to)];
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    for (const Edge& edge : states_[static_cast<std::size_t>(order[i])].edges)
      if (--incoming[static_cast<std::size_t>(edge.to)] == 0) order.push_back(edge.to);
  }
  UNDERTEXT_CHECK(order.size() == states_.size());
  std::vector<State> sorted(states_.size());
  for (std::size_t i = order.size(); i-- > 0;) {
    State& state = sorted[i] = std::move(states_[static_cast<std::size_t>(order[i])]);
    state.texts = state.final ? 1 : 0;
    for (Edge& edge : state.edges) {
      edge.to = place[static_cast<std::size_t>(edge.to)];
      state.texts += sorted[static_cast<std::size_t>(edge.to)].texts;
    }
  }
  states_ = std::move(sorted);
}

double RecordPattern::log2_size() const {
  return std::log2(size());
}

std::string RecordPattern::sample(Random& random) const {
  std::string text;
  for (const State* state = &states_.front();;) {
    // Forced characters draw nothing.
    double left = state->edges.size() + (state->final ? 1 : 0) > 1 ? random.uniform() * state->texts : 0;
    if (state->final && (left < 1 || state->edges.empty())) return text;
    if (state->final) left -= 1;
    const Edge* chosen = &state->edges.back();  // rounding may leave a little at the end
    for (const Edge& edge : state->edges) {
      const double texts = states_[static_cast<std::size_t>(edge.to)].texts;
      if (left < texts) {
        chosen = &edge;
        break;
      }
      left -= texts;
    }
    append_utf8(text, chosen->character);
    state = &states_[static_cast<std::size_t>(chosen->to)];
  }
}

bool RecordPattern::matches(std::string_view text) const {
  if (find_invalid_utf8(text)) return false;
  const State* state = &states_.front();
  for (const char32_t character : code_points(text)) {
    const auto edge = std::ranges::lower_bound(state->edges, character, {}, &Edge::character);
    if (edge == state->edges.end() || edge->character != character) return false;
    state = &states_[static_cast<std::size_t>(edge->to)];
  }
  return state->final;
}

std::vector<std::string> RecordPattern::all() const {
  struct Place {
    std::int32_t state;
    std::string text;
  };
  std::vector<std::string> texts;
  std::vector<Place> open = {{0, ""}};  // a stack, so that texts come in order
  while (!open.empty()) {
    const Place place = std::move(open.back());
    open.pop_back();
    const State& state = states_[static_cast<std::size_t>(place.state)];
    if (state.final) texts.push_back(place.text);
    for (auto edge = state.edges.rbegin(); edge != state.edges.rend(); ++edge) {
      open.push_back({edge->to, place.text});
      append_utf8(open.back().text, edge->character);
    }
  }
  return texts;
}

}  // namespace undertext
