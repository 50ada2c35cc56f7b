#include "fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace undertext::fixture {
namespace {

using nlohmann::json;

struct Protocol {
  std::string name;
  int epochs, batch;
};

struct Defence {
  std::string name;
  double sigma;
};

std::string pick(Random& random, const std::vector<std::string>& words) {
  return words[random.below(words.size())];
}

std::string message(Random& random) {
  const std::vector<std::string> names = {"anna", "tom", "mum", "lena", "omar", "josé", "mei", "david"};
  const std::vector<std::string> places = {"the station", "school", "the clinic", "home", "the café", "work"};
  const std::vector<std::string> times = {"at six",      "tonight",   "tomorrow",
                                          "after lunch", "on friday", "at half past nine"};
  const std::vector<std::string> things = {"the keys", "milk and bread", "my results", "the tickets",
                                           "a blue coat"};
  switch (random.below(6)) {
    case 0:
      return "see you " + pick(random, times);
    case 1:
      return pick(random, names) + " is waiting at " + pick(random, places);
    case 2:
      return "can you bring " + pick(random, things) + " " + pick(random, times);
    case 3:
      return "I will be at " + pick(random, places) + " " + pick(random, times) + " with " +
             pick(random, names);
    case 4:
      return "the door code is " + std::to_string(1000 + random.below(9000));
    default:
      return "tell " + pick(random, names) + " I forgot " + pick(random, things);
  }
}

// A recovered message that is not right: words of the truth in another order, some of them of another
// message.
std::string garbled(Random& random, const std::string& truth) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : truth + " ") {
    if (c != ' ') {
      word += c;
    } else {
      words.push_back(word);
      word.clear();
    }
  }
  std::swap(words.front(), words[random.below(words.size())]);
  words[random.below(words.size())] = pick(random, {"tonight", "bring", "the", "lena", "I"});
  std::string text = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) text += " " + words[i];
  return text;
}

struct Leak {
  double exact, f1;
};

// Shares that behave as measured ones do: noise and size lower them, the published method lies below the
// best.
Leak leak_of(int messages, const Protocol& protocol, const Defence& defence, bool best, bool oracle) {
  const double noise = defence.sigma * (defence.name == "noise on the result" ? 4 : 1);
  const double size = std::log2(messages / 16.0) / 4;  // 0 at 16, 1 at 256
  double exact = best ? 1.0 : 0.75 - 0.45 * size;
  double f1 = best ? 1.0 : 0.975 - 0.03 * size;
  if (protocol.name == "FedAvg") {
    exact -= best ? 0.03 * size : 0.08;
    f1 -= best ? 0.004 : 0.02 * std::log2(protocol.epochs + 1.0) * 0.4;
  }
  const double strength = (best ? 1.2 : oracle ? 4 : 18) * noise * (1 + size);
  exact *= std::exp(-strength * strength * 1.2);
  f1 = 0.08 + (f1 - 0.08) * std::exp(-strength * 0.6);
  if (defence.sigma == 0 && best && protocol.name == "FedSGD") exact = f1 = 1;
  return {std::clamp(exact, 0.0, 1.0), std::clamp(f1, 0.0, 1.0)};
}

struct Builder {
  json rows = json::array(), samples = json::array();

  void add(int messages, const Protocol& protocol, const Defence& defence, bool sentences, bool best,
           bool oracle) {
    Leak leak = leak_of(messages, protocol, defence, best, oracle);
    const int truth = sentences ? messages : static_cast<int>(std::lround(2.1 * std::pow(messages, 0.84)));
    leak.exact = std::round(leak.exact * messages) / messages;
    const std::string id = "n" + std::to_string(messages) + "-" + protocol.name +
                           std::to_string(protocol.epochs) + "-" + defence.name +
                           std::to_string(defence.sigma) + (sentences ? "-sentences-" : "-words-") +
                           (best     ? "best"
                            : oracle ? "oracle"
                                     : "paper");
    const bool exact_step = protocol.name == "FedSGD" && defence.sigma == 0;
    const double precision = std::min(1.0, leak.f1 + 0.02);
    const double recall = leak.f1 * precision / (2 * precision - leak.f1);
    const double plain = 100 * (0.35 * leak.f1 + 0.65 * leak.exact);
    json scores = sentences ? json{{"levenshtein_paper", 45 + 0.55 * plain},
                                   {"levenshtein", plain},
                                   {"matched", 0.96 * plain},
                                   {"exact", leak.exact},
                                   {"exact_precision", leak.exact},
                                   {"word_f1", leak.f1},
                                   {"recovered", messages},
                                   {"truth", messages}}
                            : json{{"f1", leak.f1},
                                   {"precision", precision},
                                   {"recall", recall},
                                   {"recovered", truth},
                                   {"truth", truth}};
    const double noise =
        defence.sigma * (defence.name == "noise on the result" ? 6 : std::sqrt(protocol.epochs));
    json certified = nullptr;
    if (sentences && best) certified = exact_step;
    rows.push_back({{"id", id},
                    {"attack", sentences ? "sentences" : "words"},
                    {"method", best ? "best" : "paper"},
                    {"oracle", oracle},
                    {"threat_model", "curious-server"},
                    {"messages", messages},
                    {"protocol",
                     {{"name", protocol.name},
                      {"epochs", protocol.epochs},
                      {"batch", protocol.batch == 0 ? messages : protocol.batch},
                      {"learning_rate", 0.001},
                      {"reduction", "sum"},
                      {"trained", "all-but-embedding"}}},
                    {"defence", fixture::defence(defence.name, defence.sigma)},
                    {"epsilon", nullptr},
                    {"delta", nullptr},
                    {"told", defence.sigma > 0 ? json("the noise's deviation") : json(nullptr)},
                    {"chance", nullptr},
                    {"recovered", sentences ? messages : static_cast<int>(truth * leak.f1)},
                    {"truth", truth},
                    {"certified", certified},
                    {"scores", scores},
                    {"utility",
                     {{"perplexity_before", 31.2},
                      {"perplexity_after", 30.9 + 0.02 * protocol.epochs + 9 * noise * noise}}},
                    {"seconds", 0.1 + messages / 80.0},
                    {"training_seconds", defence.sigma > 0 ? 0.3 : 0.2}});
    if (sentences) add_sample(id, messages, leak.exact);
  }

  void add_sample(const std::string& row, int messages, double exact) {
    json pairs = json::array();
    Random texts(Seed(7).derive(static_cast<std::uint64_t>(messages)));
    Random luck(Seed(8).derive(row));
    for (int i = 0; i < messages; ++i) {
      const std::string truth = message(texts);
      const bool right = i < std::lround(exact * messages);
      if (right)
        pairs.push_back({{"truth", truth}, {"recovered", truth}, {"exact", true}, {"ratio", 100.0}});
      else if (luck.below(9) == 0)
        pairs.push_back({{"truth", truth}, {"recovered", nullptr}, {"exact", false}, {"ratio", 0.0}});
      else
        pairs.push_back({{"truth", truth},
                         {"recovered", garbled(luck, truth)},
                         {"exact", false},
                         {"ratio", 40.0 + static_cast<double>(luck.below(50))}});
    }
    if (exact < 1)
      pairs.push_back(
          {{"truth", nullptr}, {"recovered", "see you in the"}, {"exact", false}, {"ratio", 0.0}});
    samples.push_back({{"row", row}, {"pairs", pairs}});
  }
};

json frame() {
  return {{"format", "undertext-results"},
          {"format_version", 2},
          {"version", "0.1.0"},
          {"command", "undertext audit --seed 1"},
          {"preset", "keyboard"},
          {"seed", 1},
          {"seconds", 41.2},
          {"model",
           {{"kind", "cifg-lstm"},
            {"source", "built-in"},
            {"parameters", 1200000},
            {"vocabulary", 2100},
            {"perplexity", 31.2}}},
          {"threat_models",
           {{{"id", "curious-server"},
             {"name", "Curious server"},
             {"sees", "the global model and one client's update"},
             {"does_not_see", "the client's texts, their number or lengths"},
             {"does", "follows the protocol"}}}},
          {"rows", json::array()},
          {"samples", json::array()},
          {"impossible",
           {{{"attack", "sentences"},
             {"threat_model", "curious-server"},
             {"defence", fixture::defence("characters", 0)},
             {"why", "a model of words cannot read characters"}}}},
          {"privacy",
           {{{"spec", "dpsgd:clip=1,sigma=0.5"}, {"statement", "(3.2, 1e-05)-differentially private"}}}}};
}

}  // namespace

json defence(const std::string& title, double sigma) {
  std::string kind = title;
  std::ranges::replace(kind, ' ', '-');
  if (kind == "none")
    return {{"kind", kind}, {"title", kind}, {"spec", ""}, {"parameter", nullptr}, {"strength", nullptr}};
  if (sigma == 0)
    return {{"kind", kind}, {"title", title}, {"spec", kind}, {"parameter", nullptr}, {"strength", nullptr}};
  return {{"kind", kind},
          {"title", title},
          {"spec", fmt::format("{}:sigma={}", kind, sigma)},
          {"parameter", "sigma"},
          {"strength", sigma}};
}

json results() {
  const std::vector<Protocol> protocols = {
      {"FedSGD", 1, 0}, {"FedAvg", 1, 16}, {"FedAvg", 10, 32}, {"FedAvg", 30, 32}};
  Builder builder;
  for (const int messages : {16, 64, 256}) {
    for (const Protocol& protocol : protocols) {
      std::vector<Defence> defences = {{"none", 0}};
      if (protocol.name == "FedSGD" || protocol.epochs == 10) {
        for (const double sigma : {0.01, 0.1, 0.3, 1.0}) defences.push_back({"noise per step", sigma});
      }
      if (protocol.epochs == 10) {
        for (const double sigma : {0.01, 0.1, 0.3}) defences.push_back({"noise on the result", sigma});
      }
      for (const Defence& defence : defences) {
        for (const bool sentences : {false, true}) {
          for (const bool best : {false, true})
            builder.add(messages, protocol, defence, sentences, best, false);
        }
        if (defence.sigma > 0) builder.add(messages, protocol, defence, false, false, true);
      }
    }
  }
  json all = frame();
  all["rows"] = builder.rows;
  all["samples"] = builder.samples;
  return all;
}

json smallest() {
  Builder builder;
  builder.add(16, {"FedSGD", 1, 0}, {"none", 0}, true, true, false);
  json all = frame();
  all["rows"] = builder.rows;
  all["samples"] = builder.samples;
  return all;
}

std::vector<std::string> hostile_texts() {
  return {"</script><script>document.documentElement.dataset.hacked='script'</script>",
          "<img src=x onerror=\"document.documentElement.dataset.hacked='image'\">",
          "<!-- <script> -->]]>",
          "\"quotes' `backticks` \\u003c \\",
          "${document.documentElement.dataset.hacked='template'} {{style}} {{data}}",
          "line\u2028separator\u2029end",
          std::string("nul\0bell\a escape\x1b[31m del\x7f", 26),
          "\u202Eright to left override",
          "שלום עולם مرحبا",
          "👩‍👩‍👧 漢字 e\u0301",
          "&lt;b&gt; &amp; </SCRIPT >",
          ""};
}

json hostile_results() {
  json all = results();
  const auto texts = hostile_texts();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (json& sample : all["samples"]) {
      sample["pairs"][i]["truth"] = texts[i];
      sample["pairs"][i]["recovered"] = texts[(i + 1) % texts.size()];
    }
  }
  const std::string nasty = texts[0] + texts[1];
  for (const char* key : {"version", "command", "preset"}) all[key] = nasty;
  for (const char* key : {"kind", "source"}) all["model"][key] = nasty;
  for (const char* key : {"name", "sees", "does_not_see", "does"}) all["threat_models"][0][key] = nasty;
  for (const char* key : {"attack", "why"}) all["impossible"][0][key] = nasty;
  for (const char* key : {"title", "spec"}) all["impossible"][0]["defence"][key] = nasty;
  for (const char* key : {"spec", "statement"}) all["privacy"][0][key] = nasty;
  for (json& row : all["rows"]) {
    row["protocol"]["name"] = row["protocol"]["name"].get<std::string>() + nasty;
    if (row["defence"]["kind"] == "none") continue;
    for (const char* key : {"kind", "title", "spec"})
      row["defence"][key] = row["defence"][key].get<std::string>() + nasty;
    row["told"] = nasty;
  }
  return all;
}

}  // namespace undertext::fixture
