#include "experiment_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "fixture.h"

namespace undertext::fixture {
namespace {

using nlohmann::json;

constexpr int kRepetitions = 3;

double jitter(const std::string& name, double size) {
  Random random(Seed(11).derive(name));
  return size * (static_cast<double>(random.below(2001)) / 1000 - 1);
}

ReportedCell done_cell(const std::string& key, std::vector<json> values, int repetition) {
  ReportedCell cell;
  cell.key = key;
  cell.state = CellState::done;
  cell.values = std::move(values);
  cell.seed = static_cast<std::uint64_t>(repetition + 1);
  cell.texts = fmt::format("messages.txt, client {}", repetition + 1);
  cell.seconds = 1.5 + std::abs(jitter(key, 1));
  cell.peak_memory = 412'000'000 + static_cast<std::int64_t>(1e6 * jitter(key + "memory", 20));
  cell.version = "0.1.0";
  cell.host = "node-1";
  return cell;
}

void fail_cell(ReportedCell& cell, const std::string& error) {
  cell.state = CellState::failed;
  cell.error = error;
  cell.metrics.clear();
  cell.pairs.clear();
}

// Of ten words, as many are right as the share says.
std::vector<MessagePair> sample_pairs(double exact, int repetition) {
  const std::vector<std::string> texts = {"see you at six",
                                          "the door code is 4471",
                                          "can you bring milk and bread",
                                          "mei is at the station",
                                          "tell omar I forgot the keys",
                                          "I will be home after lunch",
                                          "good night",
                                          "my results came today",
                                          "the café closes on friday",
                                          "call me tomorrow"};
  std::vector<MessagePair> pairs;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& truth = texts[(i + static_cast<std::size_t>(repetition)) % texts.size()];
    const bool right = static_cast<double>(i) < 10 * exact - 0.5;
    const std::string last = truth.substr(truth.rfind(' ') + 1);
    if (right)
      pairs.push_back({truth, truth, true, 100});
    else if (i == 9)
      pairs.push_back({truth, std::nullopt, false, 0});
    else
      pairs.push_back(
          {truth, last + " " + truth.substr(0, truth.rfind(' ')), false, 60 - static_cast<double>(i)});
  }
  return pairs;
}

// Changes of the output bias: those of typed words are large, those of the others small and many.
std::vector<ReportedWord> bias_changes(int epochs, int count) {
  const std::vector<std::string> typed = {"see",  "you",   "at",    "six",    "the",  "door",
                                          "code", "bring", "milk",  "bread",  "omar", "keys",
                                          "home", "lunch", "night", "results"};
  std::vector<ReportedWord> words;
  for (int i = 0; i < count; ++i) {
    const bool real = static_cast<std::size_t>(i) < typed.size();
    const std::string word = real ? typed[static_cast<std::size_t>(i)] : fmt::format("word{}", i);
    const double size = real ? 0.02 * std::exp(-0.12 * i) : 0.004 * std::exp(-0.05 * (i - 16)) / epochs;
    words.push_back({word, 37 * i % 2100, (real ? 1 : -1) * size * (1 + jitter(word, 0.4)), real});
  }
  std::ranges::sort(words, std::ranges::greater(), [](const auto& word) { return std::abs(word.score); });
  return words;
}

ReportedExperiment words_over_epochs() {
  ReportedExperiment experiment;
  experiment.name = "gboard-figure-2a";
  experiment.title = "Words recovered, by local training";
  experiment.source = "Suliman and Leith 2022, Figure 2a";
  experiment.says =
      "The F1 score is high for every client size and falls only slowly as the client trains longer.";
  experiment.command = "undertext run experiments/gboard-figure-2a.toml --out results";
  experiment.profile = "quick";
  experiment.axes = {"client.messages", "federation.epochs"};
  experiment.settings = {{"model.kind", "cifg-lstm"}, {"federation.learning_rate", 0.001},
                         {"federation.batch", 32},    {"attack.name", "words"},
                         {"attack.method", "paper"},  {"defence.name", "none"}};
  experiment.plots = {{.kind = "line",
                       .title = "F1 over epochs",
                       .x = "federation.epochs",
                       .y = "f1",
                       .series = "client.messages",
                       .facet = "",
                       .log_x = true,
                       .where = {}}};
  for (const int messages : {16, 32, 64, 128, 256}) {
    for (const int epochs : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
      for (int repetition = 0; repetition < kRepetitions; ++repetition) {
        const std::string key = fmt::format("f2a-{}-{}-{}", messages, epochs, repetition);
        ReportedCell cell = done_cell(key, {messages, epochs}, repetition);
        const double f1 =
            std::clamp(0.99 - 0.012 * std::log2(messages) -
                           0.022 * std::log(epochs) * (1 + messages / 400.0) + jitter(key, 0.02),
                       0.0, 1.0);
        const double precision = std::min(1.0, f1 + 0.01);
        cell.metrics = {{"f1", f1},
                        {"precision", precision},
                        {"recall", f1 * precision / (2 * precision - f1)},
                        {"recovered", std::round(messages * 1.9 * f1)},
                        {"truth", std::round(messages * 1.9)},
                        {"perplexity_before", 31.2},
                        {"perplexity_after", 30.4 + 0.01 * epochs + jitter(key + "p", 0.2)}};
        experiment.cells.push_back(std::move(cell));
      }
    }
  }
  fail_cell(experiment.cells[77],
            "the client's loss became infinite in epoch 31, expected a smaller learning rate");
  return experiment;
}

ReportedExperiment order_against_words() {
  ReportedExperiment experiment;
  experiment.name = "gboard-figure-3";
  experiment.title = "Order against words";
  experiment.source = "Suliman and Leith 2022, Figure 3";
  experiment.says = "Sentences stay near to the true ones even where some words are missed.";
  experiment.command = "undertext run experiments/gboard-figure-3.toml --out results";
  experiment.axes = {"client.messages", "attack.method", "federation.protocol"};
  experiment.settings = {{"attack.name", "sentences"}, {"defence.name", "none"}};
  experiment.plots = {{.kind = "scatter",
                       .title = "",
                       .x = "word_f1",
                       .y = "levenshtein_paper",
                       .series = "client.messages",
                       .facet = "attack.method",
                       .log_x = false,
                       .where = {}},
                      {.kind = "line",
                       .title = "Read word for word",
                       .x = "client.messages",
                       .y = "exact",
                       .series = "attack.method",
                       .facet = "federation.protocol",
                       .log_x = true,
                       .where = {}}};
  for (const int messages : {16, 64, 256}) {
    for (const std::string method : {"best", "paper"}) {
      for (const std::string protocol : {"FedSGD", "FedAvg"}) {
        for (int repetition = 0; repetition < kRepetitions; ++repetition) {
          const std::string key = fmt::format("f3-{}-{}-{}-{}", messages, method, protocol, repetition);
          ReportedCell cell = done_cell(key, {messages, method, protocol}, repetition);
          const double loss =
              (method == "best" ? 0.05 : 0.35) * (protocol == "FedSGD" ? 0.4 : 1) * std::log2(messages) / 8;
          const double exact = std::clamp(1 - 2 * loss + jitter(key, 0.06), 0.0, 1.0);
          cell.metrics = {{"exact", exact},
                          {"matched", 100 * std::clamp(1 - 1.4 * loss, 0.0, 1.0)},
                          {"levenshtein_paper", std::clamp(100 - 90 * loss + jitter(key, 4), 0.0, 100.0)},
                          {"word_f1", std::clamp(1 - loss + jitter(key, 0.05), 0.0, 1.0)},
                          {"certified", exact == 1 ? 1.0 : 0.0}};
          cell.pairs = sample_pairs(exact, repetition);
          cell.all_pairs = messages;
          experiment.cells.push_back(std::move(cell));
        }
      }
    }
  }
  return experiment;
}

ReportedExperiment bias_magnitudes() {
  ReportedExperiment experiment;
  experiment.name = "gboard-figure-4";
  experiment.title = "Changes of the output bias";
  experiment.source = "Suliman and Leith 2022, Figure 4 and Table 1";
  experiment.says = "Typed words stand apart: their magnitudes are larger than those of the others.";
  experiment.command = "undertext run experiments/gboard-figure-4.toml --out results";
  experiment.axes = {"federation.epochs"};
  experiment.settings = {{"client.messages", 16}};
  experiment.plots = {{.kind = "magnitudes",
                       .title = "Magnitudes by rank",
                       .x = "",
                       .y = "",
                       .series = "federation.epochs",
                       .facet = "",
                       .log_x = false,
                       .where = {}},
                      {.kind = "words",
                       .title = "Words of the update",
                       .x = "",
                       .y = "",
                       .series = "",
                       .facet = "",
                       .log_x = false,
                       .where = {{"federation.epochs", 1}}}};
  for (const int epochs : {1, 10, 100}) {
    ReportedCell cell = done_cell(fmt::format("f4-{}", epochs), {epochs}, 0);
    cell.metrics = {{"f1", 0.97 - 0.02 * std::log10(epochs)}};
    cell.words = bias_changes(epochs, 80);
    experiment.cells.push_back(std::move(cell));
  }
  return experiment;
}

ReportedExperiment noise_and_utility() {
  ReportedExperiment experiment;
  experiment.name = "noise";
  experiment.title = "What noise does to leak and to utility";
  experiment.source = "this program’s own audit";
  experiment.command = "undertext run experiments/noise.toml --out results";
  experiment.axes = {"defence.name", "defence.sigma"};
  experiment.settings = {{"client.messages", 64}};
  experiment.plots = {{.kind = "line",
                       .title = "Leak",
                       .x = "defence.sigma",
                       .y = "exact",
                       .series = "defence.name",
                       .facet = "",
                       .log_x = true,
                       .where = {}},
                      {.kind = "line",
                       .title = "Utility",
                       .x = "defence.sigma",
                       .y = "perplexity_after",
                       .series = "defence.name",
                       .facet = "",
                       .log_x = true,
                       .where = {}},
                      {.kind = "line",
                       .title = "Leak of either noise",
                       .x = "defence.name",
                       .y = "exact",
                       .series = "",
                       .facet = "",
                       .log_x = false,
                       .where = {{"defence.sigma", 0.1}}}};
  for (const std::string defence : {"noise per step", "noise on the result"}) {
    for (const double sigma : {0.0, 0.001, 0.01, 0.1, 1.0}) {
      for (int repetition = 0; repetition < kRepetitions; ++repetition) {
        const std::string key = fmt::format("noise-{}-{}-{}", defence, sigma, repetition);
        ReportedCell cell = done_cell(key, {defence, sigma}, repetition);
        const double strength = sigma * (defence == "noise per step" ? 8 : 40);
        cell.metrics = {
            {"exact", std::clamp(std::exp(-strength) + jitter(key, sigma > 0 ? 0.03 : 0), 0.0, 1.0)},
            {"word_f1", std::clamp(0.1 + 0.9 * std::exp(-strength / 3), 0.0, 1.0)},
            {"perplexity_after", 30.9 + 40 * strength * (1 + jitter(key, 0.1))}};
        cell.pairs = sample_pairs(cell.metrics[0].second, repetition);
        cell.all_pairs = 64;
        experiment.cells.push_back(std::move(cell));
      }
    }
  }
  experiment.cells.back().state = CellState::pending;
  return experiment;
}

}  // namespace

ReportedExperiment small_experiment() {
  ReportedExperiment experiment;
  experiment.name = "small";
  experiment.title = "A small one";
  experiment.source = "nowhere";
  experiment.axes = {"federation.epochs"};
  experiment.settings = {{"client.messages", 16}};
  experiment.plots = {{.kind = "line",
                       .title = "",
                       .x = "federation.epochs",
                       .y = "f1",
                       .series = "",
                       .facet = "",
                       .log_x = false,
                       .where = {}}};
  const std::vector<double> values = {0.8, 0.9, 1.0};
  for (int repetition = 0; repetition < 3; ++repetition) {
    ReportedCell cell = done_cell(fmt::format("one-{}", repetition), {1}, repetition);
    cell.metrics = {{"f1", values[static_cast<std::size_t>(repetition)]}};
    cell.seconds = 2;
    cell.peak_memory = 1'500'000'000;
    experiment.cells.push_back(cell);
    cell.key = fmt::format("ten-{}", repetition);
    cell.values = {10};
    cell.metrics = {{"f1", 0.5}};
    if (repetition == 1) fail_cell(cell, "it broke");
    if (repetition == 2) cell.state = CellState::pending;
    experiment.cells.push_back(cell);
  }
  return experiment;
}

std::vector<ReportedExperiment> experiments() {
  return {words_over_epochs(), order_against_words(), bias_magnitudes(), noise_and_utility()};
}

std::vector<ReportedExperiment> hostile_experiments() {
  auto all = experiments();
  const auto texts = hostile_texts();
  const std::string nasty = texts[0] + texts[1];
  for (ReportedExperiment& experiment : all) {
    for (std::string* text : {&experiment.name, &experiment.title, &experiment.source, &experiment.says,
                              &experiment.command, &experiment.profile})
      *text += nasty;
    for (ReportedPlot& plot : experiment.plots) plot.title += nasty;
    experiment.settings.emplace_back("bad." + nasty, nasty);
    experiment.axes.push_back("bad." + texts[1]);
    for (std::size_t c = 0; c < experiment.cells.size(); ++c) {
      ReportedCell& cell = experiment.cells[c];
      cell.values.push_back(texts[c % 2 == 0 ? 0 : 6]);
      cell.key = cell.texts = cell.version = cell.host = texts[c % texts.size()];
      if (cell.state == CellState::failed) cell.error += nasty;
      if (cell.state == CellState::done) cell.metrics.emplace_back("bad " + texts[1], 1);
      for (std::size_t i = 0; i < cell.pairs.size(); ++i) {
        cell.pairs[i].truth = texts[i % texts.size()];
        cell.pairs[i].recovered = texts[(i + 1) % texts.size()];
      }
      for (std::size_t i = 0; i < std::min(cell.words.size(), texts.size()); ++i)
        cell.words[i].word = texts[i];
    }
  }
  return all;
}

ReportedExperiment pending_experiment() {
  ReportedExperiment experiment = words_over_epochs();
  for (ReportedCell& cell : experiment.cells) {
    cell.state = CellState::pending;
    cell.error.clear();
    cell.metrics.clear();
    cell.pairs.clear();
  }
  return experiment;
}

ReportedExperiment large_experiment(int cells, int pairs, int words) {
  ReportedExperiment experiment = words_over_epochs();
  experiment.cells.clear();
  for (int i = 0; i < cells; ++i) {
    const int repetition = i % 3;
    const int epochs = 1 + i / 3 % 100;
    const int messages = 1 + i / 300;
    ReportedCell cell = done_cell(fmt::format("{:064x}", i), {messages, epochs}, repetition);
    cell.seed = 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(repetition + 1);
    for (const char* name :
         {"exact", "exact_precision", "matched", "levenshtein", "levenshtein_paper", "word_f1", "certified",
          "recovered", "truth", "perplexity_before", "perplexity_after"})
      cell.metrics.emplace_back(name, std::abs(jitter(fmt::format("{}{}", name, i), 1)));
    for (int p = 0; p < pairs; ++p)
      cell.pairs.push_back(
          {fmt::format("message {} of cell {}", p, i), fmt::format("message {} of {}", p, i), false, 80.0});
    cell.all_pairs = pairs;
    for (int w = 0; w < words; ++w)
      cell.words.push_back({fmt::format("word{}of{}", w, i), w, 0.1 / (w + 1), w % 2 == 0});
    experiment.cells.push_back(std::move(cell));
  }
  return experiment;
}

}  // namespace undertext::fixture
