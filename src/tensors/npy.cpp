#include "tensors/npy.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "tensors/tensor_view.h"

namespace undertext {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint64_t kAlignment = 64;

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 9> kTypes{{
    {"f8", at::kDouble},
    {"f4", at::kFloat},
    {"f2", at::kHalf},
    {"i8", at::kLong},
    {"i4", at::kInt},
    {"i2", at::kShort},
    {"i1", at::kChar},
    {"u1", at::kByte},
    {"b1", at::kBool},
}};

// The one literal that a header may be: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& what) : text_(text), left_(text), what_(what) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!skip('}')) {
      const std::string_view key = string("a key");
      expect(':');
      const auto once = [&](bool& seen) {
        if (std::exchange(seen, true)) fail("{}: the numpy header gives {} twice", what_, quote(key));
      };
      if (key == "descr") {
        once(descr);
        set_type(header);
      } else if (key == "fortran_order") {
        once(order);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(shape);
        header.shape = tuple();
      } else {
        fail("{}: the numpy header has the unknown key {}", what_, quote(key));
      }
      if (!skip(',') && !next_is('}')) unexpected("',' or '}'");
    }
    if (!descr || !order || !shape) {
      fail("{}: the numpy header needs descr, fortran_order and shape", what_);
    }
    skip_space();
    if (!left_.empty()) unexpected("nothing more");
    return header;
  }

 private:
  void skip_space() {
    while (!left_.empty() && (left_.front() == ' ' || left_.front() == '\n')) left_.remove_prefix(1);
  }
  bool next_is(char c) {
    skip_space();
    return left_.starts_with(c);
  }
  bool skip(char c) {
    if (!next_is(c)) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!skip(c)) unexpected(std::string{'\'', c, '\''});
  }
  [[noreturn]] void unexpected(const std::string& wanted) const {
    fail("{}: byte {} of the numpy header: expected {}", what_, text_.size() - left_.size() + 1, wanted);
  }

  std::string_view string(const std::string& wanted) {
    const bool quoted = next_is('\'') || next_is('"');
    const std::size_t end = quoted ? left_.find(left_.front(), 1) : left_.npos;
    if (end == left_.npos) unexpected(wanted + " in quotes");
    const std::string_view content = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    return content;
  }

  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)}) {
      if (!left_.starts_with(word)) continue;
      left_.remove_prefix(std::strlen(word));
      return value;
    }
    unexpected("True or False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    expect('(');
    bool comma = true;
    while (!skip(')')) {
      if (!comma) unexpected("',' or ')'");
      skip_space();
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), number);
      if (error != std::errc() || number < 0) unexpected("a 64-bit integer from 0");
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
      if (left_.starts_with('L')) left_.remove_prefix(1);  // by Python 2
      numbers.push_back(number);
      if (numbers.size() > kMostDimensions) fail("{}: the shape has over {} numbers", what_, kMostDimensions);
      comma = skip(',');
    }
    if (numbers.size() == 1 && !comma) unexpected("a tuple");
    return numbers;
  }

  void set_type(NpyHeader& header) {
    if (next_is('[')) fail("{}: holds records (a structured type), expected plain numbers", what_);
    const std::string_view descr = string("the type");
    if (descr.find('O') != descr.npos) {
      fail("{}: holds Python objects (type {}), which are never read: save arrays of numbers", what_,
           quote(descr));
    }
    const std::string_view type = descr.substr(std::min<std::size_t>(1, descr.size()));
    const auto* found = std::ranges::find(kTypes, type, [](const auto& known) { return known.first; });
    const bool one_byte = type.ends_with('1');
    if (found == kTypes.end() ||
        !(descr.starts_with('<') || descr.starts_with('>') || (one_byte && descr.starts_with('|')))) {
      fail("{}: has the type {}, expected f2, f4, f8, i1, i2, i4, i8, u1 or b1", what_, quote(descr));
    }
    header.dtype = found->second;
    header.big_endian = descr.starts_with('>') && !one_byte;
  }

  std::string_view text_, left_;
  const std::string& what_;
};

// The numbers in this machine's order of bytes.
SharedBytes swapped(const SharedBytes& bytes, std::size_t element) {
  SharedBytes out = new_bytes(bytes.size);
  for (std::size_t i = 0; i < bytes.size; i += element) {
    std::reverse_copy(bytes.data + i, bytes.data + i + element, out.data + i);
  }
  return out;
}

}  // namespace

bool looks_like_npy(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

NpyHeader parse_npy_header(std::string_view bytes, std::uint64_t whole, const std::string& what) {
  constexpr std::size_t kVersion = 6, kLength = 8;
  if (!looks_like_npy(bytes)) fail("{}: does not begin as a numpy array does", what);
  if (bytes.size() < kLength) fail("{}: only {} bytes long: truncated", what, bytes.size());
  const int major = static_cast<unsigned char>(bytes[kVersion]);
  const int minor = static_cast<unsigned char>(bytes[kVersion + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    fail("{}: numpy format {}.{}, expected 1.0, 2.0 or 3.0", what, major, minor);
  }
  const std::size_t width = major == 1 ? 2 : 4;
  if (bytes.size() < kLength + width) fail("{}: only {} bytes long: truncated", what, bytes.size());
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + kLength, width);
  const std::uint64_t begin = kLength + width + length;
  if (begin > kLargestNpyHeader) {
    fail("{}: a numpy header of {} bytes, expected at most {}", what, begin, kLargestNpyHeader);
  }
  if (begin > bytes.size())
    fail("{}: a numpy header of {} bytes in {}: truncated", what, begin, bytes.size());

  NpyHeader header = HeaderParser(bytes.substr(kLength + width, length), what).parse();
  const std::optional<std::uint64_t> size = bytes_of(header.shape, header.dtype);
  if (!size) fail("{}: the shape ({}) is too large", what, fmt::join(header.shape, ", "));
  if (*size != whole - begin) {
    fail("{}: has {} bytes of numbers, but its shape and type need {}: truncated or damaged", what,
         whole - begin, *size);
  }
  header.begin = begin;
  header.size = *size;
  return header;
}

at::Tensor npy_tensor(const NpyHeader& header, const SharedBytes& bytes, const std::string& what) {
  SharedBytes numbers = bytes.part(header.begin, header.size);
  if (header.big_endian) numbers = swapped(numbers, c10::elementSize(header.dtype));
  if (!header.fortran_order) return tensor_on(numbers, header.dtype, header.shape, what);
  const std::vector<std::int64_t> reversed(header.shape.rbegin(), header.shape.rend());
  std::vector<std::int64_t> axes;
  for (auto axis = static_cast<std::int64_t>(reversed.size()) - 1; axis >= 0; --axis) axes.push_back(axis);
  return tensor_on(numbers, header.dtype, reversed, what).permute(axes).contiguous();
}

TensorFile read_npy(const SharedBytes& bytes, const std::string& file) {
  const NpyHeader header = parse_npy_header(bytes.view(), bytes.size, file);
  TensorFile content;
  content.format = "npy";
  content.tensors.emplace(place_name(0), npy_tensor(header, bytes, file));
  content.order = {place_name(0)};
  settle_names(content);
  return content;
}

std::string npy_header(const at::Tensor& tensor, const std::string& what) {
  const auto* found =
      std::ranges::find(kTypes, tensor.scalar_type(), [](const auto& known) { return known.second; });
  if (found == kTypes.end()) {
    fail("{}: numpy has no {}: write .safetensors or .pt, or save it as another type", what,
         c10::toString(tensor.scalar_type()));
  }
  std::string shape;
  for (const std::int64_t size : tensor.sizes()) shape += fmt::format("{}, ", size);
  if (tensor.dim() > 1) shape.resize(shape.size() - 2);
  if (tensor.dim() == 1) shape.pop_back();
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 tensor.element_size() == 1 ? '|' : '<', found->first, shape);
  // 10 bytes in front, a line break at the end.
  const std::uint64_t whole =
      (kMagic.size() + 4 + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(whole - kMagic.size() - 4 - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace undertext
