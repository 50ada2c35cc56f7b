#include "attacks/film/reorder.h"

#include <algorithm>
#include <set>

#include "attacks/film/phrase_moves.h"

namespace undertext {
namespace {

// Two tokens swapped, one deleted or one of the bag inserted, each as likely; never the first.
Sentence token_moved(Sentence sentence, const std::vector<Token>& bag, bool swaps_only, Random& random) {
  const auto place = [&] { return 1 + random.below(sentence.size() - 1); };
  switch (swaps_only ? 0 : random.below(3)) {
    case 0:
      std::swap(sentence[place()], sentence[place()]);
      break;
    case 1:
      sentence.erase(sentence.begin() + static_cast<std::ptrdiff_t>(place()));
      break;
    default:
      sentence.insert(sentence.begin() + static_cast<std::ptrdiff_t>(1 + random.below(sentence.size())),
                      bag[random.below(bag.size())]);
  }
  return sentence;
}

class Reordering {
 public:
  Reordering(Sentence& sentence, PriorScore& score, std::int64_t longest)
      : sentence_(sentence), score_(score), longest_(longest) {
    score_.follow(sentence_);
    best_ = score_(std::vector<Sentence>{sentence_})[0];
    seen_.insert(sentence_);
  }
  double best() const { return best_; }

  // Each step takes the best candidate, if it is better than what there is.
  template <typename Propose>
  void run(std::int64_t steps, Seed seed, Propose propose) {
    for (std::int64_t step = 0; step < steps && sentence_.size() > 2; ++step) {
      Random random(seed.derive(static_cast<std::uint64_t>(step)));
      std::vector<Sentence> candidates;
      for (Sentence& candidate : propose(sentence_, random)) {
        if (candidate.size() < 2 || std::ssize(candidate) > longest_) continue;
        // What was scored once was not better than the best then, nor is it than the best now.
        if (seen_.insert(candidate).second) candidates.push_back(std::move(candidate));
      }
      const std::optional<PriorScore::Best> found = score_.best_below(candidates, best_);
      if (!found) continue;
      best_ = found->score;
      sentence_ = candidates[found->at];
      score_.follow(sentence_);
    }
  }

 private:
  Sentence& sentence_;
  PriorScore& score_;
  std::int64_t longest_;
  double best_ = 0;
  std::set<Sentence> seen_;
};

}  // namespace

double reorder(Sentence& sentence, PriorScore& score, const std::vector<Token>& bag,
               const ReorderOptions& options) {
  Reordering reordering(sentence, score, options.longest);
  if (options.what == FilmReorder::phrases || options.what == FilmReorder::both) {
    Sentence of;  // the sentence that the links are of
    Matrix<double> links;
    reordering.run(options.phrase_steps, options.seed.derive("phrases"),
                   [&](const Sentence& from, Random& random) {
                     if (of != from) links = score.trunk().links();
                     of = from;
                     return phrase_moves(from, links, kCutsKept, kPhraseMoves, random);
                   });
  }
  if (options.what == FilmReorder::tokens || options.what == FilmReorder::both)
    reordering.run(options.token_steps, options.seed.derive("tokens"),
                   [&](const Sentence& from, Random& random) {
                     std::vector<Sentence> moves;
                     for (std::size_t i = 0; i < kTokenMoves; ++i)
                       moves.push_back(token_moved(from, bag, options.swaps_only, random));
                     return moves;
                   });
  return reordering.best();
}

void cut_at_end(Sentence& sentence, PriorScore& score, const std::vector<Token>& ends, bool always) {
  const auto end = std::ranges::find_first_of(sentence, ends);
  if (end == sentence.end() || end - sentence.begin() < 2 || end + 1 == sentence.end()) return;
  const Sentence shorter(sentence.begin(), end + 1);
  if (!always) {
    score.follow(sentence);
    const std::vector<double> scores = score(std::vector<Sentence>{sentence, shorter});
    if (scores[1] >= scores[0]) return;
  }
  sentence = shorter;
}

}  // namespace undertext
