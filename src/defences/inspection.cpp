#include "defences/inspection.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "defences/inspection/checks.h"

namespace undertext {
namespace {

void check_same_architecture(const LanguageModel& model, const LanguageModel& previous,
                             const std::string& name) {
  if (previous.kind() != model.kind())
    fail("{}: a {}, expected a {} as the state itself", name, previous.kind(), model.kind());
  for (const auto& [tensor, values] : model.parameters()) {
    const auto found = previous.parameters().find(tensor);
    if (found == previous.parameters().end())
      fail("{}: no tensor {}, expected the architecture of the state itself", name, quote(tensor));
    if (found->second.sizes() != values.sizes())
      fail("{}: {} has another shape, expected the architecture of the state itself", name, quote(tensor));
  }
}

// Each kind once, whatever the number of layers: what a server does to one it does to all.
double score_of(const Findings& findings) {
  std::set<EvidenceKind> kinds;
  for (const Evidence& evidence : findings)
    if (evidence.counts()) kinds.insert(evidence.kind);
  double trust = 1;
  for (const EvidenceKind kind : kinds) trust *= 1 - info_of(kind).weight;
  return 1 - trust;
}

}  // namespace

const char* name_of(InspectionVerdict verdict) {
  switch (verdict) {
    case InspectionVerdict::fit:
      return "fit";
    case InspectionVerdict::suspicious:
      return "suspicious";
    case InspectionVerdict::corrupted:
      return "corrupted";
  }
  UNDERTEXT_CHECK(false);
}

InspectionReport inspect(const LanguageModel& model, const InspectionOptions& options) {
  const at::NoGradGuard no_gradient;
  if (options.previous) check_same_architecture(model, *options.previous, options.previous_name);
  InspectionReport report;
  Findings& findings = report.findings;
  check_initialisation(model, findings);
  if (const auto* transformer = dynamic_cast<const Transformer*>(&model)) {
    check_feed_forward(*transformer, findings);
    check_neurons(*transformer, Seed(options.seed), findings);
    check_attention(*transformer, findings);
    check_embeddings(*transformer, findings);
    check_norms(*transformer, findings);
  }
  if (options.previous) check_previous(model, *options.previous, findings);
  std::stable_sort(findings.begin(), findings.end(), [](const Evidence& a, const Evidence& b) {
    if (a.counts() != b.counts()) return a.counts();
    return info_of(a.kind).weight > info_of(b.kind).weight;
  });
  report.score = score_of(findings);
  report.verdict = report.score >= kCorrupted    ? InspectionVerdict::corrupted
                   : report.score >= kSuspicious ? InspectionVerdict::suspicious
                                                 : InspectionVerdict::fit;
  return report;
}

}  // namespace undertext
