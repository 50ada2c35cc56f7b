#include "attacks/decepticons/match_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attacks/decepticons/correlation.h"
#include "base/threads.h"
#include "base/transport.h"
#include "models/gemm.h"

namespace undertext {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// 1 over the length of each token's centred entries: with it the raw embedding gives correlations with rows
// that are centred themselves, and need not be copied.
std::vector<float> inverse_lengths(const EmbeddingView& embedding) {
  constexpr std::int64_t kBlock = 1024, kLanes = 16;
  std::vector<float> inverse(at(embedding.rows));
  parallel_for((embedding.rows + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const auto n = static_cast<float>(embedding.last - embedding.first);
    for (std::int64_t t = block * kBlock; t < std::min(embedding.rows, (block + 1) * kBlock); ++t) {
      const float* row = embedding.data + t * embedding.cols;
      float sums[kLanes] = {}, squares[kLanes] = {};  // separate, so that the compiler may use vectors
      std::int64_t j = embedding.first;
      for (; j + kLanes <= embedding.last; j += kLanes)
        for (std::int64_t k = 0; k < kLanes; ++k) {
          sums[k] += row[j + k];
          squares[k] += row[j + k] * row[j + k];
        }
      for (; j < embedding.last; ++j) {
        sums[0] += row[j];
        squares[0] += row[j] * row[j];
      }
      const float sum = std::accumulate(sums, sums + kLanes, 0.0f);
      const float length = std::accumulate(squares, squares + kLanes, 0.0f) - sum * sum / n;
      inverse[at(t)] = length > 0 ? 1 / std::sqrt(length) : 0;
    }
  });
  return inverse;
}

// The token of the whole vocabulary that each of some rows is most like, and how much.
struct Best {
  Token token = 0;
  float correlation = -2;
};

std::vector<Best> best_of_all(const Matrix<float>& rows, const EmbeddingView& embedding) {
  constexpr std::int64_t kRows = 64, kTokens = 512;
  const std::vector<float> inverse = inverse_lengths(embedding);
  std::vector<Best> best(at(rows.rows));
  parallel_for((rows.rows + kRows - 1) / kRows, [&](std::int64_t block) {
    const std::int64_t first = block * kRows, count = std::min(kRows, rows.rows - first);
    std::vector<float> products(at(kRows * kTokens));
    for (std::int64_t t = 0; t < embedding.rows; t += kTokens) {
      const std::int64_t tokens = std::min(kTokens, embedding.rows - t);
      gemm(CblasNoTrans, CblasTrans, count, tokens, rows.cols, 1, rows.row(first), rows.cols,
           embedding.data + t * embedding.cols + embedding.first, embedding.cols, 0, products.data(),
           kTokens);
      for (std::int64_t i = 0; i < count; ++i) {
        float* product = products.data() + i * kTokens;
        float most = -2;
        for (std::int64_t k = 0; k < tokens; ++k) {
          product[k] *= inverse[at(t + k)];
          most = std::max(most, product[k]);
        }
        Best& own = best[at(first + i)];
        if (most <= own.correlation) continue;
        const auto place = std::find(product, product + tokens, most) - product;
        own = {static_cast<Token>(t + place), most};
      }
    }
  });
  return best;
}

}  // namespace

std::vector<Token> match_tokens(const Matrix<float>& contents, const TokenBag& bag,
                                const EmbeddingView& embedding, float whole) {
  Matrix<float> known(static_cast<std::int64_t>(bag.ids.size()), contents.cols);
  for (std::int64_t i = 0; i < known.rows; ++i) {
    const float* row = embedding.data + bag.ids[at(i)] * embedding.cols;
    std::copy(row + embedding.first, row + embedding.last, known.row(i));
    standardise(known.row(i), known.cols);
  }
  Matrix<float> costs = correlations(contents, known);
  for (float& value : costs.data) value = -value;
  const std::vector<std::int64_t> column = solve_transport(costs, bag.counts);

  std::vector<Token> tokens(at(contents.rows));
  std::vector<std::int64_t> doubtful;  // all others cannot be beaten: correlations end at 1
  for (std::int64_t i = 0; i < contents.rows; ++i) {
    tokens[at(i)] = bag.ids[at(column[at(i)])];
    if (whole > 0 && -costs(i, column[at(i)]) < whole) doubtful.push_back(i);
  }
  if (doubtful.empty()) return tokens;
  Matrix<float> rows(static_cast<std::int64_t>(doubtful.size()), contents.cols);
  for (std::int64_t i = 0; i < rows.rows; ++i)
    std::copy_n(contents.row(doubtful[at(i)]), contents.cols, rows.row(i));
  const std::vector<Best> best = best_of_all(rows, embedding);
  for (std::size_t k = 0; k < doubtful.size(); ++k) {
    const std::int64_t i = doubtful[k];
    if (whole * best[k].correlation > -costs(i, column[at(i)])) tokens[at(i)] = best[k].token;
  }
  return tokens;
}

}  // namespace undertext
