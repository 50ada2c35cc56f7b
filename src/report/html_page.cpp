#include "report/html_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/advice.h"
#include "report/assets.h"
#include "report/defence_section.h"
#include "report/findings.h"
#include "report/labels.h"
#include "report/page_frame.h"
#include "report/results.h"

namespace undertext {
namespace {

using nlohmann::json;

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json scores_of(const ReportedScores& scores) {
  return {{"f1", or_null(scores.f1)},
          {"precision", or_null(scores.precision)},
          {"recall", or_null(scores.recall)},
          {"levenshtein_paper", or_null(scores.levenshtein_paper)},
          {"levenshtein", or_null(scores.levenshtein)},
          {"matched", or_null(scores.matched)},
          {"exact", or_null(scores.exact)},
          {"exact_precision", or_null(scores.exact_precision)},
          {"word_f1", or_null(scores.word_f1)},
          {"total_accuracy", or_null(scores.total_accuracy)},
          {"top_50", or_null(scores.top_50)},
          {"edits", or_null(scores.edits)},
          {"owners", or_null(scores.owners)}};
}

json rows_of(const Results& results) {
  const Labels labels(results);
  json rows = json::array();
  for (const ResultRow& row : results.rows) {
    rows.push_back({{"id", row.id},
                    {"attack", row.attack},
                    {"method", row.method},
                    {"oracle", row.oracle},
                    {"threat_model", results.threat_model(row).name},
                    {"messages", row.messages},
                    {"client_label", labels.client(row)},
                    {"protocol", row.protocol.name},
                    {"epochs", row.protocol.epochs},
                    {"protocol_label", labels.protocol(row.protocol)},
                    {"defence", row.defence.kind},
                    {"strength", or_null(row.defence.strength)},
                    {"epsilon", or_null(row.epsilon)},
                    {"adaptive", row.adaptive()},
                    {"leak", row.leak()},
                    {"defence_label", labels.defence(row.defence)},
                    {"method_label", labels.method(row)},
                    {"recovered", row.recovered},
                    {"truth", row.truth},
                    {"certified", or_null(row.certified)},
                    {"scores", scores_of(row.scores)},
                    {"perplexity_before", or_null(row.perplexity_before)},
                    {"perplexity_after", or_null(row.perplexity_after)},
                    {"seconds", row.seconds}});
  }
  return rows;
}

void add_samples(const Results& results, std::size_t most_pairs, json& data) {
  SharedTexts texts;
  json samples = json::array();
  for (const Sample& sample : results.samples) {
    json pairs = json::array();
    for (std::size_t i = 0; i < std::min(most_pairs, sample.pairs.size()); ++i) {
      const MessagePair& pair = sample.pairs[i];
      pairs.push_back(
          {texts.index(pair.truth), texts.index(pair.recovered), pair.exact ? 1 : 0, or_null(pair.ratio)});
    }
    samples.push_back({{"row", sample.row}, {"total", sample.pairs.size()}, {"pairs", std::move(pairs)}});
  }
  data["texts"] = texts.list();
  data["samples"] = std::move(samples);
}

json curves_of(const Results& results) {
  json all = json::array();
  for (const CorrelationCurves& curves : results.curves)
    all.push_back({{"title", curves.title}, {"owner", curves.owner}, {"clients", curves.clients}});
  return all;
}

json facts_of(const Results& results) {
  const Findings findings = findings_of(results);
  json figures = json::array(), advice = json::array(), threat_models = json::array();
  for (const KeyFigure& figure : findings.figures)
    figures.push_back({{"value", figure.value}, {"label", figure.label}, {"note", figure.note}});
  for (const Advice& entry : undefended_advice(results))
    advice.push_back({{"grade", entry.grade}, {"title", entry.title}, {"facts", entry.facts}});
  for (const ReportedThreatModel& model : results.threat_models)
    threat_models.push_back({{"name", model.name},
                             {"sees", model.sees},
                             {"does_not_see", model.does_not_see},
                             {"does", model.does}});
  return {{"verdict", findings.verdict},
          {"unit", Labels(results).one()},
          {"lead", findings.lead},
          {"figures", std::move(figures)},
          {"advice", std::move(advice)},
          {"defences", defence_section(results)},
          {"protected", kProtected},
          {"threat_models", std::move(threat_models)},
          {"strongest", strongest_row(results).id},
          {"version", results.version},
          {"command", results.command},
          {"preset", results.preset},
          // As text: a browser's numbers end at 2^53.
          {"seed", std::to_string(results.seed)},
          {"seconds", results.seconds},
          {"model",
           {{"kind", results.model.kind},
            {"source", results.model.source},
            {"parameters", results.model.parameters},
            {"vocabulary", results.model.vocabulary},
            {"perplexity", or_null(results.model.perplexity)}}},
          {"rows", rows_of(results)},
          {"curves", curves_of(results)}};
}

std::string page_data(const Results& results, std::size_t budget) {
  json data = facts_of(results);
  std::size_t most_pairs = 0;
  for (const Sample& sample : results.samples) most_pairs = std::max(most_pairs, sample.pairs.size());
  while (true) {
    add_samples(results, most_pairs, data);
    std::string text = script_safe(data);
    if (text.size() <= budget || most_pairs == 0) return text;
    most_pairs /= 2;
  }
}

}  // namespace

std::string html_page(const json& document) {
  const Results results = parse_results(document);
  return framed_page("undertext audit", assets::audit_html(), assets::audit_js(),
                     [&](std::size_t budget) { return page_data(results, budget); });
}

}  // namespace undertext
