#include "tensors/torch_zip.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "tensors/tensor_view.h"

namespace undertext {
namespace {

using Kind = Pickle::Kind;
using Id = Pickle::Id;

constexpr std::string_view kPickle = "/data.pkl";

// Where training scripts keep the weights among other things.
constexpr std::array<std::string_view, 6> kStateDicts = {"model",  "state_dict", "model_state_dict",
                                                         "module", "net",        "weights"};
constexpr int kDeepest = 4;  // {"checkpoint": ...} is rarely nested twice

// The archive's pickle, in its one folder: "archive/data.pkl".
const ZipEntry* find_pickle(const ZipArchive& archive) {
  for (const ZipEntry& entry : archive.entries()) {
    const bool in_folder =
        entry.name.ends_with(kPickle) && entry.name.find('/') == entry.name.size() - kPickle.size();
    if (in_folder) return &entry;
  }
  return nullptr;
}

// The values of a dict under texts.
std::vector<std::pair<std::string_view, Id>> named_values(const Pickle& pickle, Id dict) {
  std::vector<std::pair<std::string_view, Id>> values;
  const std::span<const Id> items = pickle.items(dict);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (pickle.kind(items[i]) == Kind::text) values.emplace_back(pickle.text(items[i]), items[i + 1]);
  }
  return values;
}

bool has_tensors(const Pickle& pickle, Id id) {
  if (pickle.kind(id) == Kind::dict) {
    return std::ranges::any_of(named_values(pickle, id),
                               [&](const auto& value) { return pickle.kind(value.second) == Kind::tensor; });
  }
  const bool sequence = pickle.kind(id) == Kind::list || pickle.kind(id) == Kind::tuple;
  return sequence && !pickle.items(id).empty() &&
         std::ranges::all_of(pickle.items(id), [&](Id item) { return pickle.kind(item) == Kind::tensor; });
}

// The dict or list of tensors in a value, or in what it holds under one of the usual names. Each value is
// looked at once: a hostile pickle may hold it a million times, or in itself.
void find_state(const Pickle& pickle, Id id, int depth, std::set<Id>& seen, std::set<Id>& found) {
  if (!seen.insert(id).second) return;
  if (has_tensors(pickle, id)) {
    found.insert(id);
  } else if (pickle.kind(id) == Kind::dict && depth < kDeepest) {
    for (const auto& [name, value] : named_values(pickle, id)) {
      if (std::ranges::find(kStateDicts, name) != kStateDicts.end()) {
        find_state(pickle, value, depth + 1, seen, found);
      }
    }
  }
}

std::string keys_of(const Pickle& pickle, Id id) {
  constexpr std::size_t kShown = 8;
  if (pickle.kind(id) != Kind::dict) return "no dict";
  std::string keys = "the keys";
  const auto values = named_values(pickle, id);
  for (std::size_t i = 0; i < std::min(values.size(), kShown); ++i) keys += " " + quote(values[i].first);
  if (values.empty()) return "a dict without names";
  return values.size() > kShown ? keys + fmt::format(" and {} more", values.size() - kShown) : keys;
}

class Storages {
 public:
  Storages(const ZipArchive& archive, std::string folder, const std::string& file)
      : archive_(archive), folder_(std::move(folder)), file_(file) {}

  at::Tensor view(const PickledTensor& tensor, const std::string& name) {
    const std::string what = fmt::format("{}: tensor {}", file_, quote(name));
    const std::optional<std::uint64_t> bytes = bytes_of(tensor.shape, tensor.dtype);
    if (!bytes) fail("{}: its shape is too large", what);
    if (*bytes == 0) return at::empty(tensor.shape, tensor.dtype);
    // The last element that is looked at: one name may not reach beyond the storage.
    std::int64_t last = tensor.offset;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      std::int64_t step = 0;
      if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &step) ||
          __builtin_add_overflow(last, step, &last)) {
        fail("{}: its strides are too large", what);
      }
    }
    if (last >= tensor.storage_size) {
      fail("{}: reaches element {} of a storage of {}", what, last, tensor.storage_size);
    }
    // Tensors may repeat a storage, whole or by strides of zero; before anything is copied.
    if (__builtin_add_overflow(unfolded_, *bytes, &unfolded_)) fail("{}: its shape is too large", what);
    check_unfolded(unfolded_, archive_.size(), file_);
    return storage(tensor, what).as_strided(tensor.shape, tensor.strides, tensor.offset).contiguous();
  }

 private:
  // All elements of a storage in one row.
  at::Tensor storage(const PickledTensor& tensor, const std::string& what) {
    const auto found = known_.find(tensor.storage);
    if (found != known_.end()) {
      if (found->second.scalar_type() != tensor.dtype || found->second.numel() != tensor.storage_size) {
        fail("{}: its storage {} has another type or size elsewhere", what, quote(tensor.storage));
      }
      return found->second;
    }
    const ZipEntry* entry = archive_.find(fmt::format("{}/data/{}", folder_, tensor.storage));
    if (entry == nullptr) fail("{}: its storage {} is not in the archive", what, quote(tensor.storage));
    const std::optional<std::uint64_t> bytes = bytes_of({tensor.storage_size}, tensor.dtype);
    if (!bytes || entry->size != *bytes) {
      fail("{}: its storage {} has {} bytes, expected {} elements of {}", what, quote(tensor.storage),
           entry->size, tensor.storage_size, c10::toString(tensor.dtype));
    }
    at::Tensor row = tensor_on(archive_.content(*entry), tensor.dtype, {tensor.storage_size}, what);
    known_.emplace(tensor.storage, row);
    return row;
  }

  const ZipArchive& archive_;
  const std::string folder_;
  const std::string& file_;
  std::map<std::string, at::Tensor, std::less<>> known_;
  std::uint64_t unfolded_ = 0;
};

}  // namespace

bool is_torch_zip(const ZipArchive& archive) {
  return find_pickle(archive) != nullptr;
}

TensorFile read_torch_zip(const ZipArchive& archive, const std::string& file) {
  const ZipEntry* entry = find_pickle(archive);
  UNDERTEXT_CHECK(entry != nullptr);
  std::string folder = entry->name.substr(0, entry->name.size() - kPickle.size());
  if (archive.find(folder + "/constants.pkl") != nullptr) {
    fail("{}: is a TorchScript program, expected tensors: save model.state_dict()", file);
  }
  if (const ZipEntry* order = archive.find(folder + "/byteorder")) {
    if (const SharedBytes word = archive.beginning(*order, 16); word.view() != "little") {
      fail("{}: its byteorder is {}, expected little", file, quote(word.view()));
    }
  }
  const SharedBytes bytes = archive.content(*entry);
  const Pickle pickle(bytes.view(), file + ": data.pkl");

  TensorFile content;
  content.format = "torch";
  Storages storages(archive, std::move(folder), file);
  const auto add = [&](std::string name, Id id) {
    if (content.tensors.size() >= kMostEntries) fail("{}: over {} tensors", file, kMostEntries);
    if (content.tensors.contains(name)) fail("{}: lists {} twice", file, quote(name));
    content.tensors.emplace(name, storages.view(pickle.tensor(id), name));
    content.order.push_back(std::move(name));
  };
  const Id root = pickle.root();
  std::set<Id> seen, found;
  find_state(pickle, root, 0, seen, found);
  if (pickle.kind(root) == Kind::tensor) {
    add(place_name(0), root);
  } else if (found.size() != 1) {
    fail("{}: {} state dict in it, but {}; expected tensors under their names, or under model or state_dict",
         file, found.empty() ? "no" : "more than one", keys_of(pickle, root));
  } else if (pickle.kind(*found.begin()) == Kind::dict) {
    for (const auto& [name, value] : named_values(pickle, *found.begin())) {
      if (pickle.kind(value) == Kind::tensor) add(std::string(name), value);
    }
  } else {
    for (const Id item : pickle.items(*found.begin())) add(place_name(content.order.size()), item);
  }
  settle_names(content);
  return content;
}

}  // namespace undertext
