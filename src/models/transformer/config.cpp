#include "models/transformer/config.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"

namespace undertext {
namespace {

using nlohmann::json;

void check_architecture(const ConfigFields& fields, const std::vector<std::string>& known) {
  const json given = fields.value("architectures", json::array());
  if (!given.is_array()) fields.refuse("architectures", "a list");
  if (given.empty()) return;
  for (const json& name : given)
    if (name.is_string() && std::ranges::find(known, name.get<std::string>()) != known.end()) return;
  fields.refuse("architectures", fmt::format("{}", known.front()));
}

void refuse_unless(const ConfigFields& fields, const std::string& key, const json& wanted) {
  if (fields.value(key, wanted) != wanted) fields.refuse(key, wanted.dump());
}

Activation activation_field(const ConfigFields& fields, const std::string& key, const char* fallback) {
  const std::string name = fields.text(key, fallback);
  const std::optional<Activation> activation = activation_of(name);
  if (!activation) fields.refuse(key, activation_names());
  return *activation;
}

Token token_field(const ConfigFields& fields, const std::string& key, std::int64_t vocabulary) {
  // Hugging Face's defaults lie outside of small vocabularies: such a token does not occur.
  const std::int64_t token = fields.whole(key, -1, ConfigFields::kLargest, -1);
  return token < vocabulary ? static_cast<Token>(token) : -1;
}

double dropout_field(const ConfigFields& fields, const std::string& key, double fallback) {
  return fields.number(key, 0, 0.999, fallback);
}

TransformerConfig read_gpt2(const ConfigFields& fields) {
  check_architecture(fields, {"GPT2LMHeadModel", "GPT2Model"});
  TransformerConfig config;
  config.vocabulary = fields.size("vocab_size", 50257);
  config.positions = fields.size("n_positions", fields.size("n_ctx", 1024));
  config.width = fields.size("n_embd", 768);
  config.layers = fields.size("n_layer", 12);
  config.heads = fields.size("n_head", 12);
  config.inner = fields.size("n_inner", 4 * config.width);
  config.activation = activation_field(fields, "activation_function", "gelu_new");
  config.residual_dropout = dropout_field(fields, "resid_pdrop", 0.1);
  config.embedding_dropout = dropout_field(fields, "embd_pdrop", 0.1);
  config.attention_dropout = dropout_field(fields, "attn_pdrop", 0.1);
  config.norm_epsilon = fields.number("layer_norm_epsilon", 0, 1, 1e-5);
  config.scale_attention = fields.truth("scale_attn_weights", true);
  config.scale_by_layer = fields.truth("scale_attn_by_inverse_layer_idx", false);
  config.tied = fields.truth("tie_word_embeddings", true);
  refuse_unless(fields, "add_cross_attention", false);
  config.norm_first = config.causal = true;
  return config;
}

TransformerConfig read_bert(const ConfigFields& fields) {
  check_architecture(fields, {"BertForMaskedLM", "BertForPreTraining"});
  TransformerConfig config;
  config.vocabulary = fields.size("vocab_size", 30522);
  config.positions = fields.size("max_position_embeddings", 512);
  config.width = fields.size("hidden_size", 768);
  config.layers = fields.size("num_hidden_layers", 12);
  config.heads = fields.size("num_attention_heads", 12);
  config.inner = fields.size("intermediate_size", 3072);
  config.types = fields.size("type_vocab_size", 2);
  config.activation = activation_field(fields, "hidden_act", "gelu");
  config.residual_dropout = config.embedding_dropout = dropout_field(fields, "hidden_dropout_prob", 0.1);
  config.attention_dropout = dropout_field(fields, "attention_probs_dropout_prob", 0.1);
  config.norm_epsilon = fields.number("layer_norm_eps", 0, 1, 1e-12);
  config.tied = fields.truth("tie_word_embeddings", true);
  refuse_unless(fields, "position_embedding_type", "absolute");
  refuse_unless(fields, "is_decoder", false);
  refuse_unless(fields, "add_cross_attention", false);
  return config;
}

TransformerConfig read_plain(const ConfigFields& fields) {
  TransformerConfig config;
  config.vocabulary = fields.size("vocab_size");
  config.positions = fields.size("max_position_embeddings", 1024);
  config.width = fields.size("hidden_size", 96);
  config.layers = fields.size("num_hidden_layers", 3);
  config.heads = fields.size("num_attention_heads", 8);
  config.inner = fields.size("intermediate_size", 1536);
  config.activation = activation_field(fields, "hidden_act", "relu");
  config.residual_dropout = config.attention_dropout = dropout_field(fields, "dropout", 0);
  config.embedding_dropout = dropout_field(fields, "embedding_dropout", 0);
  config.norm_epsilon = fields.number("layer_norm_eps", 0, 1, 1e-5);
  config.tied = fields.truth("tie_word_embeddings", false);
  config.causal = fields.truth("causal", false);
  config.norm_first = fields.truth("norm_first", false);
  return config;
}

}  // namespace

const char* name_of(TransformerKind kind) {
  switch (kind) {
    case TransformerKind::gpt2:
      return "gpt2";
    case TransformerKind::bert:
      return "bert";
    case TransformerKind::plain:
      return "transformer";
  }
  return "";
}

TransformerConfig read_transformer_config(const ConfigFields& fields, TransformerKind kind) {
  TransformerConfig config = kind == TransformerKind::gpt2   ? read_gpt2(fields)
                             : kind == TransformerKind::bert ? read_bert(fields)
                                                             : read_plain(fields);
  config.kind = kind;
  config.initial_deviation = fields.number("initializer_range", 0, 1e3, 0.02);
  if (config.width % config.heads != 0)
    fail("{}: a width of {} does not split into {} heads", fields.where(), config.width, config.heads);
  config.start = token_field(fields, "bos_token_id", config.vocabulary);
  config.end = token_field(fields, "eos_token_id", config.vocabulary);
  config.padding = token_field(fields, "pad_token_id", config.vocabulary);
  return config;
}

void write_transformer_config(const std::filesystem::path& file, const TransformerConfig& config) {
  nlohmann::ordered_json out;
  out["model_type"] = name_of(config.kind);
  const bool gpt2 = config.kind == TransformerKind::gpt2, bert = config.kind == TransformerKind::bert;
  if (gpt2) out["architectures"] = {"GPT2LMHeadModel"};
  if (bert) out["architectures"] = {"BertForMaskedLM"};
  out["vocab_size"] = config.vocabulary;
  out[gpt2 ? "n_positions" : "max_position_embeddings"] = config.positions;
  out[gpt2 ? "n_embd" : "hidden_size"] = config.width;
  out[gpt2 ? "n_layer" : "num_hidden_layers"] = config.layers;
  out[gpt2 ? "n_head" : "num_attention_heads"] = config.heads;
  out[gpt2 ? "n_inner" : "intermediate_size"] = config.inner;
  out[gpt2 ? "activation_function" : "hidden_act"] = name_of(config.activation);
  out[gpt2 ? "layer_norm_epsilon" : "layer_norm_eps"] = config.norm_epsilon;
  if (gpt2) {
    out["resid_pdrop"] = config.residual_dropout;
    out["embd_pdrop"] = config.embedding_dropout;
    out["attn_pdrop"] = config.attention_dropout;
    out["scale_attn_weights"] = config.scale_attention;
    out["scale_attn_by_inverse_layer_idx"] = config.scale_by_layer;
  } else if (bert) {
    out["hidden_dropout_prob"] = config.residual_dropout;
    out["attention_probs_dropout_prob"] = config.attention_dropout;
    out["type_vocab_size"] = config.types;
    out["position_embedding_type"] = "absolute";
  } else {
    out["dropout"] = config.residual_dropout;
    out["embedding_dropout"] = config.embedding_dropout;
    out["causal"] = config.causal;
    out["norm_first"] = config.norm_first;
  }
  out["initializer_range"] = config.initial_deviation;
  out["tie_word_embeddings"] = config.tied;
  if (config.start >= 0) out["bos_token_id"] = config.start;
  if (config.end >= 0) out["eos_token_id"] = config.end;
  if (config.padding >= 0) out["pad_token_id"] = config.padding;
  write_file(file, out.dump(2) + "\n");
}

}  // namespace undertext
