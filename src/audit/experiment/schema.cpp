#include "audit/experiment/schema.h"

#include <algorithm>

#include "metrics/edit_distance.h"

namespace undertext {
namespace {

constexpr double kMostWhole = 2'147'483'647;

std::vector<Section> made_sections() {
  const std::vector<std::string> noise = {"noise-per-step", "noise-on-result"};
  const std::vector<std::string> matching = {"dlg", "tag"}, words = {"words", "sentences"};
  const std::vector<std::string> listing = {"words", "sentences", "decepticon"};
  const std::vector<std::string> reading = {"sentences", "dlg", "tag"};
  const std::vector<std::string> malicious = {"paper", "best"};
  return {
      {"model",
       false,
       {{"folder", FieldType::text, "built-in",
         "a model's folder, from this file on; built-in (a keyboard); built-in:gpt2 (small, trained); with "
         "random weights built-in:transformer, transformer-gelu, gpt2-mini, gpt2-small, bert-mini, "
         "bert-base"},
        {"otherwise", FieldType::text, "",
         "what to take where there is no such folder: another folder or built-in model"},
        {"tokenizer", FieldType::text, "",
         "folder of a tokenizer's files for a built-in model with random weights; empty, or where there is "
         "none: 2000 words"}}},
      {"texts",
       false,
       {{"files", FieldType::text, "built-in",
         "messages, one a line: a file or a pattern (*, ?, {size}), from this file on; built-in; random "
         "(tokens, with length)"},
        {"otherwise", FieldType::text, "", "what to take where there is no such file: a pattern, built-in"},
        {"text", FieldType::text, "", "the messages themselves, one a line, in place of files"},
        {"words", FieldType::whole, 0, "messages cut to so many words, shorter ones left out; 0: as they are",
         0, 10'000},
        {"tokens", FieldType::whole, 0,
         "messages cut to so many of the model's tokens, none may have fewer; 0: as they are", 0, 100'000},
        {"length", FieldType::whole, 0,
         "messages joined and cut into sequences of so many of the model's tokens; 0: as they are", 0,
         100'000},
        {"held_out", FieldType::text, "",
         "messages that no client has, for the utility; empty: those that "
         "follow the clients' own"}}},
      {"server",
       false,
       {{"state",
         FieldType::text,
         "honest",
         "the model as it is, or corrupted by a malicious server: the published design or ours",
         0,
         0,
         {"honest", "paper", "best"}},
        {"texts",
         FieldType::text,
         "random",
         "public texts that the corruption is measured on: a file, built-in, random (tokens)",
         0,
         0,
         {},
         {{"state", malicious}}},
        {"disguise",
         FieldType::number,
         0,
         "noise that hides the corruption, in units of what the weights hold",
         0,
         1e6,
         {},
         {{"state", malicious}}}}},
      {"federation",
       false,
       {{"clients", FieldType::whole, 1, "clients that share out the messages", 1, 1e6},
        {"selected", FieldType::whole, 0,
         "clients whose updates are attacked, each in a cell of its own; 0: all", 0, 1e6},
        {"selection", FieldType::text, "first", "which clients these are", 0, 0, {"first", "random"}},
        {"users", FieldType::whole, 1, "users of a client, whose gradients are averaged; sizes are of one", 1,
         1e6},
        {"epochs", FieldType::whole, 1, "passes over a client's messages", 1, kMostWhole},
        {"batch", FieldType::whole, 0, "messages in a step; 0: all in one", 0, kMostWhole},
        {"learning_rate", FieldType::number, 0.001, "of the client's gradient descent", 1e-30, 1e18},
        {"reduction", FieldType::text, "sum", "of the loss over a batch's words", 0, 0, {"sum", "mean"}},
        {"train",
         FieldType::text,
         "all-but-embedding",
         "what a client trains",
         0,
         0,
         {"all", "all-but-embedding"}},
        {"sends", FieldType::text, "weights", "what a client sends", 0, 0, {"weights", "delta", "gradient"}},
        {"dropout", FieldType::truth, true, "train with the dropout that the model's config asks for"},
        {"zero_output_bias", FieldType::truth, false, "start from an output bias of zero"}}},
      {"defence",
       true,
       {{"kind",
         FieldType::text,
         "none",
         "what the client does about it",
         0,
         0,
         {"none", "clipping", "noise-per-step", "noise-on-result"}},
        {"sigma",
         FieldType::number,
         0.1,
         "standard deviation of the noise; of laplace its scale b",
         0,
         1e17,
         {},
         {{"kind", noise}}},
        {"noise", FieldType::text, "gaussian", "its kind", 0, 0, {"gaussian", "laplace"}, {{"kind", noise}}},
        {"clip",
         FieldType::number,
         0,
         "largest norm of a user's gradient; 0: as it is",
         0,
         1e17,
         {},
         {{"kind", {"clipping", "noise-per-step", "noise-on-result"}}}}}},
      {"attack",
       true,
       {{"kind",
         FieldType::text,
         "words",
         "what is read, or by which matching of gradients",
         0,
         0,
         {"words", "sentences", "dlg", "tag", "decepticon"}},
        {"method", FieldType::text, "best", "by which attack", 0, 0, {"best", "paper"}, {{"kind", listing}}},
        {"cutoff",
         FieldType::text,
         "auto",
         "how typed words are told from the rest",
         0,
         0,
         {"none", "auto", "oracle"},
         {{"kind", words}, {"method", {"paper"}}}},
        {"scale",
         FieldType::number,
         "auto",
         "factor on the update before the search",
         0,
         1e18,
         {"auto"},
         {{"kind", {"sentences"}}, {"method", {"paper"}}}},
        {"length",
         FieldType::whole,
         0,
         "words in a message, where the attacker knows; 0: unknown",
         0,
         10'000,
         {},
         {{"kind", reading}}},
        {"count",
         FieldType::whole,
         0,
         "messages, where the attacker knows; 0: unknown",
         0,
         1e6,
         {},
         {{"kind", reading}}},
        {"told",
         FieldType::truth,
         true,
         "whether the attacker is told the number of sequences and their length",
         0,
         0,
         {},
         {{"kind", {"decepticon"}}}},
        {"bag_cutoff",
         FieldType::number,
         1.5,
         "how far the rows of used tokens stand out, in deviations",
         -100,
         100,
         {},
         {{"kind", {"decepticon"}}, {"method", {"paper"}}}},
        {"labels",
         FieldType::text,
         "optimised",
         "what the invented texts predict",
         0,
         0,
         {"optimised", "recovered", "known"},
         {{"kind", matching}}},
        {"bag",
         FieldType::text,
         "none",
         "a bag of words as prior",
         0,
         0,
         {"none", "recovered", "truth"},
         {{"kind", matching}}},
        {"iterations",
         FieldType::whole,
         0,
         "steps of an attempt; 0: the method's own",
         0,
         1e9,
         {},
         {{"kind", matching}}},
        {"restarts", FieldType::whole, 1, "attempts", 1, 1e6, {}, {{"kind", matching}}},
        {"alpha",
         FieldType::number,
         0.01,
         "weight of the absolute distance",
         0,
         1e6,
         {},
         {{"kind", {"tag"}}}}}},
      {"metrics",
       false,
       {{"utility", FieldType::whole, 0, "held-out messages on which the perplexity is measured; 0: none", 0,
         1e6},
        {"sample", FieldType::whole, 16, "true and recovered messages to keep of each cell", 0, 1e6},
        {"words", FieldType::whole, 0, "words to keep with the change of their bias, largest first", 0,
         1e6}}},
      {"run",
       false,
       {{"seeds",
         FieldType::whole,
         1,
         "of the built-in messages, the selection and the noise",
         0,
         9e15,
         {},
         {},
         "seed"},
        {"sizes", FieldType::whole, 0, "messages of a client; 0: all of a file", 0, 1e6, {}, {}, "size"}}},
  };
}

std::vector<Token> letters(std::string_view text) {
  return {text.begin(), text.end()};
}

}  // namespace

const std::vector<Section>& sections() {
  static const std::vector<Section> all = made_sections();
  return all;
}

std::vector<std::string> value_names() {
  std::vector<std::string> names;
  for (const Section& section : sections())
    for (const Field& field : section.fields) names.push_back(section.name + "." + field.in_cell());
  return names;
}

std::string nearest_name(std::string_view given, const std::vector<std::string>& names) {
  const auto distance = [&](const std::string& name) { return levenshtein(letters(given), letters(name)); };
  const auto nearest = std::ranges::min_element(names, {}, distance);
  return nearest == names.end() ? "" : *nearest;
}

}  // namespace undertext
