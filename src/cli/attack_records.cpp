// undertext attack records: private records and their owners, from the global models of a federation.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "attacks/records/observed_rounds.h"
#include "attacks/records/record_attack.h"
#include "audit/record_results.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "federated/federation_folder.h"
#include "federated/planting.h"
#include "text/corpus.h"

namespace undertext {
namespace {

constexpr std::int64_t kMost = 1'000'000;

struct Flags {
  std::filesystem::path snapshots, truth, watermarks;
  std::string pattern, method = "best", formula = "paper", rounds;
  std::optional<std::string> watermark, context;
  std::optional<std::int64_t> victim;
  std::optional<std::uint64_t> permute;
  std::int64_t candidates = 1000, top = 10, until = 0;
  double unknown = 0;
  bool json = false;
};

// "A:B" as the rounds A + 1 to B.
std::pair<std::int64_t, std::int64_t> rounds_asked(const Flags& flags, std::int64_t rounds) {
  std::int64_t first = 0, last = flags.until > 0 ? flags.until : rounds;
  if (!flags.rounds.empty()) {
    const std::size_t colon = flags.rounds.find(':');
    const auto number = [&](const std::string& text) {
      const bool digits = !text.empty() && text.size() < 10 &&
                          std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
      if (!digits) fail("--rounds {}: expected two rounds like 10:50", quote(flags.rounds));
      return std::stoll(text);
    };
    if (colon == std::string::npos) number("");
    first = number(flags.rounds.substr(0, colon));
    last = number(flags.rounds.substr(colon + 1));
  }
  if (first >= last || last > rounds)
    fail("{}: has {} rounds; expected --until or --rounds within them", flags.snapshots.string(), rounds);
  return {first, last};
}

FederationObservation observed(const Flags& flags) {
  const FederationObservation all = open_federation(flags.snapshots);
  if (all.rounds == 0) fail("{}: holds no round yet", flags.snapshots.string());
  const auto [first, last] = rounds_asked(flags, all.rounds);
  FederationObservation observation = rounds_of(all, first, last);
  if (flags.permute) observation = permuted(observation, Seed(*flags.permute).derive("permuted"));
  if (flags.unknown > 0) observation = with_unknown(observation, flags.unknown, Seed(1).derive("unknown"));
  return observation;
}

// JSON as undertext federate writes it, or plain lines, client 0 first.
PlantedTexts planted_texts(const std::filesystem::path& file) {
  if (read_file(file).starts_with('{')) return read_planted(file);
  PlantedTexts planted;
  for (std::string& line : read_lines(file))
    planted.texts.push_back({std::ssize(planted.texts), std::move(line), 1});
  return planted;
}

std::vector<Watermark> watermarks_of(const Flags& flags) {
  if (flags.method != "watermark") {
    if (flags.watermark || !flags.watermarks.empty())
      fail("--watermark: belongs to --method watermark, not to {}", flags.method);
    return {};
  }
  if (flags.watermark) {
    if (!flags.victim) fail("--watermark: is one client's, expected --victim I as well");
    if (flags.watermark->empty()) fail("--watermark: is empty, expected a text");
    return {{*flags.victim, *flags.watermark}};
  }
  if (flags.watermarks.empty())
    fail("--method watermark: expected --watermark TEXT (and --victim I) or --watermarks FILE");
  std::vector<Watermark> marks;
  for (const PlantedText& one : planted_texts(flags.watermarks).texts)
    marks.push_back({one.client, one.text});
  return marks;
}

std::optional<RecordScores> scores_of(const Flags& flags, const RecordRecovery& recovery) {
  if (flags.truth.empty()) return std::nullopt;
  const PlantedTexts truth = planted_texts(flags.truth);
  try {
    return score_recovery(recovery, truth);
  } catch (const UserError& error) {
    fail("{}: {}", flags.truth.string(), error.what());
  }
}

nlohmann::json json_of(const Flags& flags, const FederationObservation& observation,
                       const RecordRecovery& recovery, const std::optional<RecordScores>& scores) {
  nlohmann::json victims = nlohmann::json::array();
  for (const VictimRecords& victim : recovery.victims) {
    nlohmann::json candidates = nlohmann::json::array();
    for (const RecoveredRecord& record : victim.candidates) {
      if (std::ssize(candidates) == flags.top) break;
      nlohmann::json one = {{"text", record.text},
                            {"rank", record.rank},
                            {"correlation", record.correlation},
                            {"exposure", record.exposure},
                            {"owner", record.owner}};
      if (record.bits) one["bits"] = *record.bits;
      if (record.confidence) one["confidence"] = *record.confidence;
      candidates.push_back(std::move(one));
    }
    victims.push_back({{"client", victim.client},
                       {"candidates", std::move(candidates)},
                       {"candidates_in_all", victim.candidates.size()}});
  }
  return {{"attack", "records"},
          {"method", flags.method},
          {"formula", flags.formula},
          {"pattern", flags.pattern},
          {"rank", "the smallest is the best"},
          {"rounds", observation.rounds},
          {"clients", observation.clients},
          {"log2_texts", recovery.log2_texts},
          {"searched", {recovery.first_searched, recovery.last_searched}},
          {"proven", recovery.proven},
          {"victims", victims},
          {"control", flags.permute.has_value()},
          {"scores", scores ? nlohmann::json(*scores) : nlohmann::json::object()},
          {"threat_model", "client"}};
}

std::string searched_text(const Flags& flags, const RecordRecovery& recovery) {
  const std::int64_t first = recovery.first_searched, last = recovery.last_searched;
  std::string where = fmt::format("after round {}", last);
  if (first < last) where = fmt::format("after each of rounds {} to {}", first, last);
  if (flags.method == "best") where = fmt::format("by rounds {} to {} together", first, last);
  return fmt::format("the likeliest of 2^{:.1f} texts {}; the first {} proven to be so", recovery.log2_texts,
                     where, recovery.proven);
}

std::string score_lines(const RecordScores& scores) {
  std::string top, distance;
  for (std::size_t k = 0; k < RecordScores::kTops.size(); ++k) {
    top += fmt::format("{}top-{} {:.2f}", k ? ", " : "", RecordScores::kTops[k], scores.accuracy[k]);
    distance += fmt::format("{}{:.2f}", k ? ", " : "", scores.distance[k]);
  }
  std::string lines = fmt::format("scores:     {} of {}; edits to the record {}\n", top,
                                  counted(scores.victims, "record", "records"), distance);
  if (scores.owners)
    lines += fmt::format("owners:     {:.2f} right, where the record is a candidate\n", *scores.owners);
  return lines;
}

std::string text_of(const Flags& flags, const FederationObservation& observation,
                    const RecordRecovery& recovery, const std::optional<RecordScores>& scores) {
  std::string text = fmt::format(
      "records read from {}\n"
      "who reads:  {}\n"
      "federation: {}, {}\n"
      "candidates: {}\n"
      "order:      by {}; the smallest rank is the best\n",
      flags.snapshots.string(),
      flags.permute ? "nobody: a control, who took part was dealt out anew"
      : flags.method == "watermark"
          ? "a client that sees the global model after each round, and put a text among the victim's"
          : "a client that sees the global model after each round, and who took part",
      counted(observation.clients, "client", "clients"), counted(observation.rounds, "round", "rounds"),
      searched_text(flags, recovery),
      flags.method == "baseline" ? "exposure alone, one list for all"
      : flags.method == "best"   ? "confidence"
      : flags.formula == "paper" ? "the ranks of correlation and exposure, added, as published"
                                 : "the ranks of correlation and exposure of the free characters, added");
  if (scores) text += score_lines(*scores);
  for (const VictimRecords& victim : recovery.victims) {
    text += fmt::format("\nclient {}\n  {:>7}  {:>11}  {:>8}  {:>5}  {}record\n", victim.client, "rank",
                        "correlation", "exposure", "owner", flags.method == "best" ? "confidence  " : "");
    std::int64_t shown = 0;
    for (const RecoveredRecord& record : victim.candidates) {
      if (shown++ == flags.top) break;
      text += fmt::format(
          "  {:>7.1f}  {:>11.3f}  {:>8.3f}  {:>5}  {}{}\n", record.rank, record.correlation, record.exposure,
          record.owner, record.confidence ? fmt::format("{:>10.3f}  ", *record.confidence) : "", record.text);
    }
  }
  return text;
}

int run(const Flags& flags) {
  const RecordPattern pattern = RecordPattern::parse(flags.pattern);
  RecordAttack attack;
  attack.method = record_method_named(flags.method);
  attack.watermarks = watermarks_of(flags);
  attack.candidates = flags.candidates;
  attack.formula = record_formula_named(flags.formula);
  attack.context = flags.context;
  if (flags.victim) attack.victims = {*flags.victim};
  const FederationObservation observation = observed(flags);
  RecordRecovery recovery;
  try {
    recovery = recover_records(observation, pattern, attack);
  } catch (const UserError& error) {
    fail("{}: {}", flags.snapshots.string(), error.what());
  }
  const std::optional<RecordScores> scores = scores_of(flags, recovery);
  flags.json ? print_json(json_of(flags, observation, recovery, scores))
             : print_text(text_of(flags, observation, recovery, scores));
  return 0;
}

}  // namespace

Verb attack_records_verb(CLI::App& attack) {
  CLI::App* app = attack.add_subcommand("records", "Read private records from the models of a federation");
  const auto flags = std::make_shared<Flags>();
  app->add_option("--snapshots", flags->snapshots, "folder of the rounds' models (see undertext federate)")
      ->required()
      ->option_text("DIR");
  app->add_option("--pattern", flags->pattern,
                  "what a record looks like: fixed text and, in braces, free places: d a digit, a and A a "
                  "letter, x a hexadecimal digit, {red|green} alternatives, {@names.txt} a list")
      ->required()
      ->option_text("TEXT");
  app->add_option("--method", flags->method,
                  "baseline: exposure alone; eavesdrop: with who took part; watermark: with a text put "
                  "among the victim's; best: ours, all rounds and victims together (best)")
      ->check(CLI::IsMember({"baseline", "eavesdrop", "watermark", "best"}))
      ->option_text("NAME");
  app->add_option("--victim", flags->victim, "the client whose record is wanted (all clients)")
      ->check(CLI::Range(std::int64_t{0}, kMost))
      ->option_text("I");
  app->add_option("--watermark", flags->watermark, "the text that was put among the victim's")
      ->option_text("TEXT");
  app->add_option("--watermarks", flags->watermarks,
                  "such texts of several clients: a file of undertext federate, or lines, client 0 first")
      ->option_text("FILE");
  app->add_option("--top", flags->top, "candidates to show for each victim (10)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("K");
  app->add_option("--candidates", flags->candidates, "likeliest texts of a model to look at (1000)")
      ->check(CLI::Range(std::int64_t{1}, kMost))
      ->option_text("K");
  app->add_option("--formula", flags->formula,
                  "eavesdrop and watermark: as the paper has it, or wide: exposure of the free characters "
                  "alone, candidates and exposures of the last few models (paper)")
      ->check(CLI::IsMember({"paper", "wide"}))
      ->option_text("NAME");
  app->add_option("--context", flags->context, "what stands before a record (a line feed)")
      ->option_text("TEXT");
  const auto until =
      app->add_option("--until", flags->until, "attack as it stood after this round (the last)")
          ->check(CLI::Range(std::int64_t{1}, kMost))
          ->option_text("T");
  app->add_option("--rounds", flags->rounds, "only what happened after round A, until round B")
      ->excludes(until)
      ->option_text("A:B");
  app->add_option("--permute", flags->permute,
                  "a control: deals out anew who took part when, by this seed; what is still read then was "
                  "not read from that")
      ->option_text("SEED");
  app->add_option("--unknown", flags->unknown, "forget this share of who took part when (0)")
      ->check(CLI::Range(0.0, 1.0))
      ->option_text("SHARE");
  app->add_option("--truth", flags->truth,
                  "the true records, which add scores and change nothing else: a file of undertext "
                  "federate, or lines, client 0 first")
      ->option_text("FILE");
  app->add_flag("--json", flags->json, "print one JSON object");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
