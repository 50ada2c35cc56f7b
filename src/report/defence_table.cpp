#include "report/defence_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/advice.h"
#include "report/labels.h"
#include "report/text_width.h"

namespace undertext {
namespace {

Tone tone_of(const LeakChange& change) {
  const std::string grade = change.grade();
  return grade == "protects" ? Tone::safe : grade == "weakens" ? Tone::some_leak : Tone::leak;
}

std::string sign_of(const LeakChange& change) {
  const std::string grade = change.grade();
  return grade == "protects" ? "✓ protects" : grade == "weakens" ? "◐ weakens" : "✗ no help";
}

std::string factor_text(const std::optional<double>& factor) {
  return factor ? fmt::format("×{:.1f}", *factor) : "–";
}

// compact: without the columns that are not needed to choose.
TextTable layout_of(const std::vector<DefenceEffect>& effects, bool compact) {
  const bool words = std::ranges::any_of(effects, [](const DefenceEffect& e) { return e.words.has_value(); });
  TextTable table;
  table.columns = {{"defence, as it is typed"}, {"verdict"}, {"mean", true}, {"worst", true}};
  if (words) table.columns.push_back({"words", true});
  table.columns.push_back({"perplexity", true});
  if (!compact) table.columns.push_back({"rise", true});
  table.columns.push_back({"ε", true});
  if (!compact) table.columns.push_back({"time", true});
  table.columns.push_back({compact ? "told" : "the attack was told of it"});
  for (const DefenceEffect& effect : effects) {
    std::vector<TextCell> cells = {
        {printable(effect.defence.spec)},
        {compact ? sign_of(effect.read).substr(0, 3) : sign_of(effect.read), tone_of(effect.read)},
        {percent_text(effect.read.mean_after), tone_of(effect.read)},
        {percent_text(effect.read.worst_after), tone_of(effect.read)}};
    if (words)
      cells.push_back(effect.words ? TextCell{percent_text(effect.words->worst_after), tone_of(*effect.words)}
                                   : TextCell{"–", Tone::faint});
    cells.push_back({compact ? rise_text(effect) : or_dash(effect.utility_after, perplexity_text)});
    if (!compact) cells.push_back({rise_text(effect)});
    cells.push_back({epsilon_text(effect.epsilon), effect.epsilon ? Tone::plain : Tone::faint});
    if (!compact) cells.push_back({factor_text(effect.slowdown)});
    cells.push_back({effect.adaptive ? "yes" : "not adaptive", effect.adaptive ? Tone::faint : Tone::bold});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string fitted(const std::vector<DefenceEffect>& effects, int width, const Painter& paint) {
  const TextTable full = layout_of(effects, false);
  if (auto wide = fitted_table(full, width, {}, paint)) return std::move(*wide);
  const TextTable compact = layout_of(effects, true);
  for (const TableFit fit : {TableFit{2, false}, TableFit{2, true}, TableFit{1, true}})
    if (auto narrow = fitted_table(compact, width, fit, paint)) return std::move(*narrow);
  return table_blocks(full, width, paint);
}

// Reasons that several defences or attacks share are said once.
std::string impossible_text(const Results& results, int width, const Painter& paint) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const ImpossibleCase& entry : results.impossible) {
    auto found = std::ranges::find(reasons, entry.why, [](const auto& reason) { return reason.first; });
    if (found == reasons.end()) found = reasons.insert(found, {entry.why, {}});
    const std::string& name = entry.defence.spec.empty() ? entry.defence.title : entry.defence.spec;
    if (std::ranges::find(found->second, name) == found->second.end()) found->second.push_back(name);
  }
  std::string out;
  for (const auto& [why, names] : reasons)
    out += paragraph(printable(fmt::format("not run: {}: {}", fmt::join(names, ", "), why)), width,
                     Tone::faint, paint);
  return out;
}

}  // namespace

std::string defence_tables(const Results& results, int width, const Painter& paint) {
  const Labels labels(results);
  std::string out;
  bool any = false;
  for (const ThreatVerdict& verdict : verdicts_of(results)) {
    const auto effects = in_order_of_choice(defence_effects(results, verdict.threat_model));
    if (effects.empty()) continue;
    any = true;
    const auto threat =
        std::ranges::find(results.threat_models, verdict.threat_model, &ReportedThreatModel::id);
    out +=
        "\n" + paragraph(printable(fmt::format("Defences against the {}, best choice first", threat->name)),
                         width, Tone::bold, paint);
    out += fitted(effects, width, paint) + "\n";
    out +=
        paragraph(printable(fmt::format("{}", fmt::join(verdict.sentences, " "))), width, Tone::plain, paint);
  }
  if (any)
    out += "\n" +
           paragraph(
               fmt::format("mean, worst: the share of the {} that is read, over the cases tried. words: F1 "
                           "of the set, at worst. perplexity: after federated training, against the same "
                           "without the defence. time: of the client's training.",
                           labels.leaked_how()),
               width, Tone::faint, paint);
  return out + impossible_text(results, width, paint);
}

}  // namespace undertext
