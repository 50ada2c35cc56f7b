#include "models/transformer/parameters.h"

#include <ATen/ATen.h>

#include <cmath>

namespace undertext {
namespace {

class Builder {
 public:
  Builder(const TransformerConfig& config, TransformerNames& names) : config_(config), names_(names) {}

  void gpt2() {
    const std::int64_t d = config_.width, f = config_.inner;
    const std::string root = "transformer.";
    names_.inputs_first = true;
    names_.token_embedding = add(root + "wte.weight", {config_.vocabulary, d});
    names_.position_embedding = add(root + "wpe.weight", {config_.positions, d});
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      const std::string at = fmt::format("{}h.{}.", root, i);
      LayerNames layer;
      norm(at + "ln_1.", layer.norm1_weight, layer.norm1_bias);
      layer.qkv_weight = {add(at + "attn.c_attn.weight", {d, 3 * d})};
      layer.qkv_bias = {add(at + "attn.c_attn.bias", {3 * d})};
      layer.attention_weight = add(at + "attn.c_proj.weight", {d, d});
      layer.attention_bias = add(at + "attn.c_proj.bias", {d});
      norm(at + "ln_2.", layer.norm2_weight, layer.norm2_bias);
      layer.inner_weight = add(at + "mlp.c_fc.weight", {d, f});
      layer.inner_bias = add(at + "mlp.c_fc.bias", {f});
      layer.outer_weight = add(at + "mlp.c_proj.weight", {f, d});
      layer.outer_bias = add(at + "mlp.c_proj.bias", {d});
      names_.layers.push_back(std::move(layer));
    }
    norm(root + "ln_f.", names_.final_norm_weight, names_.final_norm_bias);
    names_.output_weight =
        config_.tied ? names_.token_embedding : add("lm_head.weight", {config_.vocabulary, d});
  }

  void bert() {
    const std::int64_t d = config_.width, v = config_.vocabulary;
    const std::string root = "bert.embeddings.";
    names_.token_embedding = add(root + "word_embeddings.weight", {v, d});
    names_.position_embedding = add(root + "position_embeddings.weight", {config_.positions, d});
    names_.type_embedding = add(root + "token_type_embeddings.weight", {config_.types, d});
    norm(root + "LayerNorm.", names_.embedding_norm_weight, names_.embedding_norm_bias);
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      const std::string at = fmt::format("bert.encoder.layer.{}.", i);
      LayerNames layer;
      for (const char* part : {"query", "key", "value"}) {
        std::string weight, bias;
        linear(at + "attention.self." + part + ".", d, d, weight, bias);
        layer.qkv_weight.push_back(weight);
        layer.qkv_bias.push_back(bias);
      }
      linear(at + "attention.output.dense.", d, d, layer.attention_weight, layer.attention_bias);
      norm(at + "attention.output.LayerNorm.", layer.norm1_weight, layer.norm1_bias);
      linear(at + "intermediate.dense.", config_.inner, d, layer.inner_weight, layer.inner_bias);
      linear(at + "output.dense.", d, config_.inner, layer.outer_weight, layer.outer_bias);
      norm(at + "output.LayerNorm.", layer.norm2_weight, layer.norm2_bias);
      names_.layers.push_back(std::move(layer));
    }
    names_.output_bias = add("cls.predictions.bias", {v});
    linear("cls.predictions.transform.dense.", d, d, names_.head_weight, names_.head_bias);
    norm("cls.predictions.transform.LayerNorm.", names_.head_norm_weight, names_.head_norm_bias);
    names_.output_weight =
        config_.tied ? names_.token_embedding : add("cls.predictions.decoder.weight", {v, d});
  }

  void plain() {
    const std::int64_t d = config_.width, v = config_.vocabulary;
    names_.token_embedding = add("encoder.weight", {v, d});
    names_.position_embedding = add("pos_encoder.weight", {config_.positions, d});
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      const std::string at = fmt::format("transformer_encoder.layers.{}.", i);
      LayerNames layer;
      layer.qkv_weight = {add(at + "self_attn.in_proj_weight", {3 * d, d})};
      layer.qkv_bias = {add(at + "self_attn.in_proj_bias", {3 * d})};
      linear(at + "self_attn.out_proj.", d, d, layer.attention_weight, layer.attention_bias);
      linear(at + "linear1.", config_.inner, d, layer.inner_weight, layer.inner_bias);
      linear(at + "linear2.", d, config_.inner, layer.outer_weight, layer.outer_bias);
      norm(at + "norm1.", layer.norm1_weight, layer.norm1_bias);
      norm(at + "norm2.", layer.norm2_weight, layer.norm2_bias);
      names_.layers.push_back(std::move(layer));
    }
    names_.output_weight = config_.tied ? names_.token_embedding : add("decoder.weight", {v, d});
    names_.output_bias = add("decoder.bias", {v});
  }

 private:
  std::string add(std::string name, std::vector<std::int64_t> shape) {
    names_.specs.push_back({name, std::move(shape)});
    return name;
  }
  void linear(const std::string& at, std::int64_t out, std::int64_t in, std::string& weight,
              std::string& bias) {
    weight = add(at + "weight", {out, in});
    bias = add(at + "bias", {out});
  }
  void norm(const std::string& at, std::string& weight, std::string& bias) {
    weight = add(at + "weight", {config_.width});
    bias = add(at + "bias", {config_.width});
  }

  const TransformerConfig& config_;
  TransformerNames& names_;
};

void fill_normal(at::Tensor& tensor, double deviation, Seed seed) {
  add_normal_noise(seed, static_cast<float>(deviation), tensor.data_ptr<float>(), tensor.numel());
}

void fill_uniform(at::Tensor& tensor, double range, Seed seed) {
  Random draw(seed);
  float* values = tensor.data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    values[i] = static_cast<float>((2 * draw.uniform() - 1) * range);
}

}  // namespace

TransformerNames::TransformerNames(const TransformerConfig& config) {
  Builder builder(config, *this);
  if (config.kind == TransformerKind::gpt2) builder.gpt2();
  if (config.kind == TransformerKind::bert) builder.bert();
  if (config.kind == TransformerKind::plain) builder.plain();
}

ModelTensors tensors_in_files(const TransformerConfig& config) {
  const TransformerNames names(config);
  ModelTensors result;
  result.wanted = names.specs;
  MatchOptions& match = result.match;
  std::vector<std::string> order;
  for (const WantedTensor& spec : names.specs) order.push_back(spec.name);
  if (config.kind == TransformerKind::gpt2) {
    match.ignored = {"*.attn.bias", "*.attn.masked_bias"};
    if (config.tied) match.aliases["lm_head.weight"] = names.token_embedding;
    // Older versions keep the causal mask, and the number that stands for minus infinity, beside the weights.
    std::vector<std::string> with_mask, with_both;
    for (const std::string& name : order) {
      const std::size_t at = name.find("attn.c_attn.weight");
      if (at != std::string::npos) {
        with_mask.push_back(name.substr(0, at) + "attn.bias");
        with_both.insert(with_both.end(), {with_mask.back(), name.substr(0, at) + "attn.masked_bias"});
      }
      with_mask.push_back(name);
      with_both.push_back(name);
    }
    match.orders = {order, with_mask, with_both};
  } else if (config.kind == TransformerKind::bert) {
    match.ignored = {"*.position_ids", "*.token_type_ids", "bert.pooler.*", "cls.seq_relationship.*"};
    if (config.tied) match.aliases["cls.predictions.decoder.weight"] = names.token_embedding;
    match.aliases["cls.predictions.decoder.bias"] = names.output_bias;
    std::vector<std::string> with_places = order;
    with_places.insert(with_places.begin(), "bert.embeddings.position_ids");
    match.orders = {order, with_places};
  } else {
    if (config.tied) match.aliases["decoder.weight"] = names.token_embedding;
    match.orders = {order};
  }
  // state_dict lists a tied weight once more, where its module comes.
  const std::vector<std::vector<std::string>> without = match.orders;
  for (std::vector<std::string> longer : without) {
    if (config.kind == TransformerKind::gpt2 && config.tied) longer.push_back("lm_head.weight");
    if (config.kind == TransformerKind::bert) {
      if (config.tied) longer.push_back("cls.predictions.decoder.weight");
      longer.push_back("cls.predictions.decoder.bias");
    }
    if (config.kind == TransformerKind::plain && config.tied)
      longer.insert(longer.end() - 1, "decoder.weight");
    if (longer.size() > order.size()) match.orders.push_back(std::move(longer));
  }
  return result;
}

NamedTensors random_parameters(const TransformerConfig& config, Seed seed) {
  const TransformerNames names(config);
  NamedTensors parameters;
  for (const WantedTensor& spec : names.specs) parameters[spec.name] = at::zeros(spec.shape, at::kFloat);
  const auto ones = [&](const std::string& name) {
    if (!name.empty()) parameters.at(name).fill_(1);
  };
  ones(names.embedding_norm_weight);
  ones(names.final_norm_weight);
  ones(names.head_norm_weight);
  for (const LayerNames& layer : names.layers) {
    ones(layer.norm1_weight);
    ones(layer.norm2_weight);
  }
  for (const WantedTensor& spec : names.specs) {
    if (spec.shape.size() != 2) continue;
    at::Tensor& tensor = parameters.at(spec.name);
    const Seed own = seed.derive(spec.name);
    if (config.kind != TransformerKind::plain) {
      fill_normal(tensor, config.initial_deviation, own);
    } else if (spec.name == names.position_embedding) {
      fill_normal(tensor, 1, own);
    } else if (spec.name == names.token_embedding || spec.name == names.output_weight) {
      fill_uniform(tensor, 0.1, own);
    } else {
      fill_uniform(tensor, std::sqrt(6.0 / static_cast<double>(spec.shape[0] + spec.shape[1])), own);
    }
  }
  if (config.kind == TransformerKind::gpt2) {
    const double shrink = 1 / std::sqrt(2.0 * static_cast<double>(config.layers));
    for (const LayerNames& layer : names.layers)
      for (const std::string& name : {layer.attention_weight, layer.outer_weight})
        parameters.at(name).mul_(shrink);
  }
  return parameters;
}

}  // namespace undertext
