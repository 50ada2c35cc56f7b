#include "attacks/decepticons/placing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/quantile.h"

namespace undertext {
namespace {

constexpr double kFits = 3e-3;             // of a row's length: what a decoded mixture may leave
constexpr double kEmpty = 4e-3;            // of one token's row: what an explained row may hold
constexpr double kNearlyEmpty = 0.03;      // the same under noise that leaves no doubt
constexpr double kAmountFits = 2e-3;       // of an amount: how well weights and bias agree on it
constexpr double kCodeSpread = 0.01;       // of the codes' spread: how far codes of one sequence lie apart
constexpr double kNoisyCode = 3;           // deviations that noise may move a code by
constexpr double kEdge = 3e-5;             // what single precision may move a measurement
constexpr std::size_t kMostWays = 20'000;  // of giving the members of a row their sequences

}  // namespace

Placing::Placing(const ExactState& state, ObservedRows& rows, std::int64_t sequences, double noise)
    : state_(state),
      rows_(rows),
      sequences_(sequences),
      decoder_(state),
      codes_(state),
      labels_(state),
      members_(static_cast<std::size_t>(rows.count())) {
  std::vector<double> norms;
  for (std::int64_t i = 0; i < rows_.count(); ++i) norms.push_back(norm_of(i));
  // Most rows that hold anything hold one or two tokens, whose amounts differ by no more than twice.
  const double largest = quantile(norms, 1);
  const double width = std::sqrt(static_cast<double>(state.blocks().width));
  std::erase_if(norms, [&](double norm) { return norm < 1e-3 * largest || norm < 2 * noise * width; });
  const double scale = quantile(norms, 0.5);
  if (scale == 0) return;
  // In these units squares of single precision neither vanish nor overflow.
  for (float& value : rows_.rows.data) value = static_cast<float>(value / scale);
  for (double& value : rows_.amounts) value /= scale;
  noise_ = noise / scale;
  empty_ = std::max(kEmpty, 1.3 * noise_ * width);
  amount_fits_ = std::max(kAmountFits, 3 * noise_ * row_length());
  edge_ = std::max(kEdge, noise_ * row_length() / 10);
  for (const float value : rows_.rows.data) held_ += static_cast<double>(value) * value;
}

// Of a token's and its place's, undivided and without a code; the rows are in units of such a one.
double Placing::row_length() const {
  return std::sqrt(2 * kRowLength * kRowLength);
}

double Placing::norm_of(std::int64_t row) const {
  double squares = 0;
  for (std::int64_t j = 0; j < state_.blocks().width; ++j)
    squares += static_cast<double>(rows_.rows(row, j)) * rows_.rows(row, j);
  return std::sqrt(squares);
}

void Placing::decode(const std::vector<std::int64_t>& which, int most) {
  std::vector<std::int64_t> open;
  for (const std::int64_t row : which) {
    members_[static_cast<std::size_t>(row)].clear();
    if (norm_of(row) > empty_) open.push_back(row);
  }
  std::vector<std::vector<Member>> found = decoder_.decode(rows_.rows, open, most, kFits, noise_);
  for (std::size_t i = 0; i < open.size(); ++i)
    members_[static_cast<std::size_t>(open[i])] = std::move(found[i]);
}

void Placing::add_code(const double* code) {
  codes_.add(code);
  placed_.resize(static_cast<std::size_t>(codes_.count() * state_.length()));
}

// Rows of one token show its code as it is. Codes that agree are one sequence's.
void Placing::find_codes() {
  const std::int64_t v = state_.blocks().code;
  std::vector<std::vector<double>> seen;
  std::vector<double> size;
  for (std::int64_t row = 0; row < rows_.count(); ++row) {
    const std::vector<Member>& members = members_[static_cast<std::size_t>(row)];
    if (members.size() != 1 || members[0].position < state_.window() - 1) continue;
    const double amount = members[0].amount;
    std::vector<double> code(static_cast<std::size_t>(v));
    for (std::int64_t j = 0; j < v; ++j) code[static_cast<std::size_t>(j)] = rows_.rows(row, j) / amount;
    const double by_bias = rows_.amounts[static_cast<std::size_t>(row)];
    if (std::abs(by_bias / (amount * state_.deviation(code.data())) - 1) > amount_fits_) continue;
    seen.push_back(std::move(code));
    size.push_back(std::abs(amount));
  }
  if (seen.empty()) return;
  std::vector<double> mean(static_cast<std::size_t>(v)), distances;
  for (const std::vector<double>& code : seen)
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += code[j] / static_cast<double>(seen.size());
  for (const std::vector<double>& code : seen)
    distances.push_back(code_distance(code.data(), mean.data(), v));
  // One sequence's codes do not spread at all: its code's own size counts then.
  double length = 0;
  for (const double value : mean) length += value * value;
  const double noise = kNoisyCode * noise_ * row_length() * std::sqrt(static_cast<double>(v));
  code_tolerance_ =
      std::max(kCodeSpread * std::max(quantile(distances, 0.5), 0.1 * std::sqrt(length)), noise);

  std::vector<std::size_t> order(seen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
  std::vector<char> taken(seen.size());
  struct Group {
    std::vector<double> code;
    std::size_t members;
  };
  std::vector<Group> groups;
  for (const std::size_t leader : order) {
    if (taken[leader]) continue;
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (!taken[i] && code_distance(seen[i].data(), seen[leader].data(), v) < code_tolerance_)
        near.push_back(i);
    Group group{std::vector<double>(static_cast<std::size_t>(v)), near.size()};
    for (std::size_t j = 0; j < group.code.size(); ++j) {
      std::vector<double> values;
      for (const std::size_t i : near) values.push_back(seen[i][j]);
      group.code[j] = quantile(std::move(values), 0.5);
    }
    for (const std::size_t i : near) taken[i] = 1;
    groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(groups, [](const Group& a, const Group& b) { return a.members > b.members; });
  for (const Group& group : groups) {
    if (sequences_ > 0 && codes_.count() == sequences_) break;
    if (group.members < 2 && codes_.count() > 0) break;
    add_code(group.code.data());
  }
}

bool Placing::in_bin(std::int64_t row, std::int64_t token, std::int64_t sequence,
                     std::int64_t position) const {
  const std::int64_t layer = rows_.layer_of(row), bin = rows_.bin_of(row);
  const double value = codes_.measured(layer, token, sequence, position);
  return value > state_.low(layer, bin) - edge_ && value < state_.high(layer, bin) + edge_;
}

// The sequences that each member of a row can belong to: those that have no token there yet and whose
// measurement of this one falls into the row's bin.
std::vector<std::vector<std::int64_t>> Placing::candidates(std::int64_t row,
                                                           const std::vector<Member>& members) const {
  std::vector<std::vector<std::int64_t>> result(members.size());
  for (std::size_t m = 0; m < members.size(); ++m)
    for (std::int64_t s = 0; s < codes_.count(); ++s)
      if (codes_.known(s, members[m].position) && at(s, members[m].position).token < 0 &&
          in_bin(row, members[m].token, s, members[m].position))
        result[m].push_back(s);
  return result;
}

// doubtful: also where another way fits as well.
bool Placing::place(std::int64_t row, bool doubtful) {
  std::vector<Member>& members = members_[static_cast<std::size_t>(row)];
  const std::vector<std::vector<std::int64_t>> choices = candidates(row, members);
  std::size_t ways = 1;
  double largest = 0;
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (choices[m].empty()) return false;
    ways *= choices[m].size();
    if (ways > kMostWays) return false;
    largest = std::max(largest, std::abs(members[m].amount));
  }
  const std::int64_t v = state_.blocks().code;
  const double tolerance = 3 * code_tolerance_ * largest * static_cast<double>(members.size());
  double best = std::numeric_limits<double>::infinity(), second = best;
  std::vector<std::int64_t> chosen(members.size()), best_chosen;
  std::vector<double> rest(static_cast<std::size_t>(v));
  for (std::size_t way = 0; way < ways; ++way) {
    std::size_t index = way;
    for (std::int64_t j = 0; j < v; ++j) rest[static_cast<std::size_t>(j)] = rows_.rows(row, j);
    double by_bias = rows_.amounts[static_cast<std::size_t>(row)];
    for (std::size_t m = 0; m < members.size(); ++m) {
      chosen[m] = choices[m][index % choices[m].size()];
      index /= choices[m].size();
      const double* code = codes_.code(chosen[m], members[m].position);
      for (std::int64_t j = 0; j < v; ++j) rest[static_cast<std::size_t>(j)] -= members[m].amount * code[j];
      by_bias -= members[m].amount * codes_.deviation(chosen[m], members[m].position);
    }
    if (std::abs(by_bias) > 5 * amount_fits_ * largest *
                                state_.deviation(codes_.code(chosen[0], members[0].position)) *
                                static_cast<double>(members.size()))
      continue;
    double squares = 0;
    for (const double value : rest) squares += value * value;
    double error = std::sqrt(squares);
    for (std::size_t m = 0; m < members.size(); ++m)
      if (contradicted(members[m], chosen[m])) error += tolerance / 2;
    if (error < best) {
      second = best;
      best = error;
      best_chosen = chosen;
    } else {
      second = std::min(second, error);
    }
  }
  const bool unclear = second < std::max(2 * best, 0.3 * tolerance);
  if (best > tolerance || (unclear && !doubtful)) return false;
  for (std::size_t m = 0; m < members.size(); ++m)
    for (std::size_t other = 0; other < m; ++other)
      if (best_chosen[m] == best_chosen[other] && members[m].position == members[other].position)
        return false;
  for (std::size_t m = 0; m < members.size(); ++m) put(best_chosen[m], members[m], unclear);
  members.clear();
  return true;
}

std::optional<double> Placing::loss_at(std::int64_t sequence, std::int64_t position) const {
  const double amount = at(sequence, position).amount;
  if (amount == 0) return std::nullopt;
  return state_.loss_of(amount, codes_.deviation(sequence, position));
}

// Before their window ends, rows of a causal model may be several sequences': their sizes say nothing.
void Placing::calibrate_labels() {
  if (!state_.predicts_next()) return;
  std::vector<LabelChannel::Known> known;
  for (std::int64_t s = 0; s < codes_.count(); ++s)
    for (std::int64_t p = state_.window() - 1; p + 1 < state_.length(); ++p)
      if (const auto loss = loss_at(s, p); loss && at(s, p + 1).token >= 0)
        known.push_back({*loss, at(s, p + 1).token});
  labels_.calibrate(known);
}

// Whether the size of a token's row speaks against the token that stands after it in this sequence.
bool Placing::contradicted(const Member& member, std::int64_t sequence) const {
  if (!labels_.calibrated() || member.position + 1 >= state_.length()) return false;
  const std::int64_t next = at(sequence, member.position + 1).token;
  const double divisor = codes_.deviation(sequence, member.position);
  return next >= 0 && !labels_.agrees(state_.loss_of(member.amount, divisor), next);
}

void Placing::put(std::int64_t sequence, const Member& member, bool doubtful) {
  // What stands before a doubtful token of a window was found by it.
  const bool by_doubtful =
      member.position + 1 < state_.window() && at(sequence, member.position + 1).doubtful;
  placed_[static_cast<std::size_t>(sequence * state_.length() + member.position)] = {
      member.token, member.amount, doubtful || by_doubtful};
  fresh_.emplace_back(sequence, member.position);
  codes_.place(sequence, member.position, member.token);
}

// Rows of one token first: what they settle narrows the choice of others.
bool Placing::place_round(bool doubtful) {
  bool any = false;
  for (std::size_t size = 1; size <= 4; ++size)
    for (std::int64_t row = 0; row < rows_.count(); ++row)
      if (members_[static_cast<std::size_t>(row)].size() == size) any |= place(row, doubtful);
  return any;
}

// By how much the squared length of a row falls when a token is taken off it.
double Placing::change(std::int64_t row, std::int64_t token, std::int64_t sequence, std::int64_t position,
                       double amount) const {
  const ExactBlocks& blocks = state_.blocks();
  const float* values = rows_.rows.row(row);
  double product = 0, squares = 2 * kRowLength * kRowLength;
  const double* code = codes_.code(sequence, position);
  for (std::int64_t j = 0; j < blocks.code; ++j) {
    product += values[j] * code[j];
    squares += code[j] * code[j];
  }
  for (std::int64_t j = 0; j < blocks.positions; ++j)
    product += static_cast<double>(values[blocks.first_position() + j]) * state_.position_rows()(position, j);
  for (std::int64_t j = 0; j < blocks.tokens(); ++j)
    product += static_cast<double>(values[blocks.first_token() + j]) * state_.token_rows()(token, j);
  return 2 * amount * product - amount * amount * squares;
}

// The row of a layer that a placed token lies in; of two, where it lies on the edge, the one that it
// explains.
std::int64_t Placing::row_in(std::int64_t layer, std::int64_t token, std::int64_t sequence,
                             std::int64_t position, double amount) const {
  const double value = codes_.measured(layer, token, sequence, position);
  const std::int64_t low = std::max<std::int64_t>(0, state_.bin_of(layer, value - 3 * edge_));
  const std::int64_t high = std::max<std::int64_t>(0, state_.bin_of(layer, value + 3 * edge_));
  std::int64_t best = layer * rows_.bins + low;
  if (low == high) return best;
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t bin = low; bin <= high; ++bin) {
    const std::int64_t row = layer * rows_.bins + bin;
    const double falls = change(row, token, sequence, position, amount);
    if (falls > most) {
      most = falls;
      best = row;
    }
  }
  return best;
}

// Takes what was placed off all layers' rows, and decodes again what these still hold.
void Placing::peel(int most) {
  const ExactBlocks& blocks = state_.blocks();
  std::set<std::int64_t> touched;
  for (const auto& [sequence, position] : fresh_) {
    const PlacedToken token = at(sequence, position);
    const double* code = codes_.code(sequence, position);
    for (std::int64_t layer = 0; layer < state_.layers(); ++layer) {
      const std::int64_t row = row_in(layer, token.token, sequence, position, token.amount);
      float* values = rows_.rows.row(row);
      for (std::int64_t j = 0; j < blocks.code; ++j) values[j] -= static_cast<float>(token.amount * code[j]);
      const float* place = state_.position_rows().row(position);
      for (std::int64_t j = 0; j < blocks.positions; ++j)
        values[blocks.first_position() + j] -= static_cast<float>(token.amount * place[j]);
      const float* word = state_.token_rows().row(token.token);
      for (std::int64_t j = 0; j < blocks.tokens(); ++j)
        values[blocks.first_token() + j] -= static_cast<float>(token.amount * word[j]);
      *amount(row) -= token.amount * codes_.deviation(sequence, position);
      touched.insert(row);
    }
  }
  fresh_.clear();
  decode({touched.begin(), touched.end()}, most);
}

// Sequences of which no bin held a token alone: their codes from rows of two, one of which is known.
// alone: one such row is enough.
bool Placing::find_missing_codes(bool alone) {
  const std::int64_t v = state_.blocks().code;
  struct Candidate {
    std::vector<double> code;
    double error;
    std::size_t support = 0;
  };
  std::vector<Candidate> found;
  const auto offer = [&](std::int64_t row, const Member& member, const std::vector<double>& rest,
                         double by_bias) {
    if (member.position < state_.window() - 1) return;
    std::vector<double> code(rest);
    for (double& value : code) value /= member.amount;
    const double divisor = state_.deviation(code.data());
    const double error = std::abs(by_bias / (member.amount * divisor) - 1);
    if (error > amount_fits_ || codes_.nearest(code.data()) < 5 * code_tolerance_) return;
    const std::int64_t layer = rows_.layer_of(row), bin = rows_.bin_of(row);
    const double value = state_.measured(layer, member.token, member.position,
                                         state_.measured_code(layer, code.data()), divisor);
    if (value < state_.low(layer, bin) - 10 * edge_ || value > state_.high(layer, bin) + 10 * edge_) return;
    found.push_back({std::move(code), error});
  };
  for (std::int64_t row = 0; row < rows_.count(); ++row) {
    const std::vector<Member>& members = members_[static_cast<std::size_t>(row)];
    if (members.empty() || members.size() > 2) continue;
    std::vector<double> whole(rows_.rows.row(row), rows_.rows.row(row) + v);
    const double by_bias = rows_.amounts[static_cast<std::size_t>(row)];
    if (members.size() == 1) {
      offer(row, members[0], whole, by_bias);
      continue;
    }
    for (std::size_t m = 0; m < 2; ++m) {
      const Member &one = members[m], &other = members[1 - m];
      for (std::int64_t s = 0; s < codes_.count(); ++s) {
        if (!codes_.known(s, one.position) || !in_bin(row, one.token, s, one.position)) continue;
        std::vector<double> rest(whole);
        for (std::int64_t j = 0; j < v; ++j)
          rest[static_cast<std::size_t>(j)] -= one.amount * codes_.code(s, one.position)[j];
        offer(row, other, rest, by_bias - one.amount * codes_.deviation(s, one.position));
      }
    }
  }
  for (Candidate& candidate : found)
    for (const Candidate& other : found)
      candidate.support += code_distance(candidate.code.data(), other.code.data(), v) < 5 * code_tolerance_;
  std::ranges::stable_sort(found, [](const Candidate& a, const Candidate& b) {
    return a.support != b.support ? a.support > b.support : a.error < b.error;
  });
  bool any = false;
  for (const Candidate& candidate : found) {
    if (sequences_ > 0 && codes_.count() >= sequences_) break;
    if (candidate.support < 2 && (!alone || any)) break;
    if (codes_.count() > 0 && codes_.nearest(candidate.code.data()) < 10 * code_tolerance_) continue;
    add_code(candidate.code.data());
    any = true;
  }
  return any;
}

void Placing::run() {
  std::vector<std::int64_t> all(static_cast<std::size_t>(rows_.count()));
  std::iota(all.begin(), all.end(), 0);
  int most = 2;
  decode(all, most);
  find_codes();
  if (codes_.count() == 0) return;
  // Every round places a token or finds a code, so there is an end.
  while (true) {
    const bool missing = sequences_ == 0 || codes_.count() < sequences_;
    bool any = place_round(false);
    if (!any && missing) any = find_missing_codes(false);
    if (!any) any = place_round(true);
    if (!any && most < 3) {  // rows of three: dearer, and seldom needed
      decode(all, ++most);
      continue;
    }
    if (!any && sequences_ > 0 && missing) any = find_missing_codes(true);
    if (!any) break;
    peel(most);
    calibrate_labels();
  }
  copy_beginnings();
}

// The token whose own code this is; -1: none's.
std::int64_t Placing::nearest_token(const double* code) const {
  std::int64_t best = -1;
  double least = 5 * code_tolerance_;
  for (std::int64_t t = 0; t < state_.token_codes().rows; ++t) {
    const double distance = code_distance(code, state_.token_codes().row(t), state_.blocks().code);
    if (distance < least) {
      least = distance;
      best = t;
    }
  }
  return best;
}

// Sequences of a causal model that begin alike are one and the same up to where they part: their rows fall
// together, and only one of them was given them.
void Placing::copy_beginnings() {
  for (std::int64_t p = std::min(state_.window(), state_.length()) - 1; p >= 0; --p) {
    for (std::int64_t s = 0; s < codes_.count(); ++s) {
      if (at(s, p).token >= 0 || !codes_.known(s, p)) continue;
      const auto twin_of = [&](std::int64_t other) {
        return at(other, p).token >= 0 && codes_.known(other, p) &&
               code_distance(codes_.code(s, p), codes_.code(other, p), state_.blocks().code) <
                   2 * code_tolerance_;
      };
      std::int64_t twin = 0;
      while (twin < codes_.count() && !twin_of(twin)) ++twin;
      std::int64_t token = -1;
      if (twin < codes_.count())
        token = at(twin, p).token;
      else if (p == 0)
        token = nearest_token(codes_.code(s, 0));  // whose code is all there is
      if (token < 0) continue;
      placed_[static_cast<std::size_t>(s * state_.length() + p)] = {
          token, 0, p + 1 < state_.window() && at(s, p + 1).doubtful};
      codes_.place(s, p, token);
    }
  }
}

bool Placing::nearly_exact() const {
  return empty_ < kNearlyEmpty;
}

bool Placing::explained(std::int64_t sequence, std::int64_t position) const {
  const PlacedToken& token = at(sequence, position);
  if (token.doubtful || !nearly_exact()) return false;
  for (std::int64_t layer = 0; layer < state_.layers(); ++layer)
    if (norm_of(row_in(layer, token.token, sequence, position, token.amount)) < 3 * empty_) return true;
  return false;
}

double Placing::share_of_places(const std::function<bool(const PlacedToken&)>& counts) const {
  if (placed_.empty()) return 0;
  const auto count = std::ranges::count_if(placed_, counts);
  // The last token of a sequence predicts nothing, and has no row.
  const std::int64_t without = state_.predicts_next() && state_.length() > 1 ? codes_.count() : 0;
  return static_cast<double>(count) /
         static_cast<double>(static_cast<std::int64_t>(placed_.size()) - without);
}

double Placing::placed_share() const {
  return share_of_places([](const PlacedToken& one) { return one.token >= 0; });
}

double Placing::sure_share() const {
  return share_of_places([](const PlacedToken& one) { return one.token >= 0 && !one.doubtful; });
}

double Placing::residual() const {
  double squares = 0;
  for (const float value : rows_.rows.data) squares += static_cast<double>(value) * value;
  return held_ > 0 ? squares / held_ : 0;
}

}  // namespace undertext
