#include "models/checkpoint.h"

#include <ATen/ATen.h>

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

constexpr const char* kFormat = "undertext-checkpoint-1";

template <typename Number>
Number number(const Metadata& facts, const std::string& key, const std::filesystem::path& file) {
  const auto found = facts.find(key);
  Number value{};
  if (found != facts.end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
  }
  fail("{}: metadata \"{}\" is missing or no number, expected a checkpoint of undertext train", file.string(),
       key);
}

}  // namespace

void save_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  NamedTensors tensors;
  const auto put = [&](const char* part, const NamedTensors& from) {
    for (const auto& [name, tensor] : from) tensors[fmt::format("{}/{}", part, name)] = tensor;
  };
  put("weights", checkpoint.weights);
  put("means", checkpoint.means);
  put("squares", checkpoint.squares);
  put("best", checkpoint.best);
  write_safetensors(file, tensors,
                    {{"format", kFormat},
                     {"recipe", checkpoint.recipe},
                     {"step", fmt::format("{}", checkpoint.step)},
                     {"smooth_loss", fmt::format("{}", checkpoint.smooth_loss)},
                     {"best_perplexity", fmt::format("{}", checkpoint.best_perplexity)},
                     {"epochs_since_best", fmt::format("{}", checkpoint.epochs_since_best)}});
}

std::optional<Checkpoint> load_checkpoint(const std::filesystem::path& file, const std::string& recipe) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  TensorFile content = read_safetensors(file);
  const Metadata& facts = content.metadata;
  if (!facts.contains("format") || facts.at("format") != kFormat)
    fail("{}: not a checkpoint of undertext train", file.string());
  if (!facts.contains("recipe") || facts.at("recipe") != recipe)
    fail("{}: a checkpoint of another training (model, texts or flags differ); remove it to start anew",
         file.string());
  Checkpoint checkpoint;
  checkpoint.recipe = recipe;
  checkpoint.step = number<std::int64_t>(facts, "step", file);
  checkpoint.smooth_loss = number<double>(facts, "smooth_loss", file);
  checkpoint.best_perplexity = number<double>(facts, "best_perplexity", file);
  checkpoint.epochs_since_best = number<std::int64_t>(facts, "epochs_since_best", file);
  for (auto& [name, tensor] : content.tensors) {
    const std::size_t slash = name.find('/');
    const std::string part = name.substr(0, slash),
                      rest = slash == std::string::npos ? "" : name.substr(slash + 1);
    NamedTensors* to = part == "weights"   ? &checkpoint.weights
                       : part == "means"   ? &checkpoint.means
                       : part == "squares" ? &checkpoint.squares
                       : part == "best"    ? &checkpoint.best
                                           : nullptr;
    if (!to || tensor.scalar_type() != at::kFloat)
      fail("{}: tensor {} does not belong into a checkpoint", file.string(), quote(name));
    (*to)[rest] = tensor;
  }
  return checkpoint;
}

}  // namespace undertext
