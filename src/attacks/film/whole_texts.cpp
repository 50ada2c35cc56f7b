#include "attacks/film/whole_texts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "attacks/film/step_set.h"
#include "attacks/nnls.h"

namespace undertext {
namespace {

constexpr double kRidge = 1e-9;
constexpr float kSure = 0.5f;         // of what follows
constexpr std::size_t kEnd = 4;       // tokens, of a text
constexpr double kWhole = 0.15;       // as near to a whole number counts as one
constexpr std::ptrdiff_t kTried = 5;  // tokens after each text, by the model and by the gradient
// Of the gradient: more is missing than ends, and what one occurrence weighs is not to be had from the rest.
constexpr double kMuchLeft = 0.03;
constexpr double kThere = 0.6;  // of one occurrence, and no further from a whole number than the rest of one

// Only the end is missing.
bool nearly_ends(const Sentence& part, const Sentence& whole) {
  return part.size() <= whole.size() && whole.size() - part.size() <= kEnd &&
         std::equal(part.begin(), part.end(), whole.begin());
}

// Texts that share an occurrence with their own beginnings become these, and what follows is to be found
// again; or, where that cannot be, the longest of them.
std::map<Sentence, double> whole_counts(std::span<const Sentence> texts, std::span<const double> weight,
                                        double one, bool longest) {
  std::vector<std::pair<Sentence, double>> sorted;  // a text comes after its beginnings
  for (std::size_t i = 0; i < texts.size(); ++i) sorted.push_back({texts[i], weight[i] / one});
  std::ranges::sort(sorted);
  std::map<Sentence, double> result;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i + 1;
    double total = sorted[i].second;
    bool whole = std::abs(total - std::round(total)) < kWhole;
    for (; end < sorted.size() && nearly_ends(sorted[i].first, sorted[end].first); ++end) {
      total += sorted[end].second;
      whole = whole && std::abs(sorted[end].second - std::round(sorted[end].second)) < kWhole;
    }
    if (whole) end = i + 1, total = sorted[i].second;
    if (const double count = std::round(total); count > 0 || end == i + 1)
      result[sorted[longest ? end - 1 : i].first] += std::max(1.0, count);
    i = end;
  }
  return result;
}

// A gradient of the shapes of another, without numbers.
TailGradient zeros_like(const TailGradient& gradient) {
  TailGradient result;
  for (std::size_t i = 0; i < kDyads; ++i) result[i] = Matrix<double>(gradient[i].rows, gradient[i].cols);
  return result;
}

double dot(const TailGradient& a, const TailGradient& b) {
  double total = 0;
  for (std::size_t i = 0; i < kDyads; ++i)
    for (std::size_t j = 0; j < a[i].data.size(); ++j) total += a[i].data[j] * b[i].data[j];
  return total;
}

// The contexts that the texts end with.
TailContexts ends_of(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                     std::span<const Sentence> texts) {
  TransformerReader reader(model, true);
  std::vector<StateId> from, ends;
  std::vector<Token> tokens;
  for (const Sentence& text : texts) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      from.push_back(i == 0 ? -1 : static_cast<StateId>(tokens.size()) - 1);
      tokens.push_back(text[i]);
    }
    ends.push_back(static_cast<StateId>(tokens.size()) - 1);
  }
  reader.extend(from, tokens);
  return tail.contexts(reader, ends);
}

// What the model is surest of after a text, and how sure.
std::pair<float, Token> expected_after(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                                       const Sentence& text) {
  if (std::ssize(text) >= model->config().positions) return {0.0f, Token{0}};
  const TailContexts end = ends_of(model, tail, std::span(&text, 1));
  return {end.probability[0], end.likeliest[0]};
}

// Texts that do not end as the others do go on as the model is sure that they do, if that leads to an end.
std::map<Sentence, double> expected_whole(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                                          const std::map<Sentence, double>& counts,
                                          const std::vector<char>& read) {
  std::vector<Sentence> texts;
  for (const auto& [text, count] : counts) texts.push_back(text);
  const std::set<Token> last = last_tokens(texts, read);
  std::map<Sentence, double> result;
  for (const auto& [text, count] : counts) {
    Sentence longer = text;
    while (!last.contains(longer.back()) && longer.size() < text.size() + kEnd) {
      const auto [sure, token] = expected_after(model, tail, longer);
      if (sure < kSure) break;
      longer.push_back(token);
    }
    result[last.contains(longer.back()) ? longer : text] += count;
  }
  return result;
}

// What may follow each end: the likeliest tokens and those that the gradient speaks for most.
StepSet possible_steps(const Tail& tail, const Filter& filter, TailContexts ends) {
  StepSet set;
  const std::int64_t d = tail.width(), v = tail.words();
  const Sides sides = filter.responses(filter.left(ends));
  const Matrix<float> direction = tail.back(ends, sides[0], sides[1], sides[2]);
  for (std::int64_t c = 0; c < ends.size(); ++c) {
    std::vector<std::pair<double, Token>> likely, responding;
    for (std::int64_t k = 0; k < v; ++k) {
      const auto token = static_cast<Token>(k);
      const float* word = tail.word(token);
      double logit = tail.bias(token), response = 0, distance = 1e-30;
      for (std::int64_t j = 0; j < d; ++j) {
        const double off = ends.expected(c, j) - word[j];
        logit += static_cast<double>(ends.h(c, j)) * word[j];
        response += static_cast<double>(direction(c, j)) * off;
        distance += off * off;
      }
      likely.push_back({-logit, token});
      responding.push_back({-response / std::sqrt(distance), token});
    }
    std::set<Token> chosen;
    for (auto* by : {&likely, &responding}) {
      const auto end = by->begin() + std::min<std::ptrdiff_t>(kTried, std::ssize(*by));
      std::partial_sort(by->begin(), end, by->end());
      for (auto at = by->begin(); at != end; ++at) chosen.insert(at->second);
    }
    for (const Token token : chosen)
      set.rows.push_back(static_cast<std::int32_t>(c)), set.tokens.push_back(token);
  }
  set.contexts = std::move(ends);
  set.steps = tail.steps(set.contexts, set.rows, set.tokens);
  return set;
}

}  // namespace

std::set<Token> last_tokens(std::span<const Sentence> texts, const std::vector<char>& read) {
  std::set<Token> result;
  std::map<Token, std::size_t> last;
  for (const Sentence& text : texts) ++last[text.back()];
  for (const auto& [token, times] : last)
    if (read.empty() ? 2 * times > texts.size() : read[static_cast<std::size_t>(token)] == 0)
      result.insert(token);
  return result;
}

WholeTexts whole_texts(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                       const TailGradient& gradient, std::span<const Sentence> texts,
                       std::span<const double> weight, const WholeTextsOptions& options) {
  std::map<Sentence, double> counts = whole_counts(texts, weight, options.weight, false);
  const double all = squared_norm(gradient);
  WholeTexts result;
  std::set<Sentence> ended;  // nothing follows these
  const auto list = [&] {
    result.texts.clear(), result.count.clear();
    for (const auto& [text, count] : counts) result.texts.push_back(text), result.count.push_back(count);
  };
  for (bool ends = true;;) {
    list();
    const StepSet set = steps_of(model, tail, result.texts);
    TailGradient sum = zeros_like(gradient), residual = gradient;
    add_steps(set.contexts, set.rows, set.steps, step_weights(set, result.count), sum);
    result.weight =
        options.fixed || !ends ? options.weight : dot(sum, gradient) / std::max(dot(sum, sum), 1e-300);
    for (std::size_t i = 0; i < kDyads; ++i)
      for (std::size_t j = 0; j < sum[i].data.size(); ++j)
        residual[i].data[j] -= result.weight * sum[i].data[j];
    result.left = std::sqrt(squared_norm(residual) / all);
    if (!ends || !(result.weight > 0)) return result;
    if (result.left > kMuchLeft) {
      counts = expected_whole(model, tail, whole_counts(texts, weight, options.weight, true), options.read);
      ends = false;
      continue;
    }
    const std::set<Token> last = last_tokens(result.texts, options.read);
    std::vector<Sentence> open;
    for (const Sentence& text : result.texts)
      if (!ended.contains(text) && std::ssize(text) < options.longest && !last.contains(text.back()))
        open.push_back(text);
    if (open.empty()) break;
    const Filter filter = Filter::plain(residual);
    const StepSet next = possible_steps(tail, filter, ends_of(model, tail, open));
    const Sides left = filter.left(next.contexts);
    std::vector<double> response = responses_of(tail, filter, next, left);
    for (double& value : response) value /= result.weight;
    const std::vector<double> found =
        solve_nnls(gram_of_steps(left, next.rows, filter.right(next.steps)), response, kRidge);
    std::vector<double> best(open.size(), 0.0);
    std::vector<Token> token(open.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      if (const auto c = static_cast<std::size_t>(next.rows[i]); found[i] > best[c])
        best[c] = found[i], token[c] = next.tokens[i];
    for (std::size_t c = 0; c < open.size(); ++c) {
      const double count = counts.at(open[c]), more = std::min(count, std::round(best[c]));
      if (best[c] < kThere || std::abs(best[c] - std::round(best[c])) > 1 - kThere || more < 1) {
        ended.insert(open[c]);
        continue;
      }
      if ((counts[open[c]] -= more) == 0) counts.erase(open[c]);
      open[c].push_back(token[c]);
      counts[open[c]] += more;
    }
  }
  if (!options.mean) return result;
  // A mean of twice the same is the same.
  std::int64_t common = 0;
  for (const auto& [text, count] : counts) common = std::gcd(common, std::llround(count));
  for (auto& [text, count] : counts) count /= static_cast<double>(common);
  result.weight *= static_cast<double>(common);
  std::vector<Sentence> copies;
  double steps = 0;
  for (const auto& [text, count] : counts) {
    for (double i = 0; i < count; ++i) copies.push_back(text);
    steps += count * static_cast<double>(text.size() - 1);
  }
  add_expected_ends(model, tail, std::llround(1 / result.weight - steps), copies);
  counts.clear();
  for (const Sentence& text : copies) ++counts[text];
  list();
  return result;
}

void add_expected_ends(const std::shared_ptr<const Transformer>& model, const Tail& tail,
                       std::int64_t missing, std::vector<Sentence>& texts) {
  constexpr std::int64_t kMostMissing = 64;
  if (missing <= 0 || missing > kMostMissing || texts.empty()) return;
  // Each text's end is read anew when it grows; they are few.
  std::vector<std::pair<float, Token>> next;
  for (const Sentence& text : texts) next.push_back(expected_after(model, tail, text));
  for (; missing > 0; --missing) {
    const auto best = static_cast<std::size_t>(std::ranges::max_element(next) - next.begin());
    if (next[best].first < kSure) return;
    texts[best].push_back(next[best].second);
    next[best] = expected_after(model, tail, texts[best]);
  }
}

}  // namespace undertext
