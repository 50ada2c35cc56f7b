#include "federated/update.h"

#include <ATen/ATen.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tensors/safetensors.h"

namespace undertext {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

const char* name_of(UpdateKind kind) {
  return kind == UpdateKind::weights ? "weights" : "gradient";
}
const char* name_of(Reduction reduction) {
  return reduction == Reduction::sum ? "sum" : "mean";
}

// Takes the facts out of the metadata one by one, so that what is left over is known to be foreign.
class Facts {
 public:
  Facts(Metadata metadata, const std::filesystem::path& file)
      : metadata_(std::move(metadata)), file_(file.string()) {}

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
  Value choice(const std::string& key, const char* first, Value first_value, const char* second,
               Value second_value) {
    const std::string value = text(key);
    if (value == first) return first_value;
    if (value == second) return second_value;
    refuse(key, value, fmt::format("{} or {}", first, second));
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
  protocol.kind = facts.choice("kind", "weights", UpdateKind::weights, "gradient", UpdateKind::gradient);
  protocol.learning_rate = facts.number<double>("learning_rate", std::numeric_limits<float>::min(),
                                                std::numeric_limits<float>::max(), "a positive number");
  protocol.epochs = facts.number<std::int64_t>("epochs", 1, kMost, "a whole number from 1");
  protocol.batch = facts.number<std::int64_t>("batch", 0, kMost, "a whole number from 0");
  protocol.count = facts.number<std::int64_t>("count", 0, kMost, "a whole number from 0");
  protocol.reduction = facts.choice("reduction", "sum", Reduction::sum, "mean", Reduction::mean);
  protocol.zero_output_bias = facts.choice("zero_output_bias", "false", false, "true", true);
  protocol.base_hash = facts.text("base_hash");
  if (protocol.base_hash.size() != 64 ||
      protocol.base_hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    facts.refuse("base_hash", protocol.base_hash, "64 hexadecimal digits");
  facts.check_none_left();
  return protocol;
}

}  // namespace

void save_update(const Update& update, const std::filesystem::path& file) {
  const Protocol& protocol = update.protocol;
  write_safetensors(file, update.tensors,
                    {{"format", "undertext-update-1"},
                     {"kind", name_of(protocol.kind)},
                     {"learning_rate", fmt::format("{}", protocol.learning_rate)},
                     {"epochs", fmt::format("{}", protocol.epochs)},
                     {"batch", fmt::format("{}", protocol.batch)},
                     {"count", fmt::format("{}", protocol.count)},
                     {"reduction", name_of(protocol.reduction)},
                     {"zero_output_bias", protocol.zero_output_bias ? "true" : "false"},
                     {"base_hash", protocol.base_hash}});
}

Update load_update(const std::filesystem::path& file) {
  TensorFile content = read_safetensors(file);
  Update update;
  update.protocol = read_protocol(content.metadata, file);
  if (content.tensors.empty()) fail("{}: no tensors, expected those that were trained", file.string());
  for (auto& [name, tensor] : content.tensors) {
    if (!tensor.is_floating_point())
      fail("{}: tensor {} has type {}, expected floating point", file.string(), name,
           at::toString(tensor.scalar_type()));
    tensor = tensor.to(at::kFloat).contiguous();
  }
  check_finite(content.tensors, file);
  update.tensors = std::move(content.tensors);
  return update;
}

}  // namespace undertext
