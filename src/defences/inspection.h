// Is a server's state fit to train on? The first defence against decepticons (appendix G): what a client can
// see in the weights alone, before its texts meet them. docs/inspection.md says what is caught and what is
// not.
#pragma once

#include <cstdint>
#include <string>

#include "defences/inspection/evidence.h"
#include "models/language_model.h"

namespace undertext {

enum class InspectionVerdict { fit, suspicious, corrupted };

const char* name_of(InspectionVerdict verdict);

struct InspectionReport {
  InspectionVerdict verdict = InspectionVerdict::fit;
  double score = 0;   // in [0, 1): 1 - product of (1 - weight) over the kinds that count
  Findings findings;  // all that was measured: what counts first, by weight
};

// Both from here on: `fit` below the first, `corrupted` from the second on.
inline constexpr double kSuspicious = 0.5, kCorrupted = 0.95;

// Measured by experiments/decepticons/inspect.
inline constexpr int kHonestStates = 200, kFalseAlarms = 0;
// With 95% confidence the rate of false alarms on such states lies below this (Clopper and Pearson's bound,
// of none: 1 - .05^(1/n)).
inline constexpr double kFalseAlarmBound = 0.0149;

struct InspectionOptions {
  const LanguageModel* previous = nullptr;           // the state of the round before
  std::string previous_name = "the previous state";  // for messages
  std::uint64_t seed = 1;  // of the random tokens; a client that fears a prepared server takes its own
};

// UserError when `previous` is another architecture.
InspectionReport inspect(const LanguageModel& model, const InspectionOptions& options = {});

}  // namespace undertext
