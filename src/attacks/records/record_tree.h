// Candidate records as a tree of shared beginnings, so that a snapshot reads each beginning once: the fixed
// text of a pattern once for all candidates.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attacks/records/token_pattern.h"
#include "models/language_model.h"

namespace undertext {

// Sums of log-probabilities, in nats.
struct RecordLikelihood {
  double whole = 0;  // of all tokens that the model predicts
  double free = 0;   // of the free ones alone
  // Of all tokens, each among those that the pattern allows in its place. What a round does to the format of
  // records, it does to all candidates; this leaves it out.
  double given = 0;
};

class RecordTree {
 public:
  // records: texts of the pattern. context: what stands before a record.
  RecordTree(const TokenPattern& pattern, std::span<const Sentence> records, Sentence context = {});

  std::int64_t records() const { return std::ssize(leaf_); }
  // How many tokens of a record count in `whole` and in `free`. The first does where the model predicts it.
  std::int64_t predicted(std::int64_t record, const LanguageModel& model) const;
  std::int64_t free(std::int64_t record) const { return free_[static_cast<std::size_t>(record)]; }

  std::vector<RecordLikelihood> likelihoods(std::shared_ptr<const LanguageModel> model) const;

 private:
  struct Node {
    std::int32_t parent;
    std::int32_t state;  // of the pattern, before the token
    const TokenPattern::Edge* edge;
    bool inner = false;  // is read on from
  };

  const TokenPattern& pattern_;
  Sentence context_;
  std::vector<Node> nodes_;                // by length
  std::vector<std::int64_t> depth_begin_;  // nodes of length t + 1: [depth_begin_[t], depth_begin_[t + 1])
  std::vector<std::int32_t> leaf_;         // of each record
  std::vector<std::int64_t> length_, free_;
};

}  // namespace undertext
