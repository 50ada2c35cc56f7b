// The texts of a federation's clients as an experiment's file asks for them, planted ones among them.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "audit/experiment/sources.h"
#include "federated/client_texts.h"
#include "federated/planting.h"
#include "federated/text_shares.h"
#include "text/tokenizer.h"

namespace undertext {

struct FederationTexts {
  std::vector<std::vector<std::string>> clients;  // lines
  std::vector<std::string> validation, test;
  PlantedTexts records, watermarks;  // no texts: none
};

// What is put among the clients' own.
struct Planting {
  std::string pattern = {};     // of the records; empty: none
  std::int64_t times = 1;       // how often a client's record stands there
  std::string watermark = {};   // pattern of the watermarks; empty: letters, as many as a record has
  std::int64_t watermarks = 0;  // how often a client's watermark stands there; 0: there is none
};

// Built-in messages that suffice for the shares of so many clients, of the server and of the test.
std::int64_t messages_for(std::int64_t clients, std::int64_t characters);

// UserError where there is too little text.
FederationTexts shared_texts(const TextSource& source, const ShareOptions& options,
                             const std::optional<TextSource>& held_out, const Planting& planting, Seed seed);

// cell: of an experiment's file. UserError where there is too little text.
FederationTexts federation_texts(const nlohmann::json& cell, const std::filesystem::path& file,
                                 Sources& sources, Seed seed);

// The characters of the server's validation text and those that patterns and watermarks can have: what a
// server knows, and nothing of the clients' own.
std::shared_ptr<const Tokenizer> alphabet_of(const FederationTexts& texts);

// UserError where the tokenizer has no token for what was planted: it could not be learned.
void check_planted(const FederationTexts& texts, const Tokenizer& tokenizer,
                   const std::filesystem::path& file);

struct TextCut {
  std::int64_t sequence = 0;  // predicted tokens of a piece of one stream; 0: line by line
  bool append_end = false;    // each line ends with the tokenizer's end token
};
ClientTexts encoded(const std::vector<std::string>& lines, const TextCut& cut, const Tokenizer& tokenizer);

}  // namespace undertext
