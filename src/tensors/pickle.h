// The pickles that torch.save writes for tensors, and no others. Nothing is ever executed: a handful of names
// is known (OrderedDict, the storages, how tensors are put together), and a pickle that asks for any other is
// refused by that name.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

// A tensor as a view of a storage, which is a file of the archive. Nothing here has been checked against it.
struct PickledTensor {
  std::string_view storage;  // its key
  at::ScalarType dtype = at::kFloat;
  std::int64_t storage_size = 0;             // in elements, from 0
  std::int64_t offset = 0;                   // in elements, from 0
  std::vector<std::int64_t> shape, strides;  // of the same length, from 0
};

// What a pickle makes, as a table of values that refer to each other. Loops are possible, so whoever follows
// references bounds how far.
class Pickle {
 public:
  // The pickle is the whole of bytes, which must outlive this. Messages begin with what.
  Pickle(std::string_view bytes, std::string what);

  enum class Kind { none, boolean, integer, real, text, tuple, list, dict, global, storage, tensor };
  using Id = std::uint32_t;

  Id root() const { return root_; }
  Kind kind(Id id) const { return values_[id].kind; }
  std::string_view text(Id id) const;        // of a text
  std::int64_t integer(Id id) const;         // of an integer
  std::span<const Id> items(Id id) const;    // of a tuple or list; of a dict: key, value, key, value, ...
  const PickledTensor& tensor(Id id) const;  // of a tensor

 private:
  struct Value {
    Kind kind = Kind::none;
    std::int64_t payload = 0;  // the number itself, or a place in one of the tables below
  };
  friend class PickleReader;

  std::vector<Value> values_;
  std::vector<std::string_view> texts_;
  std::vector<std::vector<Id>> sequences_;
  std::vector<PickledTensor> tensors_;  // and storages, which are tensors without a shape
  Id root_ = 0;
};

}  // namespace undertext
