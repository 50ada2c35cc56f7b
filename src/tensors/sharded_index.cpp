#include "tensors/sharded_index.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "tensors/tensor_view.h"

namespace undertext {
namespace {

constexpr std::size_t kMostShards = 10'000;

bool plain_name(std::string_view name) {
  const bool other_folder = name.find('/') != name.npos || name.find('\\') != name.npos;
  return !name.empty() && name != "." && name != ".." && !other_folder && name.find('\0') == name.npos;
}

// Events of the JSON parser, not a tree: a tree forgets that a key came twice.
class IndexReader : public nlohmann::json::json_sax_t {
 public:
  explicit IndexReader(const std::string& file) : file_(file) {}

  std::map<std::string, std::string> take() {
    if (!seen_map_) fail("{}: has no \"weight_map\", expected the index of a model in several files", file_);
    return std::move(shards_);
  }

  bool start_object(std::size_t) override {
    if (in_map()) misplaced("an object");
    ++depth_;
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override {
    other("a list");
    ++depth_;
    return true;
  }
  bool end_array() override { return leave(); }

  bool key(std::string& name) override {
    if (depth_ == 1) {
      at_map_ = name == kMap;
      if (at_map_ && seen_map_) fail("{}: has \"weight_map\" twice", file_);
      seen_map_ = seen_map_ || at_map_;
    } else if (in_map()) {
      if (shards_.contains(name)) fail("{}: lists {} twice", file_, quote(name));
      if (shards_.size() >= kMostEntries) fail("{}: lists over {} tensors", file_, kMostEntries);
      tensor_ = name;
    }
    return true;
  }

  bool string(std::string& value) override {
    if (!in_map()) return other("a string");
    if (!plain_name(value)) {
      fail("{}: the tensor {} is said to be in {}, expected the name of a file beside the index", file_,
           quote(tensor_), quote(value));
    }
    shards_.emplace(tensor_, std::move(value));
    return true;
  }

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("true or false"); }
  bool number_integer(std::int64_t) override { return other("a number"); }
  bool number_unsigned(std::uint64_t) override { return other("a number"); }
  bool number_float(double, const std::string&) override { return other("a number"); }
  bool binary(binary_t&) override { return other("binary data"); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail("{}: is not valid JSON in UTF-8 at byte {}", file_, position);
  }

 private:
  static constexpr std::string_view kMap = "weight_map";

  bool in_map() const { return depth_ == 2 && at_map_; }

  bool leave() {
    --depth_;
    return true;
  }
  // Anything may be said outside the map; the map is an object, and only names of files are in it.
  bool other(const char* what) const {
    if (in_map() || (depth_ == 1 && at_map_)) misplaced(what);
    return true;
  }
  [[noreturn]] void misplaced(const char* what) const {
    if (in_map())
      fail("{}: has {} for the tensor {}, expected the name of a file", file_, what, quote(tensor_));
    fail("{}: its \"weight_map\" is {}, expected an object", file_, what);
  }

  const std::string& file_;
  std::map<std::string, std::string> shards_;
  std::string tensor_;
  int depth_ = 0;
  bool at_map_ = false, seen_map_ = false;
};

}  // namespace

std::map<std::string, std::string> parse_sharded_index(std::string_view json, const std::string& file) {
  // The parser takes a zero byte for the end of its input, and would not look at what follows.
  if (const std::size_t zero = json.find('\0'); zero != json.npos) {
    fail("{}: is not valid JSON in UTF-8 at byte {}", file, zero + 1);
  }
  IndexReader reader(file);
  nlohmann::json::sax_parse(json, &reader);
  return reader.take();
}

TensorFile read_sharded(std::string_view json, const std::string& file,
                        const std::function<TensorFile(const std::string&)>& read_shard) {
  const std::map<std::string, std::string> shard_of = parse_sharded_index(json, file);
  std::set<std::string> shards;
  for (const auto& [name, shard] : shard_of) shards.insert(shard);
  if (shards.size() > kMostShards) fail("{}: lists over {} files", file, kMostShards);

  TensorFile all;
  std::map<std::string, std::string> found_in;
  for (const std::string& shard : shards) {
    TensorFile content = read_shard(shard);
    all.format = content.format;
    for (std::string& name : content.order) {
      const auto [found, fresh] = found_in.emplace(name, shard);
      if (!fresh)
        fail("{}: the tensor {} is in {} and in {}", file, quote(name), quote(found->second), quote(shard));
      all.tensors.emplace(name, std::move(content.tensors.at(name)));
      all.order.push_back(std::move(name));
    }
  }
  for (const auto& [name, shard] : shard_of) {
    const auto found = found_in.find(name);
    if (found == found_in.end() || found->second != shard) {
      fail("{}: the tensor {} is not in {}, where the index says it is", file, quote(name), quote(shard));
    }
  }
  settle_names(all);
  return all;
}

}  // namespace undertext
