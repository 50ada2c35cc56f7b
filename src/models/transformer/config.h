// What a transformer's config.json says, in the words of its own framework, as one description.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "models/config_fields.h"
#include "models/transformer/activation.h"
#include "text/tokenizer.h"

namespace undertext {

// gpt2 and bert are Hugging Face's GPT2LMHeadModel and BertForMaskedLM; plain is the small encoder of
// decepticons, section 4: torch's own encoder layers between an embedding and a decoder of its own.
enum class TransformerKind { gpt2, bert, plain };

struct TransformerConfig {
  TransformerKind kind = TransformerKind::plain;
  std::int64_t vocabulary = 0;    // V
  std::int64_t width = 96;        // D
  std::int64_t layers = 3;        // L
  std::int64_t heads = 8;         // H, each D / H wide
  std::int64_t inner = 1536;      // F, of the feed-forward part
  std::int64_t positions = 1024;  // P, the longest sequence
  std::int64_t types = 0;         // of tokens (bert)
  Activation activation = Activation::relu;
  double norm_epsilon = 1e-5;
  bool norm_first = false;  // norms before attention and feed-forward (gpt2), or after the sum
  bool causal = false;      // a position sees those before it and itself
  bool tied = false;        // the output weight is the token embedding
  bool scale_attention = true, scale_by_layer = false;
  double embedding_dropout = 0, attention_dropout = 0, residual_dropout = 0;
  double initial_deviation = 0.02;  // of random weights
  // Of the tokens that the config names; -1: none.
  Token start = -1, end = -1, padding = -1;

  std::int64_t head_width() const { return width / heads; }
  bool masked() const { return kind == TransformerKind::bert; }  // learns to fill in hidden words
};

// "gpt2", "bert", "transformer": model_type in config.json.
const char* name_of(TransformerKind kind);

// UserError for an architecture or a field that these models do not have.
TransformerConfig read_transformer_config(const ConfigFields& fields, TransformerKind kind);
void write_transformer_config(const std::filesystem::path& file, const TransformerConfig& config);

}  // namespace undertext
