#include "attacks/last_words.h"

#include <algorithm>
#include <cmath>

#include "base/blas.h"
#include "base/cholesky.h"
#include "base/error.h"

namespace undertext {
namespace {

constexpr std::int64_t kPrefixes = 3000;
constexpr int kDepths = 6;         // words in each of them
constexpr float kSharpness = .6f;  // of the model's own choice of the next word: a little wilder than it is
constexpr double kAnyWord = .2;    // of the words are drawn from all alike
constexpr double kLeastSpread = 1e-5;  // variance within classes
constexpr float kImpossible = -1e9f;

// A word (by index) drawn by these logits, which are overwritten.
std::int64_t draw(float* logits, std::int64_t count, Random& random) {
  const float top = *std::max_element(logits, logits + count);
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    logits[k] = std::exp(kSharpness * (logits[k] - top));
    sum += static_cast<double>(logits[k]);
  }
  double left = random.uniform() * sum;
  std::int64_t k = 0;
  while (k + 1 < count && (left -= static_cast<double>(logits[k])) > 0) ++k;
  return k;
}

}  // namespace

LastWords::LastWords(std::unique_ptr<PrefixReader> reader, const OutputLayer& layer, Token start,
                     std::span<const Token> words, Seed seed) {
  const std::int64_t count = static_cast<std::int64_t>(words.size()), width = reader->width();
  UNDERTEXT_CHECK(count > 0);
  Matrix<float> weight(count, width + 1), logits(kPrefixes, count);
  for (std::int64_t k = 0; k < count; ++k)
    std::copy_n(layer.weight().row(words[k]), width + 1, weight.row(k));

  Random random(seed);
  std::vector<StateId> states(kPrefixes, -1);
  std::vector<Token> tokens(kPrefixes, start);
  // What each prefix has read: [0] the last word, [1] the one before; -1: nothing.
  std::vector<std::vector<std::int32_t>> read(kBack, std::vector<std::int32_t>(kPrefixes, -1));
  read[0].assign(kPrefixes, static_cast<std::int32_t>(count));
  std::vector<std::vector<std::int32_t>> classes(kBack);
  Matrix<float> h(kPrefixes, width + 1, 1.0f), all(kPrefixes * (kDepths + 1), width);
  for (int depth = 0; depth <= kDepths; ++depth) {
    const StateId first = reader->extend(states, tokens);
    for (std::int64_t i = 0; i < kPrefixes; ++i) {
      states[i] = first + static_cast<StateId>(i);
      std::copy_n(reader->hidden(states[i]), width, h.row(i));
      std::copy_n(h.row(i), width, all.row(depth * kPrefixes + i));
    }
    for (int back = 0; back < kBack; ++back)
      classes[back].insert(classes[back].end(), read[back].begin(), read[back].end());
    if (depth == kDepths) break;
    reader->keep(states);
    multiply(h, Transpose::no, weight, Transpose::yes, logits);
    for (std::int64_t i = 0; i < kPrefixes; ++i) {
      states[i] = static_cast<StateId>(i);
      for (int back = kBack - 1; back > 0; --back) read[back][i] = read[back - 1][i];
      const std::int64_t word =
          random.uniform() < kAnyWord
              ? static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count)))
              : draw(logits.row(i), count, random);
      read[0][i] = static_cast<std::int32_t>(word);
      tokens[i] = words[word];
    }
  }
  // What the last word explains is taken away before the one before it is asked for.
  for (int back = 0; back < kBack; ++back) {
    back_.push_back(learn(all, classes[back], count + 1));
    take_means(back_[back], classes[back], all);
  }
}

LastWords::Discriminant LastWords::learn(const Matrix<float>& h, std::span<const std::int32_t> classes,
                                         std::int64_t count) {
  const std::int64_t n = h.rows, d = h.cols;
  Discriminant result{Matrix<float>(count, d), Matrix<float>(count, d),
                      std::vector<float>(static_cast<std::size_t>(count), kImpossible)};
  Matrix<double> mean(count, d);
  std::vector<std::int64_t> members(static_cast<std::size_t>(count), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    if (classes[i] < 0) continue;
    ++members[classes[i]];
    for (std::int64_t j = 0; j < d; ++j) mean(classes[i], j) += h(i, j);
  }
  for (std::int64_t c = 0; c < count; ++c)
    for (std::int64_t j = 0; j < d; ++j) {
      mean(c, j) /= static_cast<double>(std::max<std::int64_t>(1, members[c]));
      result.mean(c, j) = static_cast<float>(mean(c, j));
    }
  Matrix<double> rest(n, d), covariance(d, d);
  for (std::int64_t i = 0; i < n; ++i)
    if (classes[i] >= 0)
      for (std::int64_t j = 0; j < d; ++j) rest(i, j) = h(i, j) - mean(classes[i], j);
  multiply(rest, Transpose::yes, rest, Transpose::no, covariance);
  for (double& value : covariance.data) value /= static_cast<double>(n);
  for (std::int64_t j = 0; j < d; ++j) covariance(j, j) += kLeastSpread;
  UNDERTEXT_CHECK(cholesky(covariance));
  Matrix<double> direction = mean;
  cholesky_solve(covariance, direction);
  for (std::int64_t c = 0; c < count; ++c) {
    double norm = 0;
    for (std::int64_t j = 0; j < d; ++j) {
      norm += mean(c, j) * direction(c, j);
      result.direction(c, j) = static_cast<float>(direction(c, j));
    }
    if (members[c] > 0) result.offset[c] = static_cast<float>(-norm / 2);
  }
  return result;
}

void LastWords::take_means(const Discriminant& discriminant, std::span<const std::int32_t> classes,
                           Matrix<float>& h) {
  for (std::int64_t i = 0; i < h.rows; ++i)
    if (classes[i] >= 0)
      for (std::int64_t j = 0; j < h.cols; ++j) h(i, j) -= discriminant.mean(classes[i], j);
}

Matrix<float> LastWords::scores(const Matrix<float>& h,
                                std::span<const std::vector<std::int32_t>> after) const {
  UNDERTEXT_CHECK(after.size() < back_.size());
  Matrix<float> rest = h;
  for (std::size_t back = 0; back < after.size(); ++back) take_means(back_[back], after[back], rest);
  const Discriminant& discriminant = back_[after.size()];
  Matrix<float> scores(h.rows, discriminant.mean.rows);
  multiply(rest, Transpose::no, discriminant.direction, Transpose::yes, scores);
  for (std::int64_t i = 0; i < scores.rows; ++i)
    for (std::int64_t c = 0; c < scores.cols; ++c) scores(i, c) += discriminant.offset[c];
  return scores;
}

}  // namespace undertext
