// undertext tokenize: what a tokenizer makes of texts.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "text/corpus.h"
#include "text/load_tokenizer.h"

namespace undertext {
namespace {

struct Flags {
  std::filesystem::path model, texts;
  bool json = false;
};

// As the tokenizer's files write it; in quotes where a reader could not see where it ends.
std::string shown(const std::string& token) {
  const bool unclear =
      std::ranges::any_of(token, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7F; });
  return unclear ? quote(token) : token;
}

std::string text_of(const Tokenizer& tokenizer, const std::vector<Sentence>& sequences) {
  std::string text = fmt::format("{:>6}  tokens\n", "count");
  for (const Sentence& sequence : sequences) {
    text += fmt::format("{:>6} ", sequence.size());
    for (const Token id : sequence) text += " " + shown(tokenizer.token(id));
    text += '\n';
  }
  return text;
}

int run(const Flags& flags) {
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(flags.model);
  std::vector<Sentence> sequences;
  for (const std::string& line : read_lines(flags.texts)) sequences.push_back(tokenizer->encode(line));
  flags.json ? print_json({{"sequences", sequences}}) : print_text(text_of(*tokenizer, sequences));
  return 0;
}

}  // namespace

Verb tokenize_verb(CLI::App& program) {
  CLI::App* app = program.add_subcommand("tokenize", "Show what a tokenizer makes of texts");
  const auto flags = std::make_shared<Flags>();
  app->add_option(
         "--model", flags->model,
         "folder with tokenizer files: tokenizer.json, vocab.json and merges.txt, characters.json or "
         "vocab.txt")
      ->required()
      ->option_text("DIR");
  app->add_option("--texts", flags->texts,
                  "texts, one a line; spaces and tabs around a line are left out, and so are blank lines")
      ->required()
      ->option_text("FILE");
  app->add_flag("--json", flags->json, "print one JSON object: {\"sequences\": [[ids], ...]}");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace undertext
