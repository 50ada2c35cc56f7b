#include "federated/snapshot.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "tensors/packed_floats.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

constexpr const char* kFormat = "undertext-snapshot-1";
constexpr double kWorth = 0.95;  // of its size at most, or a tensor is kept as it is

std::span<const float> floats(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// Each tensor as bytes where that saves enough, as it is otherwise. base: null: by itself.
NamedTensors packed(const NamedTensors& tensors, const NamedTensors* base) {
  NamedTensors stored;
  for (const auto& [name, tensor] : tensors) {
    const std::string shorter =
        pack_floats(floats(tensor), base != nullptr ? floats(base->at(name)) : std::span<const float>());
    if (static_cast<double>(shorter.size()) > kWorth * static_cast<double>(tensor.nbytes())) {
      stored[name] = tensor;
      continue;
    }
    at::Tensor bytes = at::empty({static_cast<std::int64_t>(shorter.size())}, at::kByte);
    std::ranges::copy(shorter, static_cast<char*>(bytes.data_ptr()));
    stored[name] = bytes;
  }
  return stored;
}

std::size_t bytes_of(const NamedTensors& tensors) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += tensor.nbytes();
  return bytes;
}

// The round that a snapshot is packed against; nothing: none.
std::optional<std::int64_t> base_round(const Metadata& metadata, std::int64_t round,
                                       const std::filesystem::path& file) {
  const auto found = metadata.find("base");
  if (found == metadata.end()) return std::nullopt;
  const std::string& text = found->second;
  std::int64_t base = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), base);
  if (error != std::errc() || end != text.data() + text.size() || base < 0 || base >= round)
    fail("{}: metadata \"base\" is {}, expected a round before {}", file.string(), quote(text), round);
  return base;
}

at::Tensor restored(const at::Tensor& stored, const at::Tensor& wanted, const at::Tensor* base,
                    const std::string& what) {
  if (stored.scalar_type() == at::kByte) {
    if (stored.dim() != 1) fail("{}: packed numbers of {} dimensions, expected 1", what, stored.dim());
    at::Tensor values = at::empty(wanted.sizes(), at::kFloat);
    const std::string_view packed(static_cast<const char*>(stored.data_ptr()), stored.nbytes());
    unpack_floats(packed, base != nullptr ? floats(*base) : std::span<const float>(),
                  {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())}, what);
    return values;
  }
  if (!stored.is_floating_point())
    fail("{}: has type {}, expected floating point", what, at::toString(stored.scalar_type()));
  if (stored.sizes() != wanted.sizes())
    fail("{}: has shape ({}), expected ({})", what, fmt::join(stored.sizes(), ", "),
         fmt::join(wanted.sizes(), ", "));
  return stored.to(at::kFloat).contiguous();
}

}  // namespace

void write_snapshot(const std::filesystem::path& file, const NamedTensors& tensors,
                    const std::string& model_hash, const std::optional<SnapshotBase>& base) {
  Metadata metadata = {{"format", kFormat}, {"model", model_hash}};
  NamedTensors stored = packed(tensors, nullptr);
  if (base) {
    // Early rounds move so far that their distance to another is no shorter than themselves.
    NamedTensors distance = packed(tensors, &base->tensors);
    if (bytes_of(distance) < bytes_of(stored)) {
      stored = std::move(distance);
      metadata["base"] = fmt::format("{}", base->round);
    }
  }
  write_safetensors(file, stored, metadata);
}

NamedTensors read_snapshot(const SharedBytes& bytes, const std::filesystem::path& file,
                           const LanguageModel& model, const std::string& model_hash, std::int64_t round,
                           const std::function<NamedTensors(std::int64_t round)>& base_of) {
  const TensorFile content = read_safetensors(bytes, file.string());
  if (const auto found = content.metadata.find("model");
      found != content.metadata.end() && found->second != model_hash)
    fail("{}: a snapshot of another federation, whose model was {:.12}; expected {:.12}", file.string(),
         found->second, model_hash);
  NamedTensors base;
  if (const auto from = base_round(content.metadata, round, file)) base = base_of(*from);
  NamedTensors result;
  for (const auto& [name, wanted] : model.parameters()) {
    const auto found = content.tensors.find(name);
    if (found == content.tensors.end())
      fail("{}: a snapshot of another model: tensor {} is missing", file.string(), name);
    result[name] = restored(found->second, wanted, base.empty() ? nullptr : &base.at(name),
                            fmt::format("{}: tensor {}", file.string(), name));
  }
  for (const auto& [name, tensor] : content.tensors)
    if (!result.contains(name))
      fail("{}: a snapshot of another model: it holds {}, which the model does not have", file.string(),
           quote(name));
  check_finite(result, file);
  return result;
}

}  // namespace undertext
