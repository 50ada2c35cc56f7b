#include "tensors/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/error.h"
#include "tensors/dtypes.h"
#include "tensors/tensor_view.h"

namespace undertext {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kHeaderStart = 8;  // after the length; bytes in messages count from 1, from there

// Events of the JSON parser, in place of a tree: a tree forgets duplicate keys, and a hostile header could
// nest it a million deep. Only four places exist in a header, so no stack is needed.
class HeaderReader : public nlohmann::json::json_sax_t {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::top && key_ == kMetadata) {
      place_ = Place::metadata;
    } else if (place_ == Place::top) {
      place_ = Place::tensor;
      header_.entries.emplace_back().name = key_;
      fields_.clear();
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor && fields_.size() != 3) {
      fail("{}: {} needs exactly dtype, shape and data_offsets", file_, tensor_name());
    }
    place_ = place_ == Place::top ? Place::outside : Place::top;
    return true;
  }

  bool key(std::string& name) override {
    key_ = name;
    if (place_ == Place::top) {
      if (!names_.insert(name).second) fail("{}: the header lists {} twice", file_, quote(name));
      if (names_.size() > kMostEntries) fail("{}: the header lists over {} tensors", file_, kMostEntries);
    } else if (place_ == Place::metadata) {
      if (header_.metadata.contains(name)) fail("{}: the metadata lists {} twice", file_, quote(name));
      if (header_.metadata.size() >= kMostEntries) {
        fail("{}: the metadata has over {} entries", file_, kMostEntries);
      }
    } else {
      if (name != "dtype" && name != "shape" && name != "data_offsets") {
        fail("{}: {} has the unknown field {}", file_, tensor_name(), quote(name));
      }
      if (!fields_.insert(name).second) fail("{}: {} gives {} twice", file_, tensor_name(), name);
    }
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata) {
      header_.metadata.emplace(key_, std::move(value));
    } else if (place_ == Place::tensor && key_ == "dtype" && !in_array_) {
      const std::optional<at::ScalarType> dtype = dtype_of(value);
      if (!dtype) {
        fail("{}: {} has the type {}, expected F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL", file_,
             tensor_name(), quote(value));
      }
      header_.entries.back().dtype = *dtype;
    } else {
      unexpected("a string");
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || key_ == "dtype" || in_array_) unexpected("a list");
    in_array_ = true;
    numbers_.clear();
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (!in_array_) unexpected("a number");
    numbers_.push_back(value);
    if (numbers_.size() > kMostDimensions) {
      fail("{}: the {} of {} has over {} numbers", file_, key_, tensor_name(), kMostDimensions);
    }
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    TensorEntry& entry = header_.entries.back();
    if (key_ == "shape") {
      for (const std::uint64_t size : numbers_) {
        if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
          fail("{}: the shape of {} is too large", file_, tensor_name());
        }
        entry.shape.push_back(static_cast<std::int64_t>(size));
      }
    } else {
      if (numbers_.size() != 2) {
        fail("{}: the data_offsets of {} are {} numbers, expected 2", file_, tensor_name(), numbers_.size());
      }
      entry.begin = numbers_[0];
      entry.end = numbers_[1];
    }
    return true;
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("true or false"); }
  bool number_integer(std::int64_t) override { unexpected("a negative number"); }
  bool number_float(double, const std::string&) override { unexpected("a number that is no 64-bit integer"); }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail("{}: the header is not valid JSON in UTF-8 at byte {}", file_, kHeaderStart + position);
  }

 private:
  enum class Place { outside, top, metadata, tensor };

  std::string tensor_name() const { return "tensor " + quote(header_.entries.back().name); }

  [[noreturn]] void unexpected(const char* what) const {
    switch (place_) {
      case Place::outside:
        fail("{}: the header is {}, expected an object", file_, what);
      case Place::top:
        fail("{}: the header has {} for {}, expected an object", file_, what, quote(key_));
      case Place::metadata:
        fail("{}: the metadata has {} for {}, expected a string", file_, what, quote(key_));
      case Place::tensor:
        fail("{}: {} has {} in its {}, expected {}", file_, tensor_name(), what, key_,
             key_ == "dtype" ? "a string" : "a list of whole numbers from 0");
    }
    bug(__FILE__, __LINE__, "a known place");
  }

  const std::string& file_;
  SafetensorsHeader header_;
  Place place_ = Place::outside;
  bool in_array_ = false;
  std::string key_;                       // the last key read, at any depth
  std::set<std::string> names_, fields_;  // keys seen: at the top, in this tensor
  std::vector<std::uint64_t> numbers_;    // of the list being read
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_size,
                                           const std::string& file) {
  if (!json.starts_with('{')) fail("{}: the header does not begin with '{{': not a safetensors file", file);
  // The parser takes a zero byte for the end of its input, and would not look at what follows.
  if (const std::size_t zero = json.find('\0'); zero != json.npos) {
    fail("{}: the header is not valid JSON in UTF-8 at byte {}", file, kHeaderStart + zero + 1);
  }
  HeaderReader reader(file);
  nlohmann::json::sax_parse(json, &reader);
  SafetensorsHeader header = reader.take();

  for (const TensorEntry& entry : header.entries) {
    const std::string name = quote(entry.name);
    if (entry.begin > entry.end || entry.end > data_size) {
      fail("{}: tensor {} claims bytes {} to {} of {}: truncated or damaged", file, name, entry.begin,
           entry.end, data_size);
    }
    const std::optional<std::uint64_t> expected = bytes_of(entry.shape, entry.dtype);
    if (!expected) fail("{}: the shape of tensor {} is too large", file, name);
    if (entry.end - entry.begin != *expected) {
      fail("{}: tensor {} has {} bytes, but its shape and type need {}", file, name, entry.end - entry.begin,
           *expected);
    }
  }
  std::ranges::sort(header.entries, {}, [](const TensorEntry& e) {
    return std::tuple(e.begin, e.end, std::string_view(e.name));
  });
  std::uint64_t covered = 0;
  for (const TensorEntry& entry : header.entries) {
    if (entry.begin != covered) {
      fail("{}: tensor {} begins at byte {}, expected {}: tensors {}", file, quote(entry.name), entry.begin,
           covered, entry.begin < covered ? "overlap" : "leave a gap");
    }
    covered = entry.end;
  }
  if (covered != data_size) {
    fail("{}: {} bytes after the last tensor belong to none", file, data_size - covered);
  }
  return header;
}

}  // namespace undertext
