#include "tensors/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "tensors/tensor_view.h"

namespace undertext {
namespace {

// Far above what a hundred thousand tensors need.
constexpr std::size_t kLargestPickle = std::size_t{1} << 26;
constexpr std::size_t kMostValues = std::size_t{1} << 22;
constexpr std::size_t kMostTensors = 2 * kMostEntries;  // with the storages
constexpr std::size_t kLongestKey = 64;                 // of a storage; torch counts them

enum class Global : std::int64_t { ordered_dict, rebuild_tensor, rebuild_parameter, size, storage };

struct KnownGlobal {
  std::string_view name;  // module and name
  Global global;
  at::ScalarType dtype = at::kFloat;  // of a storage
};

constexpr std::array<KnownGlobal, 14> kGlobals{{
    {"collections.OrderedDict", Global::ordered_dict},
    {"torch._utils._rebuild_tensor_v2", Global::rebuild_tensor},
    {"torch._utils._rebuild_parameter", Global::rebuild_parameter},
    {"torch.Size", Global::size},
    {"torch.DoubleStorage", Global::storage, at::kDouble},
    {"torch.FloatStorage", Global::storage, at::kFloat},
    {"torch.HalfStorage", Global::storage, at::kHalf},
    {"torch.BFloat16Storage", Global::storage, at::kBFloat16},
    {"torch.LongStorage", Global::storage, at::kLong},
    {"torch.IntStorage", Global::storage, at::kInt},
    {"torch.ShortStorage", Global::storage, at::kShort},
    {"torch.CharStorage", Global::storage, at::kChar},
    {"torch.ByteStorage", Global::storage, at::kByte},
    {"torch.BoolStorage", Global::storage, at::kBool},
}};

// Python's opcodes, as its pickletools names them.
enum Opcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

}  // namespace

class PickleReader {
 public:
  PickleReader(Pickle& pickle, std::string_view bytes, std::string what)
      : pickle_(pickle), all_(bytes), left_(bytes), what_(std::move(what)) {}

  void read() {
    if (all_.size() > kLargestPickle) {
      fail("{}: a pickle of {} bytes, expected at most {}", what_, all_.size(), kLargestPickle);
    }
    none_ = add({Kind::none, 0});
    false_ = add({Kind::boolean, 0});
    true_ = add({Kind::boolean, 1});
    empty_ = add_sequence(Kind::tuple, {});
    while (step()) {
    }
    if (stack_.size() != 1 || !marks_.empty()) damaged("it ends with other than one value");
    if (!left_.empty()) damaged("bytes follow its end");
    pickle_.root_ = stack_.front();
  }

 private:
  using Kind = Pickle::Kind;
  using Id = Pickle::Id;

  // One opcode; false after the last.
  bool step() {
    const auto opcode = static_cast<Opcode>(number<std::uint8_t>());
    switch (opcode) {
      case kProto:
        if (const int version = number<std::uint8_t>(); version < 2 || version > 5) {
          fail("{}: pickle protocol {}, expected 2 to 5", what_, version);
        }
        return true;
      case kFrame:  // only says how much may be read at once
        number<std::uint64_t>();
        return true;
      case kStop:
        return false;
      case kNone:
        return push(none_);
      case kNewTrue:
        return push(true_);
      case kNewFalse:
        return push(false_);
      case kBinInt:
        return push_integer(number<std::int32_t>());
      case kBinInt1:
        return push_integer(number<std::uint8_t>());
      case kBinInt2:
        return push_integer(number<std::uint16_t>());
      case kLong1:
        return push_integer(long_integer());
      case kBinFloat: {  // big-endian, unlike all else
        std::uint64_t bits = number<std::uint64_t>();
        bits = __builtin_bswap64(bits);
        return push(add({Kind::real, std::bit_cast<std::int64_t>(bits)}));
      }
      case kShortBinUnicode:
        return push_text(take(number<std::uint8_t>()));
      case kBinUnicode:
        return push_text(take(number<std::uint32_t>()));
      case kBinUnicode8:
        return push_text(take(number<std::uint64_t>()));
      case kMark:
        marks_.push_back(stack_.size());
        return true;
      case kPop:
        pop();
        return true;
      case kPopMark:
        pop_to_mark();
        return true;
      case kEmptyTuple:
        return push(empty_);
      case kTuple1:
        return push_tuple(1);
      case kTuple2:
        return push_tuple(2);
      case kTuple3:
        return push_tuple(3);
      case kTuple:
        return push(add_sequence(Kind::tuple, pop_to_mark()));
      case kEmptyList:
        return push(add_sequence(Kind::list, {}));
      case kEmptyDict:
        return push(add_sequence(Kind::dict, {}));
      case kAppend:
        return extend(Kind::list, {pop()});
      case kAppends:
        return extend(Kind::list, pop_to_mark());
      case kSetItem: {
        const Id value = pop(), key = pop();
        return extend(Kind::dict, {key, value});
      }
      case kSetItems: {
        const std::vector<Id> items = pop_to_mark();
        if (items.size() % 2 != 0) damaged("a dict gets a key without a value");
        return extend(Kind::dict, items);
      }
      case kBinPut:
        return put(number<std::uint8_t>());
      case kLongBinPut:
        return put(number<std::uint32_t>());
      case kMemoize:
        return put(memo_.size());
      case kBinGet:
        return get(number<std::uint8_t>());
      case kLongBinGet:
        return get(number<std::uint32_t>());
      case kGlobal: {
        const std::string_view module = line(), name = line();
        return push_global(module, name);
      }
      case kStackGlobal: {
        const std::string_view name = pop_text(), module = pop_text();
        return push_global(module, name);
      }
      case kBinPersId:
        return push(storage(pop()));
      case kReduce: {
        const Id arguments = pop(), function = pop();
        return push(reduce(function, arguments));
      }
      case kBuild:  // what a state dict knows about its modules; nothing that is needed here
        if (const Id state = pop(); pickle_.kind(state) != Kind::dict || kind_of_top() != Kind::dict) {
          damaged("an object that is no dict gets a state");
        }
        return true;
    }
    fail("{}: opcode 0x{:02x} at byte {}, which torch.save does not need for tensors: refused", what_,
         static_cast<unsigned>(opcode), all_.size() - left_.size() - 1);
  }

  [[noreturn]] void damaged(const char* what) const {
    fail("{}: at byte {}, {}: damaged, or not written by torch.save", what_, all_.size() - left_.size(),
         what);
  }

  std::string_view take(std::uint64_t size) {
    if (size > left_.size()) damaged("it ends too early");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  template <typename Number>
  Number number() {
    Number value = 0;
    std::memcpy(&value, take(sizeof(Number)).data(), sizeof(Number));
    return value;
  }

  std::int64_t long_integer() {
    const std::string_view bytes = take(number<std::uint8_t>());
    if (bytes.size() > 8) damaged("an integer has more than 64 bits");
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bits |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
    if (negative && bytes.size() < 8) bits |= ~std::uint64_t{0} << (8 * bytes.size());
    return std::bit_cast<std::int64_t>(bits);
  }

  std::string_view line() {
    const std::size_t end = left_.find('\n');
    if (end == left_.npos) damaged("a name does not end");
    const std::string_view text = take(end);
    take(1);
    return text;
  }

  Id add(Pickle::Value value) {
    if (pickle_.values_.size() >= kMostValues)
      fail("{}: the pickle makes over {} values", what_, kMostValues);
    pickle_.values_.push_back(value);
    return static_cast<Id>(pickle_.values_.size() - 1);
  }
  Id add_sequence(Kind kind, std::vector<Id> items) {
    const Id id = add({kind, static_cast<std::int64_t>(pickle_.sequences_.size())});
    pickle_.sequences_.push_back(std::move(items));
    return id;
  }
  Id add_tensor(Kind kind, PickledTensor tensor) {
    if (pickle_.tensors_.size() >= kMostTensors)
      fail("{}: the pickle makes over {} tensors", what_, kMostTensors);
    const Id id = add({kind, static_cast<std::int64_t>(pickle_.tensors_.size())});
    pickle_.tensors_.push_back(std::move(tensor));
    return id;
  }

  // Always true, so that a step can end with it.
  bool push(Id id) {
    stack_.push_back(id);
    return true;
  }
  bool push_integer(std::int64_t value) { return push(add({Kind::integer, value})); }
  bool push_text(std::string_view text) {
    const Id id = add({Kind::text, static_cast<std::int64_t>(pickle_.texts_.size())});
    pickle_.texts_.push_back(text);
    return push(id);
  }
  bool push_tuple(std::size_t size) {
    std::vector<Id> items(size);
    for (std::size_t i = size; i-- > 0;) items[i] = pop();
    return push(add_sequence(Kind::tuple, std::move(items)));
  }

  Id pop() {
    const std::size_t bottom = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= bottom) damaged("it takes a value that is not there");
    const Id id = stack_.back();
    stack_.pop_back();
    return id;
  }
  std::vector<Id> pop_to_mark() {
    if (marks_.empty()) damaged("it goes back to a mark that is not there");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Id> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  std::string_view pop_text() {
    const Id id = pop();
    if (pickle_.kind(id) != Kind::text) damaged("a name is no text");
    return pickle_.text(id);
  }
  std::optional<Kind> kind_of_top() const {
    const std::size_t bottom = marks_.empty() ? 0 : marks_.back();
    return stack_.size() <= bottom ? std::nullopt : std::optional(pickle_.kind(stack_.back()));
  }

  bool extend(Kind kind, const std::vector<Id>& items) {
    if (kind_of_top() != kind)
      damaged(kind == Kind::list ? "what it appends to is no list" : "what it adds a key to is no dict");
    std::vector<Id>& sequence = pickle_.sequences_[static_cast<std::size_t>(payload(stack_.back()))];
    sequence.insert(sequence.end(), items.begin(), items.end());
    return true;
  }

  bool put(std::size_t place) {
    // Python numbers the memo as it goes; a hostile place would only cost memory.
    if (place > all_.size()) damaged("the memo's places leave gaps");
    if (!kind_of_top()) damaged("it remembers a value that is not there");
    constexpr Id kNothing = std::numeric_limits<Id>::max();
    if (place >= memo_.size()) memo_.resize(place + 1, kNothing);
    memo_[place] = stack_.back();
    return true;
  }
  bool get(std::size_t place) {
    if (place >= memo_.size() || memo_[place] >= pickle_.values_.size()) {
      damaged("it recalls a value that it did not remember");
    }
    return push(memo_[place]);
  }

  bool push_global(std::string_view module, std::string_view name) {
    const std::string full = fmt::format("{}.{}", module, name);
    const auto* found = std::ranges::find(kGlobals, full, &KnownGlobal::name);
    if (found == kGlobals.end()) {
      fail("{} asks for {}: refused; only tensors are read (save model.state_dict(), not the model)", what_,
           quote(full));
    }
    return push(add({Kind::global, found - kGlobals.begin()}));
  }
  const KnownGlobal* global(Id id) const {
    if (pickle_.kind(id) != Kind::global) return nullptr;
    return &kGlobals[static_cast<std::size_t>(payload(id))];
  }

  // ('storage', torch.FloatStorage, key, device, elements)
  Id storage(Id id) {
    const std::vector<Id> parts = items_of(id);
    const KnownGlobal* type = parts.size() == 5 ? global(parts[1]) : nullptr;
    if (type == nullptr || type->global != Global::storage || pickle_.kind(parts[0]) != Kind::text ||
        pickle_.text(parts[0]) != "storage" || pickle_.kind(parts[2]) != Kind::text) {
      damaged("a reference to a storage says something else");
    }
    PickledTensor tensor;
    tensor.storage = pickle_.text(parts[2]);
    if (tensor.storage.size() > kLongestKey) damaged("the key of a storage is too long");
    tensor.dtype = type->dtype;
    tensor.storage_size = natural(parts[4]);
    return add_tensor(Kind::storage, std::move(tensor));
  }

  Id reduce(Id function, Id arguments) {
    const KnownGlobal* known = global(function);
    if (known == nullptr || pickle_.kind(arguments) != Kind::tuple) damaged("a call of what is no function");
    const std::vector<Id> parts = items_of(arguments);
    switch (known->global) {
      case Global::ordered_dict:
        if (parts.empty()) return add_sequence(Kind::dict, {});
        break;
      case Global::size:
        if (parts.size() == 1 && pickle_.kind(parts[0]) == Kind::tuple) return parts[0];
        break;
      case Global::rebuild_parameter:  // (tensor, requires_grad, hooks)
        if (parts.size() == 3 && pickle_.kind(parts[0]) == Kind::tensor) return parts[0];
        break;
      case Global::rebuild_tensor:  // (storage, offset, shape, strides, requires_grad, hooks[, metadata])
        if (parts.size() >= 6 && parts.size() <= 7 && pickle_.kind(parts[0]) == Kind::storage) {
          PickledTensor tensor = pickle_.tensors_[static_cast<std::size_t>(payload(parts[0]))];
          tensor.offset = natural(parts[1]);
          tensor.shape = naturals(parts[2]);
          tensor.strides = naturals(parts[3]);
          if (tensor.shape.size() != tensor.strides.size())
            damaged("a tensor's shape and strides differ in length");
          return add_tensor(Kind::tensor, std::move(tensor));
        }
        break;
      case Global::storage:
        break;
    }
    damaged("a call with other arguments than torch.save gives");
  }

  std::int64_t payload(Id id) const { return pickle_.values_[id].payload; }

  std::vector<Id> items_of(Id id) const {
    if (pickle_.kind(id) != Kind::tuple) damaged("a tuple is missing");
    const std::span<const Id> items = pickle_.items(id);
    if (items.size() > kMostDimensions) damaged("a tuple is too long");
    return {items.begin(), items.end()};
  }
  std::int64_t natural(Id id) const {
    if (pickle_.kind(id) != Kind::integer) damaged("an integer is missing");
    if (payload(id) < 0) damaged("a size, stride or offset is negative");
    return payload(id);
  }
  std::vector<std::int64_t> naturals(Id id) const {
    std::vector<std::int64_t> numbers;
    for (const Id item : items_of(id)) numbers.push_back(natural(item));
    return numbers;
  }

  Pickle& pickle_;
  std::string_view all_, left_;
  const std::string what_;
  Id none_ = 0, false_ = 0, true_ = 0, empty_ = 0;  // made once: a pickle may name them a million times
  std::vector<Id> stack_, memo_;
  std::vector<std::size_t> marks_;  // sizes of the stack
};

Pickle::Pickle(std::string_view bytes, std::string what) {
  PickleReader(*this, bytes, std::move(what)).read();
}

std::string_view Pickle::text(Id id) const {
  UNDERTEXT_CHECK(kind(id) == Kind::text);
  return texts_[static_cast<std::size_t>(values_[id].payload)];
}

std::int64_t Pickle::integer(Id id) const {
  UNDERTEXT_CHECK(kind(id) == Kind::integer);
  return values_[id].payload;
}

std::span<const Pickle::Id> Pickle::items(Id id) const {
  UNDERTEXT_CHECK(kind(id) == Kind::tuple || kind(id) == Kind::list || kind(id) == Kind::dict);
  return sequences_[static_cast<std::size_t>(values_[id].payload)];
}

const PickledTensor& Pickle::tensor(Id id) const {
  UNDERTEXT_CHECK(kind(id) == Kind::tensor);
  return tensors_[static_cast<std::size_t>(values_[id].payload)];
}

}  // namespace undertext
