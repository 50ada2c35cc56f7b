// How the report names things and writes numbers: the same in the terminal and on the page.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/results.h"

namespace undertext {

// Protocols are named by what tells them apart: facts that all rows share are left out.
class Labels {
 public:
  explicit Labels(const Results& results);

  // What a client holds, or of records a federation.
  std::string one() const { return of_records_ ? "record" : of_sequences_ ? "sequence" : "message"; }
  // What a leak is counted in.
  std::string leaked() const { return of_sequences_ ? "tokens" : one() + "s"; }
  // "messages word for word".
  std::string leaked_how() const {
    return of_records_     ? "records, each with its owner"
           : of_sequences_ ? "tokens in their place"
                           : "messages word for word";
  }
  // How they are read: "word for word".
  std::string read() const {
    return of_records_     ? "read, with their owners"
           : of_sequences_ ? "read in their place"
                           : "read word for word";
  }
  std::string client(const ResultRow& row) const;                      // "64 messages"
  std::string protocol(const ReportedProtocol& protocol) const;        // "FedAvg, 10 epochs, batch 32"
  std::string short_protocol(const ReportedProtocol& protocol) const;  // "FedAvg E=10 B=32"
  std::string defence(const ReportedDefence& defence) const;           // "noise per step, σ=0.1"
  std::string method(const ResultRow& row) const;                      // "best", "paper (oracle)"
  std::string setting(const ResultRow& row) const;  // client, protocol and defence in one phrase

 private:
  static std::string plain_label(const ReportedDefence& defence);
  std::string variations(const ReportedProtocol& protocol) const;  // ", mean" and the like
  bool of_sequences_ = false, of_records_ = false;
  std::vector<std::pair<std::string, std::string>> defences_;  // spec and label
  bool learning_rate_varies_ = false, reduction_varies_ = false, trained_varies_ = false;
};

// "0.996". Never rounds to 1 what is not 1, nor to 0 what is not 0: a report must not claim "all" by
// rounding.
std::string fraction_text(double fraction);
// "98.4", for ratios in [0, 100], with the same care.
std::string ratio_text(double ratio);
// "100%", "99%", "<1%", with the same care.
std::string percent_text(double fraction);
// "31.2"; from 1000 on without decimals, from a million on in powers of ten.
std::string perplexity_text(double perplexity);
// An en dash where there is no value.
std::string or_dash(const std::optional<double>& value, std::string (*text)(double));

}  // namespace undertext
