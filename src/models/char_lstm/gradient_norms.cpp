#include "models/char_lstm/gradient_norms.h"

#include <algorithm>
#include <vector>

#include "models/gemm.h"

namespace undertext {
namespace {

double sum_of_squares(const float* x, std::int64_t n) {
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += static_cast<double>(x[i]) * x[i];
  return total;
}

// Rows of one sentence, of all its passes, one after the other.
struct OwnRows {
  std::int64_t rows = 0, width = 0;
  std::vector<float> data;  // (rows, width)

  const float* row(std::int64_t r) const { return data.data() + r * width; }
};

// from(pass): the matrix (rows, width) of a pass; null: leaves that pass out.
template <typename From>
OwnRows gather(const TrainingPiece& piece, std::int64_t place, std::int64_t width, From from) {
  OwnRows result;
  result.width = width;
  const StepRows& rows = piece.rows();
  for (const PassGradient& pass : piece.passes()) {
    const float* x = from(pass);
    if (!x) continue;
    for (std::int64_t step = 0; step < rows.length(place); ++step) {
      const float* row = x + (rows.begin[step] + place) * width;
      result.data.insert(result.data.end(), row, row + width);
      ++result.rows;
    }
  }
  return result;
}

// |sum_t d_t x_t'|^2, the squared norm of a matrix's gradient. Either the matrix itself, or, for fewer steps
// than it has rows and columns, sum_{t, s} (d_t . d_s) (x_t . x_s).
double squared_norm_of_product(const OwnRows& d, const OwnRows& x) {
  const std::int64_t n = d.rows;
  if (n * (d.width + x.width) >= d.width * x.width) {
    std::vector<float> whole(static_cast<std::size_t>(d.width * x.width));
    gemm(CblasTrans, CblasNoTrans, d.width, x.width, n, 1, d.data.data(), d.width, x.data.data(), x.width, 0,
         whole.data(), x.width);
    return sum_of_squares(whole.data(), d.width * x.width);
  }
  std::vector<float> of_d(static_cast<std::size_t>(n * n)), of_x(of_d.size());
  gemm(CblasNoTrans, CblasTrans, n, n, d.width, 1, d.data.data(), d.width, d.data.data(), d.width, 0,
       of_d.data(), n);
  gemm(CblasNoTrans, CblasTrans, n, n, x.width, 1, x.data.data(), x.width, x.data.data(), x.width, 0,
       of_x.data(), n);
  double total = 0;
  for (std::size_t i = 0; i < of_d.size(); ++i) total += static_cast<double>(of_d[i]) * of_x[i];
  return std::max(0.0, total);
}

// |sum_t d_t|^2, the squared norm of a bias's gradient.
double squared_norm_of_sum(const OwnRows& d) {
  std::vector<double> sums(static_cast<std::size_t>(d.width), 0.0);
  for (std::int64_t r = 0; r < d.rows; ++r)
    for (std::int64_t j = 0; j < d.width; ++j) sums[j] += d.row(r)[j];
  double total = 0;
  for (const double sum : sums) total += sum * sum;
  return total;
}

// Of the embedding's gradient: each token's row is the sum of d_t over the steps that read it.
double squared_norm_by_token(const OwnRows& d, const std::vector<Token>& token) {
  std::vector<std::int64_t> order(token.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::ranges::stable_sort(order, {}, [&](std::int64_t i) { return token[i]; });
  double total = 0;
  for (std::size_t from = 0; from < order.size();) {
    OwnRows same;
    same.width = d.width;
    const Token now = token[order[from]];
    for (; from < order.size() && token[order[from]] == now; ++from, ++same.rows)
      same.data.insert(same.data.end(), d.row(order[from]), d.row(order[from]) + d.width);
    total += squared_norm_of_sum(same);
  }
  return total;
}

class SentenceNorm {
 public:
  SentenceNorm(const TrainingCall& call, const TrainingPiece& piece, std::int64_t place,
               const CharLstmNames& names, const std::set<std::string>& wanted)
      : weights_(call.weights), piece_(piece), place_(place), names_(names), wanted_(wanted) {
    for (std::size_t pass = 0; pass < piece.passes().size(); ++pass)
      for (std::int64_t step = 0; step < piece.rows().length(place); ++step)
        token_.push_back(piece.rows().token[piece.rows().begin[step] + place]);
  }

  double square() const {
    double total = of_decoder();
    for (std::size_t l = 0; l < names_.layers.size(); ++l) total += of_layer(l);
    return total;
  }

 private:
  bool wants(const std::string& name) const { return wanted_.contains(name); }

  double of_decoder() const {
    const OwnRows d =
        gather(piece_, place_, weights_.vocabulary, [](const PassGradient& pass) { return pass.d_logits; });
    double total = 0;
    if (wants(names_.output_weight))
      total += squared_norm_of_product(
          d, gather(piece_, place_, weights_.units, [](const PassGradient& pass) { return pass.out; }));
    if (wants(names_.output_bias)) total += squared_norm_of_sum(d);
    return total;
  }

  double of_layer(std::size_t l) const {
    const LstmLayerNames& names = names_.layers[l];
    const OwnRows d = gates(l);
    double total = 0;
    if (wants(names.weight_ih)) total += squared_norm_of_product(d, l == 0 ? first_inputs() : inputs(l));
    if (wants(names.weight_hh))
      total += squared_norm_of_product(
          d, gather(piece_, place_, weights_.units,
                    [l](const PassGradient& pass) { return pass.pass->h_before(l); }));
    const int biases = (wants(names.bias_ih) ? 1 : 0) + (wants(names.bias_hh) ? 1 : 0);
    if (biases > 0) total += biases * squared_norm_of_sum(d);
    if (l == 0 && wants(names_.embedding)) total += of_embedding(d);
    return total;
  }

  // In the order of panels, as weights_ has it.
  OwnRows gates(std::size_t l) const {
    OwnRows result;
    result.width = 4 * weights_.units;
    const StepRows& rows = piece_.rows();
    for (const PassGradient& pass : piece_.passes())
      for (std::int64_t step = 0; step < rows.length(place_); ++step, ++result.rows)
        for (std::int64_t panel = 0; panel < weights_.units / kLanes; ++panel) {
          const float* own = pass.pass->gates(l).at(panel, rows.begin[step] + place_);
          result.data.insert(result.data.end(), own, own + kPanel);
        }
    return result;
  }

  OwnRows inputs(std::size_t l) const {
    return gather(piece_, place_, weights_.layers[l].inputs,
                  [l](const PassGradient& pass) { return pass.pass->inputs(l); });
  }

  // What the first layer read: the tokens' embeddings where a pass read those.
  OwnRows first_inputs() const {
    OwnRows result;
    result.width = weights_.embedding;
    const StepRows& rows = piece_.rows();
    for (const PassGradient& pass : piece_.passes())
      for (std::int64_t step = 0; step < rows.length(place_); ++step, ++result.rows) {
        const std::int64_t row = rows.begin[step] + place_;
        const float* x = pass.pass->inputs(0) ? pass.pass->inputs(0) + row * result.width
                                              : weights_.token_embedding(rows.token[row]);
        result.data.insert(result.data.end(), x, x + result.width);
      }
    return result;
  }

  // d: the first layer's gates.
  double of_embedding(const OwnRows& d) const {
    OwnRows out;
    out.rows = d.rows;
    out.width = weights_.embedding;
    Buffer buffer;
    float* d_inputs = buffer.floats(d.rows * out.width);
    product(d.rows, rows_of(d.data.data(), d.width), weights_.layers[0].input_back, d_inputs, out.width);
    // Where dropout or an adversary stood between, the pass knows better.
    const StepRows& rows = piece_.rows();
    const std::int64_t steps = rows.length(place_);
    for (std::size_t pass = 0; pass < piece_.passes().size(); ++pass)
      if (const float* own = piece_.passes()[pass].d_embedding)
        for (std::int64_t step = 0; step < steps; ++step)
          std::copy_n(own + (rows.begin[step] + place_) * out.width, out.width,
                      d_inputs + (static_cast<std::int64_t>(pass) * steps + step) * out.width);
    out.data.assign(d_inputs, d_inputs + d.rows * out.width);
    return squared_norm_by_token(out, token_);
  }

  const PackedWeights& weights_;
  const TrainingPiece& piece_;
  std::int64_t place_;
  const CharLstmNames& names_;
  const std::set<std::string>& wanted_;
  std::vector<Token> token_;  // of the sentence's rows in all passes
};

}  // namespace

double squared_gradient_norm(const TrainingCall& call, const TrainingPiece& piece, std::int64_t place,
                             const CharLstmNames& names, const std::set<std::string>& wanted) {
  return SentenceNorm(call, piece, place, names, wanted).square();
}

}  // namespace undertext
