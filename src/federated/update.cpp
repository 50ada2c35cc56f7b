#include "federated/update.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "federated/update_kind.h"
#include "tensors/read_tensors.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

// A file names those of a defence that there is.
constexpr std::pair<const char*, double KnownDefence::*> kKnown[] = {
    {"noise_per_step", &KnownDefence::noise_per_step},
    {"noise_on_result", &KnownDefence::noise_on_result},
    {"clip", &KnownDefence::clip},
    {"text_clip", &KnownDefence::text_clip},
    {"pruned", &KnownDefence::pruned}};

// Takes the facts out of the metadata one by one, so that what is left over is known to be foreign.
class Facts {
 public:
  Facts(Metadata metadata, const std::filesystem::path& file)
      : metadata_(std::move(metadata)), file_(file.string()) {}

  bool has(const std::string& key) const { return metadata_.contains(key); }

  std::string text(const std::string& key) {
    const auto found = metadata_.find(key);
    if (found == metadata_.end())
      fail("{}: metadata \"{}\" is missing, expected an update written by undertext", file_, key);
    std::string value = found->second;
    metadata_.erase(found);
    return value;
  }

  template <typename Number>
  Number number(const std::string& key, Number lowest, Number highest, const char* expected) {
    const std::string value = text(key);
    Number result{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size() ||
        !(result >= lowest && result <= highest))
      refuse(key, value, expected);
    return result;
  }

  template <typename Value>
  Value choice(const std::string& key, const std::vector<std::pair<const char*, Value>>& choices) {
    const std::string value = text(key);
    std::string names;
    for (const auto& [name, meaning] : choices) {
      if (value == name) return meaning;
      names += names.empty() ? name : fmt::format(" or {}", name);
    }
    refuse(key, value, names);
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& value, const std::string& expected) {
    fail("{}: metadata \"{}\" is \"{}\", expected {}", file_, key, value.substr(0, 80), expected);
  }

  void check_none_left() {
    if (!metadata_.empty())
      fail("{}: unknown metadata \"{}\", expected an update written by undertext", file_,
           metadata_.begin()->first.substr(0, 80));
  }

 private:
  Metadata metadata_;
  std::string file_;
};

Protocol read_protocol(const Metadata& metadata, const std::filesystem::path& file) {
  Facts facts(metadata, file);
  Protocol protocol;
  const std::string format = facts.text("format");
  if (format != "undertext-update-1") facts.refuse("format", format, "undertext-update-1");
  protocol.kind = facts.choice<UpdateKind>(
      "kind",
      {{"weights", UpdateKind::weights}, {"delta", UpdateKind::delta}, {"gradient", UpdateKind::gradient}});
  protocol.learning_rate = facts.number<double>("learning_rate", std::numeric_limits<float>::min(),
                                                std::numeric_limits<float>::max(), "a positive number");
  protocol.epochs = facts.number<std::int64_t>("epochs", 1, kMost, "a whole number from 1");
  protocol.batch = facts.number<std::int64_t>("batch", 0, kMost, "a whole number from 0");
  protocol.count = facts.number<std::int64_t>("count", 0, kMost, "a whole number from 0");
  protocol.reduction =
      facts.choice<Reduction>("reduction", {{"sum", Reduction::sum}, {"mean", Reduction::mean}});
  protocol.zero_output_bias = facts.choice<bool>("zero_output_bias", {{"false", false}, {"true", true}});
  protocol.base_hash = facts.text("base_hash");
  if (protocol.base_hash.size() != 64 ||
      protocol.base_hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    facts.refuse("base_hash", protocol.base_hash, "64 hexadecimal digits");
  for (const auto& [key, place] : kKnown) {
    double& value = protocol.defence.*place;
    if (facts.has(key)) value = facts.number<double>(key, 0, 1e300, "a number of at least 0");
  }
  facts.check_none_left();
  return protocol;
}

}  // namespace

const char* name_of(UpdateKind kind) {
  return kind == UpdateKind::weights ? "weights" : kind == UpdateKind::delta ? "delta" : "gradient";
}
const char* name_of(Reduction reduction) {
  return reduction == Reduction::sum ? "sum" : "mean";
}

void save_update(const Update& update, const std::filesystem::path& file) {
  const Protocol& protocol = update.protocol;
  Metadata facts = {{"format", "undertext-update-1"},
                    {"kind", name_of(protocol.kind)},
                    {"learning_rate", fmt::format("{}", protocol.learning_rate)},
                    {"epochs", fmt::format("{}", protocol.epochs)},
                    {"batch", fmt::format("{}", protocol.batch)},
                    {"count", fmt::format("{}", protocol.count)},
                    {"reduction", name_of(protocol.reduction)},
                    {"zero_output_bias", protocol.zero_output_bias ? "true" : "false"},
                    {"base_hash", protocol.base_hash}};
  for (const auto& [key, place] : kKnown)
    if (protocol.defence.*place > 0) facts[key] = fmt::format("{}", protocol.defence.*place);
  write_safetensors(file, update.tensors, facts);
}

namespace {

bool is_own(const TensorFile& content) {
  const auto format = content.metadata.find("format");
  return format != content.metadata.end() && format->second.starts_with("undertext-update");
}

Update checked(Update update, const std::filesystem::path& file) {
  if (update.tensors.empty()) fail("{}: no tensors, expected those that were trained", file.string());
  for (auto& [name, tensor] : update.tensors) {
    if (!tensor.is_floating_point())
      fail("{}: tensor {} has type {}, expected floating point", file.string(), quote(name),
           at::toString(tensor.scalar_type()));
    tensor = tensor.to(at::kFloat).contiguous();
  }
  check_finite(update.tensors, file);
  return update;
}

}  // namespace

bool UpdateFacts::any() const {
  return kind || learning_rate || reduction || epochs || batch || names;
}

Update load_update(const std::filesystem::path& file) {
  TensorFile content = read_safetensors(file);
  return checked({read_protocol(content.metadata, file), std::move(content.tensors)}, file);
}

Update read_update(const std::filesystem::path& file, const LanguageModel& model, const UpdateFacts& facts) {
  if (std::filesystem::is_directory(file)) fail("{}: is a folder, expected an update's file", file.string());
  TensorFile content = read_tensors(file);
  if (is_own(content)) {
    if (facts.any())
      fail(
          "{}: was written by undertext and says itself how it came about; expected no --kind, --lr and the "
          "like",
          file.string());
    return checked({read_protocol(content.metadata, file), std::move(content.tensors)}, file);
  }
  ModelTensors expected = model.tensors_in_files();
  expected.match.names_file = facts.names;
  expected.match.partial = true;
  Update update;
  update.tensors = match_names(std::move(content), expected.wanted, expected.match, file.string());
  update = checked(std::move(update), file);
  const auto same = [&](const auto& entry) {
    return at::equal(entry.second, model.parameters().at(entry.first));
  };
  if (std::ranges::all_of(update.tensors, same))
    fail("{}: holds the model's own weights, expected those after training, or a gradient", file.string());
  Protocol& protocol = update.protocol;
  protocol.kind = facts.kind ? *facts.kind : infer_kind(model, update.tensors);
  protocol.kind_inferred = !facts.kind;
  protocol.learning_rate = facts.learning_rate.value_or(1);
  protocol.reduction = facts.reduction.value_or(Reduction::mean);
  protocol.epochs = facts.epochs.value_or(1);
  protocol.batch = facts.batch.value_or(0);
  protocol.count = facts.count.value_or(0);
  return update;
}

}  // namespace undertext
