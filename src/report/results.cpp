#include "report/results.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"

namespace undertext {
namespace {

using nlohmann::json;

// A JSON value that knows where it stands, so that every complaint names the place.
class Place {
 public:
  Place(const json& value, const std::string& source, std::string path)
      : value_(value), source_(source), path_(std::move(path)) {}

  Place at(const char* key) const {
    if (!value_.is_object()) wrong("an object");
    const auto found = value_.find(key);
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (found == value_.end()) fail("{}: {} is missing", source_, path);
    return Place(*found, source_, path);
  }

  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }

  std::vector<Place> items() const {
    if (!value_.is_array()) wrong("a list");
    std::vector<Place> places;
    for (std::size_t i = 0; i < value_.size(); ++i)
      places.emplace_back(value_[i], source_, fmt::format("{}[{}]", path_, i));
    return places;
  }

  bool null() const { return value_.is_null(); }

  std::string text() const {
    if (!value_.is_string()) wrong("a text");
    return value_.get<std::string>();
  }

  // null means: there is none.
  std::optional<std::string> optional_text() const {
    if (null()) return std::nullopt;
    return text();
  }

  std::string one_of(const std::set<std::string>& choices) const {
    std::string given = text();
    if (!choices.contains(given)) wrong(fmt::format("one of {}", fmt::join(choices, ", ")));
    return given;
  }

  bool flag() const {
    if (!value_.is_boolean()) wrong("true or false");
    return value_.get<bool>();
  }

  double number(double low, double high) const {
    if (!value_.is_number()) wrong("a number");
    const double given = value_.get<double>();
    constexpr double kRounding = 1e-9;  // a mean of ones may come out a little above one
    if (!(given >= low && given <= high + kRounding && std::isfinite(given))) {
      if (std::isinf(high)) wrong(fmt::format("a number of at least {}", low));
      wrong(fmt::format("a number from {} to {}", low, high));
    }
    return std::min(given, high);
  }

  // null means: not defined here.
  std::optional<double> optional_number(double low, double high) const {
    if (null()) return std::nullopt;
    return number(low, high);
  }

  std::int64_t count() const {
    if (!value_.is_number_integer()) wrong("a whole number");
    const bool fits = value_.is_number_unsigned() ? value_.get<std::uint64_t>() <= kLargestCount
                                                  : value_.get<std::int64_t>() >= 0;
    if (!fits) wrong(fmt::format("a whole number from 0 to {}", kLargestCount));
    return value_.get<std::int64_t>();
  }

  std::uint64_t seed() const {
    if (!value_.is_number_integer() || (!value_.is_number_unsigned() && value_.get<std::int64_t>() < 0))
      wrong("a whole number of at least 0");
    return value_.get<std::uint64_t>();
  }

  [[noreturn]] void wrong(const std::string& expected) const {
    std::string given = value_.dump(-1, ' ', true, json::error_handler_t::replace);
    if (given.size() > 40) given = given.substr(0, 37) + "...";
    fail("{}: {} is {}, expected {}", source_, path_.empty() ? "the document" : path_, given, expected);
  }

 private:
  // Counts up to 2^53 survive the way through a browser's numbers.
  static constexpr std::uint64_t kLargestCount = std::uint64_t{1} << 53;

  const json& value_;
  const std::string& source_;
  std::string path_;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ReportedModel parse_model(const Place& place) {
  return {place.at("kind").text(), place.at("source").text(), place.at("parameters").count(),
          place.at("vocabulary").count(), place.at("perplexity").optional_number(0, kInfinity)};
}

ReportedScores parse_scores(const Place& place, const ResultRow& row) {
  ReportedScores scores;
  const auto fraction = [&](const char* key) { return place.at(key).optional_number(0, 1); };
  const auto ratio = [&](const char* key) { return place.at(key).optional_number(0, 100); };
  if (row.records()) {
    scores.exact = fraction("exact");
    scores.top_50 = fraction("top_50");
    scores.edits = place.at("edits").optional_number(0, kInfinity);
    scores.owners = fraction("owners");
    return scores;
  }
  if (!row.sentences()) {
    scores.f1 = fraction("f1");
    scores.precision = fraction("precision");
    scores.recall = fraction("recall");
    return scores;
  }
  scores.levenshtein_paper = ratio("levenshtein_paper");
  scores.levenshtein = ratio("levenshtein");
  scores.matched = ratio("matched");
  scores.exact = fraction("exact");
  scores.exact_precision = fraction("exact_precision");
  scores.word_f1 = fraction("word_f1");
  if (place.has("total_accuracy")) scores.total_accuracy = fraction("total_accuracy");
  return scores;
}

ReportedDefence parse_defence(const Place& place) {
  return {place.at("kind").text(), place.at("title").text(), place.at("spec").text(),
          place.at("parameter").optional_text(), place.at("strength").optional_number(0, kInfinity)};
}

ResultRow parse_row(const Place& place) {
  ResultRow row;
  row.id = place.at("id").text();
  row.attack = place.at("attack").one_of({"words", "sentences", "records"});
  row.method = place.at("method").one_of(
      {"paper", "best", "film", "tag", "dlg", "baseline", "eavesdrop", "watermark"});
  row.oracle = place.at("oracle").flag();
  row.threat_model = place.at("threat_model").text();
  row.messages = place.at("messages").count();
  const Place protocol = place.at("protocol");
  row.protocol = {protocol.at("name").text(),      protocol.at("epochs").count(),
                  protocol.at("batch").count(),    protocol.at("learning_rate").number(0, kInfinity),
                  protocol.at("reduction").text(), protocol.at("trained").text()};
  row.defence = parse_defence(place.at("defence"));
  row.epsilon = place.at("epsilon").optional_number(0, kInfinity);
  row.delta = place.at("delta").optional_number(0, 1);
  row.told = place.at("told").optional_text();
  row.recovered = place.at("recovered").count();
  row.truth = place.at("truth").count();
  if (const Place certified = place.at("certified"); !certified.null()) row.certified = certified.flag();
  row.scores = parse_scores(place.at("scores"), row);
  row.chance = place.at("chance").optional_number(0, 1);
  const Place utility = place.at("utility");
  row.perplexity_before = utility.at("perplexity_before").optional_number(0, kInfinity);
  row.perplexity_after = utility.at("perplexity_after").optional_number(0, kInfinity);
  row.seconds = place.at("seconds").number(0, kInfinity);
  row.training_seconds = place.at("training_seconds").optional_number(0, kInfinity);
  return row;
}

MessagePair parse_pair(const Place& place) {
  MessagePair pair;
  if (const Place truth = place.at("truth"); !truth.null()) pair.truth = truth.text();
  if (const Place recovered = place.at("recovered"); !recovered.null()) pair.recovered = recovered.text();
  pair.exact = place.at("exact").flag();
  pair.ratio = place.at("ratio").optional_number(0, 100);
  return pair;
}

}  // namespace

std::int64_t ResultRow::exact_count() const {
  return std::llround(scores.exact.value_or(0) * static_cast<double>(truth));
}

double ResultRow::leak() const {
  if (!sentences()) return scores.f1.value_or(0);
  return scores.total_accuracy ? *scores.total_accuracy : scores.exact.value_or(0);
}

bool Results::of_sequences() const {
  return std::ranges::any_of(rows,
                             [](const ResultRow& row) { return row.scores.total_accuracy.has_value(); });
}

bool Results::of_records() const {
  return std::ranges::any_of(rows, &ResultRow::records);
}

const ReportedThreatModel& Results::threat_model(const ResultRow& row) const {
  const auto found = std::ranges::find(threat_models, row.threat_model, &ReportedThreatModel::id);
  UNDERTEXT_CHECK(found != threat_models.end());  // parse_results has seen to it
  return *found;
}

Results parse_results(const json& document, const std::string& source) {
  const Place root(document, source, "");
  root.at("format").one_of({"undertext-results"});
  if (const std::int64_t version = root.at("format_version").count(); version != kResultsVersion)
    fail("{}: results of format {}, which this version does not read, expected format {}: {}", source,
         version, kResultsVersion,
         version < kResultsVersion ? "run the audit again" : "a newer undertext wrote them");

  Results results;
  results.version = root.at("version").text();
  results.command = root.at("command").text();
  results.preset = root.at("preset").text();
  results.seed = root.at("seed").seed();
  results.seconds = root.at("seconds").number(0, kInfinity);
  results.model = parse_model(root.at("model"));

  std::set<std::string> threat_models;
  for (const Place& place : root.at("threat_models").items()) {
    results.threat_models.push_back({place.at("id").text(), place.at("name").text(), place.at("sees").text(),
                                     place.at("does_not_see").text(), place.at("does").text()});
    if (!threat_models.insert(results.threat_models.back().id).second)
      place.at("id").wrong("an id that no other threat model has");
  }
  std::set<std::string> rows;
  for (const Place& place : root.at("rows").items()) {
    results.rows.push_back(parse_row(place));
    if (!rows.insert(results.rows.back().id).second) place.at("id").wrong("an id that no other row has");
    if (!threat_models.contains(results.rows.back().threat_model))
      place.at("threat_model").wrong("the id of a threat model");
  }
  if (rows.empty()) root.at("rows").wrong("at least one row");
  for (const Place& place : root.at("samples").items()) {
    Sample sample{place.at("row").text(), {}};
    if (!rows.contains(sample.row)) place.at("row").wrong("the id of a row");
    for (const Place& pair : place.at("pairs").items()) sample.pairs.push_back(parse_pair(pair));
    results.samples.push_back(std::move(sample));
  }
  if (root.has("curves"))
    for (const Place& place : root.at("curves").items()) {
      CorrelationCurves curves{place.at("title").text(), place.at("owner").count(), {}};
      for (const Place& client : place.at("clients").items()) {
        std::vector<double>& values = curves.clients.emplace_back();
        for (const Place& value : client.items()) values.push_back(value.number(-1, 1));
      }
      results.curves.push_back(std::move(curves));
    }
  for (const Place& place : root.at("impossible").items()) {
    results.impossible.push_back({place.at("attack").text(), place.at("threat_model").text(),
                                  parse_defence(place.at("defence")), place.at("why").text()});
    if (!threat_models.contains(results.impossible.back().threat_model))
      place.at("threat_model").wrong("the id of a threat model");
  }
  for (const Place& place : root.at("privacy").items())
    results.privacy.push_back({place.at("spec").text(), place.at("statement").text()});
  return results;
}

json read_results(const std::filesystem::path& file) {
  json document;
  try {
    document = json::parse(read_file(file));
  } catch (const json::parse_error& error) {
    fail("{}: not whole, valid JSON (byte {}), expected the results of an audit", file.string(), error.byte);
  }
  parse_results(document, file.string());
  return document;
}

}  // namespace undertext
