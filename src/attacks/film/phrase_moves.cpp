#include "attacks/film/phrase_moves.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace undertext {
namespace {

constexpr std::size_t kFewestCuts = 3, kMostCuts = 5;

bool better(const PhraseCut& x, const PhraseCut& y) {
  return x.gain != y.gain ? x.gain > y.gain : x.places < y.places;
}

// Walks over all tuples of places, adding what each new place says about links with those before it.
class Cuts {
 public:
  Cuts(const Matrix<double>& links, const std::vector<std::size_t>& order, std::size_t length,
       std::size_t most)
      : links_(links), length_(length), most_(most), places_(order.size() - 1), joints_(places_.size()) {
    // Phrase a, which ends at place a, comes before phrase b, which begins at place b - 1: a joint is known
    // as soon as the later of both is.
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      const std::size_t end = order[i], begin = order[i + 1] - 1;
      joints_[std::max(end, begin)].push_back({end, begin});
    }
  }

  std::vector<PhraseCut> best() {
    visit(0, 1, 0);
    shrink();
    return std::move(found_);
  }

 private:
  struct Joint {
    std::size_t end, begin;  // which of the places
  };

  void visit(std::size_t depth, std::size_t from, double gain) {
    const std::size_t left = places_.size() - depth - 1;  // places that must follow
    for (std::size_t place = from; place + left <= length_; ++place) {
      places_[depth] = place;
      double here = gain - links_(static_cast<std::int64_t>(place), static_cast<std::int64_t>(place));
      for (const Joint& joint : joints_[depth])
        here += links_(static_cast<std::int64_t>(places_[joint.end]),
                       static_cast<std::int64_t>(places_[joint.begin]));
      if (left > 0) {
        visit(depth + 1, place + 1, here);
      } else if (here > least_ || found_.size() < most_) {
        found_.push_back({places_, here});
        if (found_.size() >= 4 * most_) shrink();
      }
    }
  }

  void shrink() {
    const std::size_t kept = std::min(most_, found_.size());
    std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(kept), found_.end(),
                      better);
    found_.resize(kept);
    if (kept == most_ && kept > 0) least_ = found_.back().gain;
  }

  const Matrix<double>& links_;
  std::size_t length_, most_;
  std::vector<std::size_t> places_;
  std::vector<std::vector<Joint>> joints_;  // by the later of a joint's places
  std::vector<PhraseCut> found_;
  double least_ = -std::numeric_limits<double>::infinity();  // gain that is surely not enough
};

}  // namespace

double link_gain(const Matrix<double>& links, const std::vector<std::size_t>& places,
                 const std::vector<std::size_t>& order) {
  const auto link = [&](std::size_t end, std::size_t begin) {
    return links(static_cast<std::int64_t>(end), static_cast<std::int64_t>(begin));
  };
  double gain = 0;
  for (const std::size_t place : places) gain -= link(place, place);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) gain += link(places[order[i]], places[order[i + 1] - 1]);
  return gain;
}

std::vector<PhraseCut> best_cuts(const Matrix<double>& links, const std::vector<std::size_t>& order,
                                 std::size_t length, std::size_t most) {
  UNDERTEXT_CHECK(order.size() > 1 && order.front() == 0 && order.back() == order.size() - 1);
  return Cuts(links, order, length, most).best();
}

Sentence moved(const Sentence& sentence, const std::vector<std::size_t>& places,
               const std::vector<std::size_t>& order) {
  Sentence result;
  for (const std::size_t phrase : order) {
    const std::size_t begin = phrase == 0 ? 0 : places[phrase - 1];
    const std::size_t end = phrase == places.size() ? sentence.size() : places[phrase];
    result.insert(result.end(), sentence.begin() + static_cast<std::ptrdiff_t>(begin),
                  sentence.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return result;
}

std::vector<Sentence> phrase_moves(const Sentence& sentence, const Matrix<double>& links, std::size_t most,
                                   std::size_t count, Random& random) {
  if (sentence.size() < kFewestCuts) return {};
  const std::size_t cuts = kFewestCuts + random.below(std::min(kMostCuts, sentence.size()) - kFewestCuts + 1);
  std::vector<std::size_t> order(cuts + 1);
  const auto in_order = [&] { return std::ranges::is_sorted(order); };
  std::iota(order.begin(), order.end(), 0);
  while (in_order())
    for (std::size_t i = cuts - 1; i > 1; --i) std::swap(order[i], order[1 + random.below(i)]);
  std::vector<PhraseCut> best = best_cuts(links, order, sentence.size(), most);
  std::vector<Sentence> result;
  for (std::size_t i = 0; i < std::min(count, best.size()); ++i) {
    std::swap(best[i], best[i + random.below(best.size() - i)]);
    result.push_back(moved(sentence, best[i].places, order));
  }
  return result;
}

}  // namespace undertext
