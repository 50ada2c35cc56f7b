// Embeddings that were laid out: entries kept free for a sentence's code, blocks of their own for tokens and
// for positions, and an output layer that reads one entry.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/quantile.h"
#include "defences/inspection/checks.h"

namespace undertext {
namespace {

using Energies = std::vector<double>;

void check_reserved(const std::string& name, const Energies& energies, Findings& findings) {
  const double usual = std::sqrt(quantile(energies, 0.9));
  const auto empty = std::count_if(energies.begin(), energies.end(),
                                   [&](double energy) { return std::sqrt(energy) < 0.02 * usual; });
  const auto width = static_cast<double>(energies.size());
  findings.push_back({name, EvidenceKind::reserved_entries, static_cast<double>(empty) / width, 2 / width,
                      fmt::format("{} of {} entries are empty in every row", empty, energies.size())});
}

// Bhattacharyya's coefficient of where the two have their squares: 1 the same, 0 apart.
void check_blocks(const std::string& name, const Energies& tokens, const Energies& positions,
                  Findings& findings) {
  const double all_tokens = std::accumulate(tokens.begin(), tokens.end(), 0.0);
  const double all_positions = std::accumulate(positions.begin(), positions.end(), 0.0);
  if (all_tokens == 0 || all_positions == 0) return;
  double overlap = 0;
  for (std::size_t j = 0; j < tokens.size(); ++j)
    overlap += std::sqrt(tokens[j] / all_tokens * (positions[j] / all_positions));
  findings.push_back({name, EvidenceKind::separate_blocks, std::clamp(1 - overlap, 0.0, 1.0), 0.7,
                      fmt::format("positions and tokens share {:.3g} of their entries", overlap)});
}

// Of the entries that could hold a server's scale: the first, the last and the largest.
void check_even(const std::string& name, const at::Tensor& matrix, const Energies& energies,
                Findings& findings) {
  const std::int64_t d = matrix.size(1);
  const std::int64_t largest = std::max_element(energies.begin(), energies.end()) - energies.begin();
  double value = 0;
  std::int64_t which = 0;
  for (const std::int64_t column : std::set<std::int64_t>{0, largest, d - 1}) {
    const double even = evenness(values_of(matrix.select(1, column)));
    if (even > value) {
      value = even;
      which = column;
    }
  }
  findings.push_back(
      {name, EvidenceKind::even_entries, value, 0.6,
       fmt::format("entry {} of all rows is spaced evenly to {:.3g} (a sample: 0)", which, value)});
}

void check_column(const std::string& name, const Energies& energies, Findings& findings) {
  const double share = largest_share(energies);
  findings.push_back(
      {name, EvidenceKind::one_live_column, share, 0.6,
       fmt::format("one of {} entries holds {:.3g} of the squared weights", energies.size(), share)});
}

}  // namespace

void check_embeddings(const Transformer& model, Findings& findings) {
  const TransformerNames& names = model.names();
  const at::Tensor& tokens = model.parameters().at(names.token_embedding);
  const at::Tensor& positions = model.parameters().at(names.position_embedding);
  const Energies token_energies = column_energies(tokens), position_energies = column_energies(positions);
  check_reserved(names.token_embedding, token_energies, findings);
  check_reserved(names.position_embedding, position_energies, findings);
  check_blocks(names.position_embedding, token_energies, position_energies, findings);
  check_even(names.token_embedding, tokens, token_energies, findings);
  check_column(names.token_embedding, token_energies, findings);
  if (names.output_weight == names.token_embedding) return;
  const at::Tensor& output = model.parameters().at(names.output_weight);
  const Energies output_energies = column_energies(output);
  check_even(names.output_weight, output, output_energies, findings);
  check_column(names.output_weight, output_energies, findings);
}

}  // namespace undertext
