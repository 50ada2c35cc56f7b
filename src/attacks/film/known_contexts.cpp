#include "attacks/film/known_contexts.h"

#include <algorithm>
#include <cmath>

#include "base/blas.h"
#include "base/cholesky.h"
#include "base/quantile.h"
#include "base/threads.h"

namespace undertext {
namespace {

constexpr double kRidge = 1e-12;      // of the mean diagonal, for contexts that are nearly alike
constexpr std::int64_t kAtOnce = 64;  // contexts whose steps to all tokens are held
constexpr double kOneToken = 0.98;    // squared cosine from which a context is followed by one token alone
constexpr double kLeastGain = 0.5;    // of what a token that does follow would explain
constexpr double kAboveNoise = 10;    // squared, of what usually is left
constexpr int kMostTokens = 1000;     // after one context

// d_c of each context: (n, D).
Matrix<double> sums_after(const TailContexts& contexts, const Matrix<double>& gradient) {
  const std::int64_t n = contexts.size(), f = contexts.a.cols;
  Matrix<double> a(n, f + 1, 1.0);
  for (std::int64_t c = 0; c < n; ++c) std::copy_n(contexts.a.row(c), f, a.row(c));
  Matrix<double> moments = gram(a);
  double trace = 0;
  for (std::int64_t c = 0; c < n; ++c) trace += moments(c, c);
  for (std::int64_t c = 0; c < n; ++c) moments(c, c) += kRidge * trace / static_cast<double>(n);
  if (!cholesky(moments)) return {};
  Matrix<double> by_columns(gradient.cols, n);
  multiply(gradient, Transpose::yes, a, Transpose::yes, by_columns);
  cholesky_solve(moments, by_columns);
  return transposed(by_columns);
}

// For some contexts and all tokens: <rest_c, step> and |step|^2.
struct AllSteps {
  Matrix<float> response, energy;  // (n, V)
};

class Steps {
 public:
  Steps(const Tail& tail, const TailContexts& contexts) : tail_(tail), contexts_(contexts) {
    const std::int64_t v = tail.words(), d = tail.width();
    const float* gamma = tail.final_norm_weight();
    words_ = Matrix<float>(v, d);
    square_.resize(static_cast<std::size_t>(v));
    sum_.resize(static_cast<std::size_t>(v));
    parallel_for(v, [&](std::int64_t k) {
      double square = 0, sum = 0;
      const float* word = tail.word(static_cast<Token>(k));
      std::copy_n(word, d, words_.row(k));
      for (std::int64_t j = 0; j < d; ++j) {
        const double scaled = static_cast<double>(gamma[j]) * word[j];
        square += scaled * scaled;
        sum += scaled;
      }
      square_[static_cast<std::size_t>(k)] = square;
      sum_[static_cast<std::size_t>(k)] = sum;
    });
  }

  // Of contexts first to last; rest: (n, D), what is left of their sums.
  AllSteps to_all(std::int64_t first, std::int64_t last, const Matrix<float>& rest) const {
    const std::int64_t n = last - first, d = tail_.width(), v = tail_.words();
    const float* gamma = tail_.final_norm_weight();
    const Matrix<float> direction = tail_.back(contexts_, rest, {}, {});
    Matrix<float> by_square(n, d), by_slope(n, d), by_rest(n, d);
    struct Own {
      double square = 0, sum = 0, slope = 0, response = 0;
    };
    std::vector<Own> own(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t c = first + i;
      Own& o = own[static_cast<std::size_t>(i)];
      const float mean = contexts_.final(c, 0), rstd = contexts_.final(c, 1);
      for (std::int64_t j = 0; j < d; ++j) {
        const double e = contexts_.expected(c, j), scaled = gamma[j] * e;
        by_square(i, j) = static_cast<float>(gamma[j] * scaled);
        by_slope(i, j) = gamma[j] * (contexts_.last(c, j) - mean) * rstd;
        by_rest(i, j) = direction(c, j);
        o.square += scaled * scaled;
        o.sum += scaled;
        o.slope += by_slope(i, j) * e;
        o.response += direction(c, j) * e;
      }
    }
    AllSteps result{Matrix<float>(n, v), Matrix<float>(n, v)};
    Matrix<float> slope(n, v);
    multiply(by_rest, Transpose::no, words_, Transpose::yes, result.response);
    multiply(by_square, Transpose::no, words_, Transpose::yes, result.energy);
    multiply(by_slope, Transpose::no, words_, Transpose::yes, slope);
    parallel_for(n, [&](std::int64_t i) {
      const Own& o = own[static_cast<std::size_t>(i)];
      const double rstd = contexts_.final(first + i, 1), width = static_cast<double>(d);
      for (std::int64_t k = 0; k < v; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double square = o.square - 2 * result.energy(i, k) + square_[at];
        const double sum = o.sum - sum_[at], along = o.slope - slope(i, k);
        result.energy(i, k) =
            static_cast<float>(rstd * rstd * std::max(square - (sum * sum + along * along) / width, 1e-30));
        result.response(i, k) = static_cast<float>(o.response - result.response(i, k));
      }
    });
    return result;
  }

 private:
  const Tail& tail_;
  const TailContexts& contexts_;
  Matrix<float> words_;               // (V, D)
  std::vector<double> square_, sum_;  // of each word, scaled as the final norm does
};

Matrix<float> narrowed(const Matrix<double>& m) {
  Matrix<float> out(m.rows, m.cols);
  std::ranges::transform(m.data, out.data.begin(), [](double x) { return static_cast<float>(x); });
  return out;
}

double squared_norm(const Matrix<double>& m, std::int64_t row) {
  double total = 0;
  for (std::int64_t j = 0; j < m.cols; ++j) total += m(row, j) * m(row, j);
  return total;
}

// From the contexts that one token follows: the median of what their steps weigh.
double weight_of_one(const Steps& steps, const Matrix<double>& sums) {
  std::vector<double> weights;
  const Matrix<float> rest = narrowed(sums);
  for (std::int64_t first = 0; first < sums.rows; first += kAtOnce) {
    const std::int64_t last = std::min(sums.rows, first + kAtOnce);
    const AllSteps all = steps.to_all(first, last, rest);
    for (std::int64_t i = 0; i < last - first; ++i) {
      const double size = squared_norm(sums, first + i);
      double best = 0, weight = 0;
      for (std::int64_t k = 0; k < all.response.cols; ++k) {
        const double response = all.response(i, k), energy = all.energy(i, k);
        const double square = response > 0 ? response * response / energy : 0;
        if (square > best) best = square, weight = response / energy;
      }
      if (best > kOneToken * size) weights.push_back(weight);
    }
  }
  return weights.empty() ? 0 : quantile(std::move(weights), 0.5);
}

class Decoder {
 public:
  Decoder(const Tail& tail, const TailContexts& contexts, const Steps& steps, Matrix<double> sums, double w)
      : tail_(tail), contexts_(contexts), steps_(steps), rest_(std::move(sums)), w_(w) {
    result_.weight = w;
    result_.counts.resize(static_cast<std::size_t>(contexts.size()));
    result_.found.resize(result_.counts.size());
  }

  // Takes tokens that are known off the sums.
  void take(const std::vector<TokenCounts>& known) {
    std::vector<std::int32_t> rows;
    std::vector<Token> tokens;
    for (std::size_t c = 0; c < known.size(); ++c)
      for (const auto& [token, count] : known[c])
        for (std::int64_t i = 0; i < count; ++i)
          rows.push_back(static_cast<std::int32_t>(c)), tokens.push_back(token);
    take(rows, tokens);
  }

  // Token by token, that which explains most, for as long as it explains as much as one that follows does,
  // and more than `noise`.
  void search(double noise) {
    for (std::int64_t first = 0; first < rest_.rows; first += kAtOnce) {
      const std::int64_t last = std::min(rest_.rows, first + kAtOnce);
      for (int round = 0; round < kMostTokens; ++round) {
        const AllSteps all = steps_.to_all(first, last, narrowed(rest_));
        std::vector<std::int32_t> rows;
        std::vector<Token> tokens;
        for (std::int64_t i = 0; i < last - first; ++i) {
          double best = noise;
          Token token = -1;
          for (std::int64_t k = 0; k < all.response.cols; ++k) {
            const double one = w_ * w_ * all.energy(i, k), gain = 2 * w_ * all.response(i, k) - one;
            if (gain > best && gain > kLeastGain * one) best = gain, token = static_cast<Token>(k);
          }
          if (token >= 0) rows.push_back(static_cast<std::int32_t>(first + i)), tokens.push_back(token);
        }
        if (rows.empty()) break;
        for (std::size_t i = 0; i < rows.size(); ++i)
          result_.found[static_cast<std::size_t>(rows[i])].push_back(tokens[i]);
        take(rows, tokens);
      }
    }
  }

  // Squared, of the sums: what usually is left.
  double noise() const {
    std::vector<double> left;
    for (std::int64_t c = 0; c < rest_.rows; ++c) left.push_back(squared_norm(rest_, c));
    return quantile(std::move(left), 0.5);
  }
  FollowingTokens result() && { return std::move(result_); }

 private:
  void take(const std::vector<std::int32_t>& rows, const std::vector<Token>& tokens) {
    if (rows.empty()) return;
    const TailSteps taken = tail_.steps(contexts_, rows, tokens);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ++result_.counts[static_cast<std::size_t>(rows[i])][tokens[i]];
      for (std::int64_t j = 0; j < rest_.cols; ++j)
        rest_(rows[i], j) -= w_ * taken.delta(static_cast<std::int64_t>(i), j);
    }
  }

  const Tail& tail_;
  const TailContexts& contexts_;
  const Steps& steps_;
  Matrix<double> rest_;  // (n, D): what is left of the sums
  double w_;
  FollowingTokens result_;
};

}  // namespace

FollowingTokens tokens_after(const Tail& tail, const TailContexts& contexts, const Matrix<double>& gradient,
                             const std::vector<TokenCounts>& known, double weight) {
  FollowingTokens result;
  const Matrix<double> sums = sums_after(contexts, gradient);
  if (sums.rows == 0) return result;
  const Steps steps(tail, contexts);
  result.weight = weight > 0 ? weight : weight_of_one(steps, sums);
  if (result.weight == 0) return result;
  // Once to see what is left when all is told, and again.
  double noise = 0;
  for (int pass = 0; pass < 2; ++pass) {
    Decoder decoder(tail, contexts, steps, sums, result.weight);
    decoder.take(known);
    decoder.search(noise);
    noise = kAboveNoise * decoder.noise();
    result = std::move(decoder).result();
  }
  return result;
}

}  // namespace undertext
