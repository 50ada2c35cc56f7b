#include "attacks/decepticons/superposed_state.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/blas.h"
#include "base/error.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

constexpr double kEdge = 1e-5;  // what single precision may move a measurement

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

Matrix<float> matrix_of(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.to(at::kFloat).contiguous();
  Matrix<float> matrix(plain.size(0), plain.size(1));
  std::copy_n(plain.data_ptr<float>(), plain.numel(), matrix.data.begin());
  return matrix;
}

// Columns [first, first + count), each row less its mean.
Matrix<float> centred(const Matrix<float>& rows, std::int64_t first, std::int64_t count) {
  Matrix<float> result(rows.rows, count);
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    double mean = 0;
    for (std::int64_t j = 0; j < count; ++j) mean += rows(i, first + j) / static_cast<double>(count);
    for (std::int64_t j = 0; j < count; ++j) result(i, j) = static_cast<float>(rows(i, first + j) - mean);
  }
  return result;
}

Matrix<double> products(const Matrix<float>& a, const Matrix<float>& b) {
  Matrix<double> result(a.rows, b.rows);
  multiply(widened(a), Transpose::no, widened(b), Transpose::yes, result);
  return result;
}

std::vector<double> sums_of(const Matrix<float>& rows) {
  std::vector<double> sums;
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < rows.cols; ++j) sum += rows(i, j);
    sums.push_back(sum);
  }
  return sums;
}

// The bin of a value, found from a table of where evenly spaced values fall.
class BinFinder {
 public:
  explicit BinFinder(const std::vector<double>& edges) : edges_(edges) {
    low_ = edges[1];  // the first edge lies far below all values
    cell_ = (edges.back() - low_) / static_cast<double>(kCells);
    for (std::size_t i = 0; i <= kCells; ++i)
      start_.push_back(std::upper_bound(edges.begin(), edges.end(), low_ + cell_ * static_cast<double>(i)) -
                       edges.begin() - 1);
  }
  std::int64_t operator()(double value) const {
    if (value < low_) return 0;
    const double place = (value - low_) / cell_;
    std::int64_t bin = place < static_cast<double>(kCells) ? start_[static_cast<std::size_t>(place)]
                                                           : static_cast<std::int64_t>(edges_.size()) - 1;
    while (bin + 1 < static_cast<std::int64_t>(edges_.size()) && edges_[at(bin + 1)] <= value) ++bin;
    while (bin > 0 && edges_[at(bin)] > value) --bin;
    return bin;
  }

 private:
  static constexpr std::size_t kCells = 1 << 15;
  const std::vector<double>& edges_;
  std::vector<std::int64_t> start_;
  double low_, cell_;
};

}  // namespace

SuperposedState::SuperposedState(const Transformer& model, const DecepticonKey& key, std::vector<Token> ids,
                                 std::int64_t length)
    : ids_(std::move(ids)),
      length_(length),
      width_(model.config().width),
      code_(key.code),
      norm_epsilon_(model.config().norm_epsilon) {
  UNDERTEXT_CHECK(model.config().kind == TransformerKind::plain);
  const NamedTensors& parameters = model.parameters();
  const at::Tensor index = at::tensor(std::vector<std::int64_t>(ids_.begin(), ids_.end()));
  full_tokens_ = matrix_of(parameters.at(model.names().token_embedding).index_select(0, index));
  full_places_ = matrix_of(parameters.at(model.names().position_embedding).narrow(0, 0, length));
  token_rows_ = centred(full_tokens_, code_, block());
  place_rows_ = centred(full_places_, code_, block());
  token_products_ = products(token_rows_, token_rows_);
  mixed_products_ = products(token_rows_, place_rows_);
  place_products_ = products(place_rows_, place_rows_);
  token_sum_ = sums_of(full_tokens_);
  place_sum_ = sums_of(full_places_);

  find_anchors(model);
  for (std::int64_t l = 0; l < model.config().layers; ++l) {
    const LayerViews::Affine inner = layer_views(model, parameters, at(l)).inner;
    for (std::int64_t i = 0; i < model.config().inner; ++i)
      edges_.push_back(-static_cast<double>(inner.bias[i].item<float>()) / key.scale);
  }
  const at::Tensor rows =
      layer_views(model, parameters, 0).inner.weight.to(at::kDouble).mean(0).div_(key.scale);
  const auto measure = [&](const Matrix<float>& full) {
    std::vector<double> measured;
    for (std::int64_t i = 0; i < full.rows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < width_; ++j) sum += full(i, j) * rows.data_ptr<double>()[j];
      measured.push_back(sum);
    }
    return measured;
  };
  measured_token_ = measure(full_tokens_);
  measured_place_ = measure(full_places_);
  find_candidates();

  const at::Tensor output = parameters.at(model.names().output_weight);
  output_ = widened(matrix_of(output.index_select(0, index)));
  at::Tensor share = at::ones({output.size(0)}, at::kFloat) / static_cast<double>(output.size(0));
  if (!model.names().output_bias.empty()) share = at::softmax(parameters.at(model.names().output_bias), 0);
  const at::Tensor mean = at::mv(output.t(), share);
  const at::Tensor away = output - mean;
  const at::Tensor spread = at::mm(away.t(), away * share.unsqueeze(1)).to(at::kDouble).contiguous();
  const at::Tensor middle = mean.to(at::kDouble).contiguous();
  output_mean_.assign(middle.data_ptr<double>(), middle.data_ptr<double>() + width_);
  output_spread_ = Matrix<double>(width_, width_);
  std::copy_n(spread.data_ptr<double>(), spread.numel(), output_spread_.data.begin());
}

// The query that all places share favours the first place, by its position; but tokens weigh in too.
void SuperposedState::find_anchors(const Transformer& model) {
  const LayerViews views = layer_views(model, model.parameters(), 0);
  const at::Tensor query =
      at::mv(views.key.weight.t().to(at::kDouble), views.query.bias.to(at::kDouble)).contiguous();
  const auto drawn = [&](const Matrix<float>& rows, std::int64_t i) {
    double sum = 0;
    for (std::int64_t j = 0; j < width_; ++j) sum += rows(i, j) * query.data_ptr<double>()[j];
    return sum;
  };
  double weakest = std::numeric_limits<double>::infinity(), strongest = -weakest;
  for (std::int64_t t = 0; t < tokens(); ++t) {
    weakest = std::min(weakest, drawn(full_tokens_, t));
    strongest = std::max(strongest, drawn(full_tokens_, t));
  }
  const Matrix<float> weight = matrix_of(views.value.weight.narrow(0, 0, code_));
  for (std::int64_t p = 0; p < length_; ++p) {
    if (drawn(full_places_, p) + strongest < drawn(full_places_, 0) + weakest) continue;
    for (std::int64_t t = 0; t < tokens(); ++t) anchors_.push_back({t, p});
  }
  codes_ = Matrix<double>(static_cast<std::int64_t>(anchors_.size()), code_);
  for (std::int64_t a = 0; a < codes_.rows; ++a) {
    double sum = 0, squares = 0;
    for (std::int64_t c = 0; c < code_; ++c) {
      double entry = views.value.bias[c].item<float>();
      for (std::int64_t j = 0; j < width_; ++j)
        entry +=
            static_cast<double>(weight(c, j)) * (static_cast<double>(full_tokens_(anchors_[at(a)].token, j)) +
                                                 full_places_(anchors_[at(a)].place, j));
      codes_(a, c) = entry;
      sum += entry;
      squares += entry * entry;
    }
    code_sum_.push_back(sum);
    code_squares_.push_back(squares);
  }
}

// Of all entries, without a code. Rows less their means have the products; what the means bring is added
// back, and the last entry, which no probe measures.
double SuperposedState::squares(std::int64_t token, std::int64_t place) const {
  const double last = static_cast<double>(full_tokens_(token, width_ - 1)) + full_places_(place, width_ - 1);
  const double sum = token_sum_[at(token)] + place_sum_[at(place)] - last;
  return product(token, place, token, place) + sum * sum / static_cast<double>(block()) + last * last;
}

double SuperposedState::bare_mean(std::int64_t token, std::int64_t place) const {
  return (token_sum_[at(token)] + place_sum_[at(place)]) / static_cast<double>(width_);
}

double SuperposedState::mean(std::int64_t token, std::int64_t place, std::int64_t anchor) const {
  return bare_mean(token, place) + code_sum_[at(anchor)] / static_cast<double>(width_);
}

double SuperposedState::deviation(std::int64_t token, std::int64_t place, std::int64_t anchor) const {
  const double middle = mean(token, place, anchor);
  return std::sqrt((squares(token, place) + code_squares_[at(anchor)]) / static_cast<double>(width_) -
                   middle * middle + norm_epsilon_);
}

// A sequence's anchor changes what a norm divides by: much by its place, little by its token. So a token at a
// place may fall into any of a few neighbouring bins for each place of an anchor.
void SuperposedState::find_candidates() {
  struct Range {
    double least, most, low_sum, high_sum;
  };
  std::vector<Range> ranges;
  for (std::size_t a = 0; a < anchors_.size(); a += at(tokens())) {
    const auto [least, most] = std::minmax_element(&code_squares_[a], &code_squares_[a] + tokens());
    const auto [low, high] = std::minmax_element(&code_sum_[a], &code_sum_[a] + tokens());
    ranges.push_back({*least, *most, *low, *high});
  }
  // From small to large, so that the bins of a token at a place go one way.
  std::ranges::sort(ranges, {}, &Range::least);
  const auto d = static_cast<double>(width_);
  const BinFinder bin_of(edges_);
  struct Placed {
    std::int64_t bin;
    Candidate candidate;
  };
  std::vector<Placed> placed;
  for (std::int64_t t = 0; t < tokens(); ++t) {
    for (std::int64_t p = 0; p < length_; ++p) {
      const double whole = squares(t, p), sum = token_sum_[at(t)] + place_sum_[at(p)];
      std::int64_t lowest = bins(), highest = -1;  // of the bins reached so far
      for (const Range& range : ranges) {
        const double low = (sum + range.low_sum) / d, high = (sum + range.high_sum) / d;
        const double mean_most = std::max(low * low, high * high);
        const double mean_least = low * high < 0 ? 0 : std::min(low * low, high * high);
        const double small = std::sqrt((whole + range.least) / d - mean_most + norm_epsilon_);
        const double large = std::sqrt((whole + range.most) / d - mean_least + norm_epsilon_);
        const double one = undivided(t, p) / small, other = undivided(t, p) / large;
        const std::int64_t first = bin_of(std::min(one, other) - kEdge),
                           last = bin_of(std::max(one, other) + kEdge);
        for (std::int64_t bin = first; bin <= last; ++bin)
          if (bin < lowest || bin > highest)
            placed.push_back({bin, {static_cast<std::int32_t>(t), static_cast<std::int32_t>(p)}});
        lowest = std::min(lowest, first);
        highest = std::max(highest, last);
      }
    }
  }
  first_of_bin_.assign(at(bins()) + 1, 0);
  for (const Placed& one : placed) ++first_of_bin_[at(one.bin) + 1];
  for (std::size_t bin = 1; bin < first_of_bin_.size(); ++bin) first_of_bin_[bin] += first_of_bin_[bin - 1];
  candidates_.resize(placed.size());
  std::vector<std::size_t> next(first_of_bin_.begin(), first_of_bin_.end() - 1);
  for (const Placed& one : placed) candidates_[next[at(one.bin)]++] = one.candidate;
}

std::span<const SuperposedState::Candidate> SuperposedState::candidates(std::int64_t bin) const {
  const std::size_t first = first_of_bin_[at(bin)];
  return {candidates_.data() + first, first_of_bin_[at(bin) + 1] - first};
}

bool SuperposedState::in_bin(std::int64_t bin, std::int64_t token, std::int64_t place,
                             std::int64_t anchor) const {
  const double value = measured(token, place, anchor);
  const double high = bin + 1 < bins() ? edges_[at(bin) + 1] : std::numeric_limits<double>::infinity();
  return value > edges_[at(bin)] - kEdge && value < high + kEdge;
}

std::vector<float> SuperposedState::input(std::int64_t token, std::int64_t place, std::int64_t anchor) const {
  const double middle = mean(token, place, anchor), divisor = deviation(token, place, anchor);
  std::vector<float> result(at(width_));
  for (std::int64_t j = 0; j < width_; ++j) {
    const double code = j < code_ ? codes_(anchor, j) : 0;
    const double value = static_cast<double>(full_tokens_(token, j)) + full_places_(place, j) + code;
    result[at(j)] = static_cast<float>((value - middle) / divisor);
  }
  return result;
}

// On its way back a loss passes norms that take off its mean, and its part along what was read.
double SuperposedState::Losses::tail_of(const double* direction) const {
  const auto d = static_cast<double>(input_.size());
  double sum = 0, along = 0;
  for (std::size_t j = 0; j < input_.size(); ++j) {
    sum += direction[j];
    along += direction[j] * input_[j];
  }
  return direction[input_.size() - 1] - sum / d - input_.back() * along / d;
}

SuperposedState::Losses::Losses(const SuperposedState& state, const std::vector<float>& input)
    : state_(state), input_(input.begin(), input.end()) {
  std::vector<double> expected = state.output_mean_;
  for (std::size_t j = 0; j < expected.size(); ++j)
    for (std::size_t k = 0; k < input_.size(); ++k)
      expected[j] +=
          state.output_spread_(static_cast<std::int64_t>(j), static_cast<std::int64_t>(k)) * input_[k];
  expected_ = tail_of(expected.data());
}

double SuperposedState::Losses::of(std::int64_t next) const {
  return expected_ - tail_of(state_.output_.row(next));
}

}  // namespace undertext
