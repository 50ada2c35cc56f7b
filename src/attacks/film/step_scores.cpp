#include "attacks/film/step_scores.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/quantile.h"
#include "base/threads.h"
#include "models/gemm.h"

namespace undertext {
namespace {

constexpr std::int64_t kRowsAtOnce = 128;  // contexts whose responses to all words are held at once
constexpr std::array<double, 3> kOff = {0.4, 1, 2.5};  // estimated energies are so far off at most, usually
constexpr double kOnlyAtEnds = -6;  // logarithm of how rarely a token occurs at the ends of texts alone

double dot(const float* a, const float* b, std::int64_t n) {
  double total = 0;
  for (std::int64_t j = 0; j < n; ++j) total += static_cast<double>(a[j]) * b[j];
  return total;
}

}  // namespace

StepScores::StepScores(const Tail& tail, const Filter& filter, const OwnText& own,
                       std::span<const Token> words, std::vector<char> read)
    : tail_(tail),
      filter_(filter),
      read_(std::move(read)),
      words_(words.begin(), words.end()),
      rows_(std::ssize(words), tail.width()),
      word_energy_(words.size()) {
  const std::int64_t d = tail.width(), v = std::ssize(words_), n = own.contexts.size();
  for (std::int64_t k = 0; k < v; ++k)
    std::copy_n(tail.word(words_[static_cast<std::size_t>(k)]), d, rows_.row(k));
  white_words_ = white(rows_);
  for (std::int64_t k = 0; k < v; ++k)
    word_energy_[static_cast<std::size_t>(k)] =
        static_cast<float>(dot(white_words_.row(k), white_words_.row(k), d));

  const std::int64_t some = std::min<std::int64_t>(n, 256);
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> which;
  std::vector<Token> tokens;
  for (std::int64_t i = 0; i < some; ++i) {
    rows.push_back(static_cast<std::int32_t>(i * n / some));
    which.push_back((i * 7919) % v);
    tokens.push_back(words_[static_cast<std::size_t>(which.back())]);
  }
  const Sides left = filter.left(own.contexts);
  const Matrix<float> expected = white(own.contexts.expected);
  const std::vector<double> energy =
      energies(left, rows, filter.right(tail.steps(own.contexts, rows, tokens)));
  std::vector<double> ratio;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float *a = left[0].row(rows[i]), *x = expected.row(rows[i]), *w = white_words_.row(which[i]);
    double distance = 0;
    for (std::int64_t j = 0; j < d; ++j) distance += (x[j] - w[j]) * (x[j] - w[j]);
    const double rstd = own.contexts.final(rows[i], 1);
    ratio.push_back(energy[i] / (dot(a, a, left[0].cols) * rstd * rstd * distance + 1e-300));
  }
  energy_ratio_ = quantile(std::move(ratio), 0.5);
}

// The energy of a step is |left|^2 |right|^2. Through the final norm, whose projection takes little away, the
// right side is about (expected - W_k) times the norm's weight, over the context's deviation.
Matrix<float> StepScores::white(Matrix<float> x) const {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.cols; ++j) x(i, j) *= tail_.final_norm_weight()[j];
  return filter_.right_of_delta(x);
}

Matrix<float> StepScores::directions(const TailContexts& contexts, const Sides& left) const {
  const Sides sides = filter_.responses(left);
  return tail_.back(contexts, sides[0], sides[1], sides[2]);
}

std::vector<ScoredStep> StepScores::best(const TailContexts& contexts, double w, std::int64_t most,
                                         double prior) const {
  const std::int64_t n = contexts.size(), d = tail_.width(), v = std::ssize(words_);
  most = std::min(most, v);
  const Sides left = filter_.left(contexts);
  const Matrix<float> direction = directions(contexts, left);
  const Matrix<float> expected = white(contexts.expected);
  struct Choice {
    Token token;
    double energy;  // about
    bool hopeful;   // whatever its energy
  };
  std::vector<std::vector<Choice>> chosen(static_cast<std::size_t>(n));
  std::vector<double> of_read(static_cast<std::size_t>(n),
                              0.0);  // log of what the model gives the tokens read
  const std::int64_t at_once = std::min(n, kRowsAtOnce);
  Matrix<float> logits(at_once, v), along(at_once, v), near(at_once, v);
  for (std::int64_t first = 0; first < n; first += kRowsAtOnce) {
    const std::int64_t count = std::min(kRowsAtOnce, n - first);
    const auto product = [&](const Matrix<float>& x, const float* words, Matrix<float>& y) {
      parallel_gemm(CblasNoTrans, CblasTrans, count, v, d, 1, x.row(first), d, words, d, 0, y.data.data(), v);
    };
    product(contexts.h, rows_.data.data(), logits);
    product(direction, rows_.data.data(), along);
    product(expected, white_words_.data.data(), near);
    parallel_for(count, [&](std::int64_t r) {
      const std::int64_t c = first + r;
      const double base = dot(direction.row(c), contexts.expected.row(c), d);
      const double own = dot(expected.row(c), expected.row(c), d);
      const double rstd = contexts.final(c, 1);
      const double size = energy_ratio_ * rstd * rstd * dot(left[0].row(c), left[0].row(c), left[0].cols);
      // By evidence and prediction together, by how far the response stands out, and by prediction alone: the
      // energies are estimates here.
      const double log_sum = contexts.log_sum[static_cast<std::size_t>(c)];
      if (!read_.empty()) {
        double total = 1e-30;
        for (std::int64_t k = 0; k < v; ++k)
          if (const Token word = words_[static_cast<std::size_t>(k)]; is_read(word))
            total += std::exp(logits(r, k) + tail_.bias(word) - log_sum);
        of_read[static_cast<std::size_t>(c)] = std::log(total);
      }
      const double given_read = of_read[static_cast<std::size_t>(c)];
      std::array<std::vector<std::pair<float, std::int64_t>>, 3> value;
      std::vector<double> energy(static_cast<std::size_t>(v)), log_probability(energy.size());
      for (auto& list : value) list.resize(static_cast<std::size_t>(v));
      for (std::int64_t k = 0; k < v; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const Token word = words_[at];
        const double distance = std::max(0.0, own - 2.0 * near(r, k) + word_energy_[at]);
        const ScoredStep step{static_cast<std::int32_t>(c), word, base - along(r, k), size * distance, 0};
        energy[at] = step.energy;
        log_probability[at] =
            logits(r, k) + tail_.bias(word) - log_sum + (is_read(word) ? -given_read : kOnlyAtEnds);
        const auto log_p = static_cast<float>(log_probability[at]);
        const auto deviations = static_cast<float>(step.response / std::sqrt(step.energy + 1e-30));
        value[0][at] = {w > 0 ? static_cast<float>(step.evidence(w) + prior * log_p) : deviations, k};
        value[1][at] = {is_read(word) ? deviations : deviations + static_cast<float>(kOnlyAtEnds), k};
        value[2][at] = {log_p, k};
      }
      const auto hopeful = [&](std::size_t k) {
        if (w == 0) return true;
        const auto column = static_cast<std::int64_t>(k);
        ScoredStep step{0, 0, base - along(r, column), 0, 0};
        const double log_p = prior * log_probability[k];
        return std::ranges::any_of(kOff, [&](double factor) {
          step.energy = factor * energy[k];
          return step.evidence(w) + log_p > kHopeless;
        });
      };
      std::vector<Choice>& mine = chosen[static_cast<std::size_t>(c)];
      const std::array<std::int64_t, 3> share = {(most + 1) / 2, (most + 3) / 4, (most + 3) / 4};
      for (std::size_t which = 0; which < value.size(); ++which) {
        const auto end = value[which].begin() + std::min(share[which], v);
        std::partial_sort(value[which].begin(), end, value[which].end(), [](const auto& x, const auto& y) {
          return x.first != y.first ? x.first > y.first : x.second < y.second;
        });
        for (auto at = value[which].begin(); at != end; ++at) {
          const auto k = static_cast<std::size_t>(at->second);
          if (std::ranges::find(mine, words_[k], &Choice::token) == mine.end())
            mine.push_back({words_[k], energy[k], hopeful(k)});
        }
      }
    });
  }
  // A true energy takes as long as reading a token: only for steps that may be followed.
  std::vector<std::int32_t> rows, measured_rows;
  std::vector<Token> tokens, measured;
  std::vector<double> energy;
  std::vector<std::size_t> at_measured;
  for (std::int64_t c = 0; c < n; ++c)
    for (const Choice& choice : chosen[static_cast<std::size_t>(c)]) {
      if (choice.hopeful) {
        at_measured.push_back(rows.size());
        measured_rows.push_back(static_cast<std::int32_t>(c));
        measured.push_back(choice.token);
      }
      rows.push_back(static_cast<std::int32_t>(c));
      tokens.push_back(choice.token);
      energy.push_back(choice.energy);
    }
  const std::vector<double> true_energy =
      energies(left, measured_rows, filter_.right(tail_.steps(contexts, measured_rows, measured)));
  for (std::size_t i = 0; i < at_measured.size(); ++i) energy[at_measured[i]] = true_energy[i];
  std::vector<ScoredStep> result(rows.size());
  parallel_for(static_cast<std::int64_t>(rows.size()), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int32_t c = rows[at];
    const float* word = tail_.word(tokens[at]);
    result[at] = {c, tokens[at],
                  dot(direction.row(c), contexts.expected.row(c), d) - dot(direction.row(c), word, d),
                  energy[at],
                  dot(contexts.h.row(c), word, d) + tail_.bias(tokens[at]) -
                      contexts.log_sum[static_cast<std::size_t>(c)] +
                      (is_read(tokens[at]) ? -of_read[static_cast<std::size_t>(c)] : kOnlyAtEnds)};
  });
  return result;
}

}  // namespace undertext
