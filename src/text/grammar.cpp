#include "text/grammar.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"

namespace undertext {
namespace {

constexpr int kDeepest = 64;  // no sentence nests rules deeper, unless they go in circles

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Cuts the part of text before `mark` off and returns it; all of it when there is no mark.
std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// Cuts a leading weight such as "4*" off and returns it; 1 when there is none.
std::uint64_t take_weight(std::string_view& text, char mark) {
  std::uint64_t weight = 1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, weight);
  if (error != std::errc() || end == last || *end != mark) return 1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return weight;
}

bool sounds_like_a_vowel(std::string_view word) {
  for (const std::string_view exception : {"uni", "use", "one", "euro"}) {
    if (word.starts_with(exception)) return false;
  }
  for (const std::string_view exception : {"hour", "honest"}) {
    if (word.starts_with(exception)) return true;
  }
  if (word == "8" || word == "11" || word == "18") return true;
  return std::string_view("aeiou").find(word.front()) != std::string_view::npos;
}

std::string tidy(std::string_view text) {
  std::string out;
  std::string_view before;
  while (!text.empty()) {
    const std::string_view word = take_until(text, ' ');
    if (word.empty()) continue;
    if (before == "a" && sounds_like_a_vowel(word)) out += 'n';
    if (!out.empty()) out += ' ';
    out += word;
    before = word;
  }
  return out;
}

}  // namespace

Grammar::Grammar(const std::vector<std::string_view>& sources) {
  for (const std::string_view source : sources) parse(source);
  for (Rule& rule : rules_) {
    UNDERTEXT_CHECK(!rule.alternatives.empty());
    for (Alternative& alternative : rule.alternatives) resolve(alternative.pieces);
  }
}

void Grammar::parse(std::string_view source) {
  bool in_rule = false;
  while (!source.empty()) {
    const std::string_view line = take_until(source, '\n');
    const std::string_view content = trim(line);
    if (content.empty() || content.front() == '#') continue;
    if (line.front() == ' ') {
      UNDERTEXT_CHECK(in_rule);
      parse_alternatives(content, rules_.back());
      continue;
    }
    UNDERTEXT_CHECK(content.back() == ':');
    const std::string name(content.substr(0, content.size() - 1));
    const bool is_new = indices_.emplace(name, rules_.size()).second;
    UNDERTEXT_CHECK(is_new);
    names_.push_back(name);
    rules_.emplace_back();
    in_rule = true;
  }
}

void Grammar::parse_alternatives(std::string_view line, Rule& rule) {
  const std::uint64_t line_weight = take_weight(line, ':');
  while (!line.empty()) {
    std::string_view text = trim(take_until(line, '|'));
    const std::uint64_t weight = line_weight * take_weight(text, '*');
    UNDERTEXT_CHECK(weight > 0);
    text = trim(text);
    UNDERTEXT_CHECK(!text.empty());
    rule.alternatives.push_back({weight, parse_pieces(text == "_" ? std::string_view() : text)});
    rule.total_weight += weight;
  }
}

std::vector<Grammar::Piece> Grammar::parse_pieces(std::string_view text) {
  std::vector<Piece> pieces;
  while (!text.empty()) {
    const char mark = text.front();
    if (mark == '{' || mark == '[') {
      const char closing = mark == '{' ? '}' : ']';
      UNDERTEXT_CHECK(text.find(closing) != std::string_view::npos);
      text.remove_prefix(1);
      const std::string_view inside = take_until(text, closing);
      if (mark == '{') {
        pieces.push_back({Piece::Kind::kRule, std::string(inside), 0, {}});
      } else {
        pieces.push_back({Piece::Kind::kOptional, "", 0, parse_pieces(inside)});
      }
      continue;
    }
    const std::size_t end = std::min(text.find_first_of("{["), text.size());
    pieces.push_back({Piece::Kind::kText, std::string(text.substr(0, end)), 0, {}});
    text.remove_prefix(end);
  }
  return pieces;
}

void Grammar::resolve(std::vector<Piece>& pieces) {
  for (Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::kRule) piece.rule = index_of(piece.text);
    resolve(piece.optionals);
  }
}

std::size_t Grammar::index_of(std::string_view rule) const {
  const auto place = indices_.find(std::string(rule));
  if (place == indices_.end()) bug(__FILE__, __LINE__, fmt::format("grammar has a rule '{}'", rule).c_str());
  return place->second;
}

std::string Grammar::expand(std::string_view rule, Random& random) const {
  std::string text;
  expand_rule(index_of(rule), random, 0, text);
  return tidy(text);
}

void Grammar::expand_rule(std::size_t rule, Random& random, int depth, std::string& out) const {
  UNDERTEXT_CHECK(depth < kDeepest);
  std::uint64_t draw = random.below(rules_[rule].total_weight);
  for (const Alternative& alternative : rules_[rule].alternatives) {
    if (draw < alternative.weight) {
      expand_pieces(alternative.pieces, random, depth + 1, out);
      return;
    }
    draw -= alternative.weight;
  }
}

void Grammar::expand_pieces(const std::vector<Piece>& pieces, Random& random, int depth,
                            std::string& out) const {
  for (const Piece& piece : pieces) {
    switch (piece.kind) {
      case Piece::Kind::kText:
        out += piece.text;
        break;
      case Piece::Kind::kRule:
        expand_rule(piece.rule, random, depth, out);
        break;
      case Piece::Kind::kOptional:
        if (random.below(3) == 0) expand_pieces(piece.optionals, random, depth, out);
        break;
    }
  }
}

std::vector<std::string> Grammar::unreachable_from(const std::vector<std::string>& roots) const {
  std::vector<bool> reached(rules_.size(), false);
  std::vector<std::size_t> waiting;
  waiting.reserve(roots.size());
  for (const std::string& root : roots) waiting.push_back(index_of(root));
  const auto visit = [&](const auto& self, const std::vector<Piece>& pieces) -> void {
    for (const Piece& piece : pieces) {
      if (piece.kind == Piece::Kind::kRule) waiting.push_back(piece.rule);
      self(self, piece.optionals);
    }
  };
  while (!waiting.empty()) {
    const std::size_t rule = waiting.back();
    waiting.pop_back();
    if (reached[rule]) continue;
    reached[rule] = true;
    for (const Alternative& alternative : rules_[rule].alternatives) visit(visit, alternative.pieces);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (!reached[i]) names.push_back(names_[i]);
  }
  return names;
}

}  // namespace undertext
