// The texts of a federation's clients as an experiment's file asks for them, planted ones among them.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "audit/experiment/sources.h"
#include "federated/client_texts.h"
#include "federated/planting.h"
#include "text/tokenizer.h"

namespace undertext {

struct FederationTexts {
  std::vector<std::vector<std::string>> clients;  // lines
  std::vector<std::string> validation, test;
  PlantedTexts records, watermarks;  // no texts: none
};

// cell: of an experiment's file. UserError where there is too little text.
FederationTexts federation_texts(const nlohmann::json& cell, const std::filesystem::path& file,
                                 Sources& sources, Seed seed);

// The characters of the server's validation text and those that patterns and watermarks can have: what a
// server knows, and nothing of the clients' own.
std::shared_ptr<const Tokenizer> alphabet_of(const FederationTexts& texts);

// UserError where the tokenizer has no token for what was planted: it could not be learned.
void check_planted(const FederationTexts& texts, const Tokenizer& tokenizer,
                   const std::filesystem::path& file);

// As one stream, or line by line where sequence is 0.
ClientTexts encoded(const std::vector<std::string>& lines, std::int64_t sequence, const Tokenizer& tokenizer);

}  // namespace undertext
