#include "tensors/packed_floats.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include "base/error.h"

namespace undertext {
namespace {

constexpr std::size_t kPlanes = 4;
constexpr std::size_t kLength = 8;        // bytes of a plane's length, in front of it
constexpr std::size_t kSample = 1 << 16;  // numbers by which a plane is judged
constexpr double kWorth = 0.95;           // of its size at most, or a plane is kept as it is
constexpr std::size_t kPiece = 1 << 30;   // what zlib, which counts in 32 bits, is given at once

// Floats in their order as whole numbers: one step from a float to the next is a difference of 1.
std::uint32_t ordered(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

float from_ordered(std::uint32_t number) {
  return std::bit_cast<float>((number & 0x80000000U) != 0 ? number & 0x7FFFFFFFU : ~number);
}

// Small distances of either sign become small numbers.
std::uint32_t code_of(float value, float base) {
  const std::uint32_t distance = ordered(value) - ordered(base);
  return (distance << 1) ^ ((distance & 0x80000000U) != 0 ? 0xFFFFFFFFU : 0U);
}

float value_of(std::uint32_t code, float base) {
  const std::uint32_t distance = (code >> 1) ^ ((code & 1) != 0 ? 0xFFFFFFFFU : 0U);
  return from_ordered(ordered(base) + distance);
}

std::string plane_of(std::span<const float> values, std::span<const float> base, std::size_t plane) {
  std::string bytes(values.size(), '\0');
  const int shift = static_cast<int>(8 * plane);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t code =
        base.empty() ? std::rotl(std::bit_cast<std::uint32_t>(values[i]), 1) : code_of(values[i], base[i]);
    bytes[i] = static_cast<char>(code >> shift);
  }
  return bytes;
}

std::string deflated(std::string_view bytes) {
  z_stream stream{};
  // Bytes of numbers repeat one by one, not in phrases: Huffman's codes and runs of one byte find all there
  // is, and fast.
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS, 8, Z_RLE) != Z_OK) throw std::bad_alloc();
  std::string result(deflateBound(&stream, bytes.size()), '\0');
  std::size_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t in = std::min(kPiece, bytes.size() - read),
                      out = std::min(kPiece, result.size() - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + written);
    stream.avail_out = static_cast<uInt>(out);
    status = deflate(&stream, read + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += out - stream.avail_out;
  }
  deflateEnd(&stream);
  UNDERTEXT_CHECK(status == Z_STREAM_END);
  result.resize(written);
  return result;
}

// Exactly `size` bytes; UserError for more, fewer or what is not zlib's.
std::string inflated(std::string_view bytes, std::size_t size, const std::string& what) {
  std::string result(size, '\0');
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  std::size_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t in = std::min(kPiece, bytes.size() - read), out = std::min(kPiece, size - written);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + written);
    stream.avail_out = static_cast<uInt>(out);
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t taken = in - stream.avail_in, given = out - stream.avail_out;
    read += taken;
    written += given;
    if (status == Z_OK && taken == 0 && given == 0) status = Z_DATA_ERROR;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || read != bytes.size() || written != size)
    fail("{}: its packed numbers are damaged", what);
  return result;
}

bool worth(std::size_t packed, std::size_t plain) {
  return static_cast<double>(packed) <= kWorth * static_cast<double>(plain);
}

}  // namespace

std::string pack_floats(std::span<const float> values, std::span<const float> base) {
  UNDERTEXT_CHECK(base.empty() || base.size() == values.size());
  std::string packed;
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    const std::string plain = plane_of(values, base, plane);
    const std::string_view sample = std::string_view(plain).substr(0, kSample);
    std::string shorter;
    if (worth(deflated(sample).size(), sample.size())) shorter = deflated(plain);
    const std::string& kept = !shorter.empty() && worth(shorter.size(), plain.size()) ? shorter : plain;
    const std::uint64_t length = kept.size();
    packed.append(reinterpret_cast<const char*>(&length), kLength);
    packed += kept;
  }
  return packed;
}

void unpack_floats(std::string_view packed, std::span<const float> base, std::span<float> values,
                   const std::string& what) {
  UNDERTEXT_CHECK(base.empty() || base.size() == values.size());
  std::string codes[kPlanes];
  for (std::string& plane : codes) {
    std::uint64_t length = 0;
    if (packed.size() < kLength) fail("{}: its packed numbers end too early", what);
    std::memcpy(&length, packed.data(), kLength);
    packed.remove_prefix(kLength);
    if (length > packed.size() || length > values.size())
      fail("{}: its packed numbers end too early, or are more than {}", what, values.size());
    const std::string_view kept = packed.substr(0, length);
    plane = length == values.size() ? std::string(kept) : inflated(kept, values.size(), what);
    packed.remove_prefix(length);
  }
  if (!packed.empty()) fail("{}: {} bytes too many behind its packed numbers", what, packed.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t code = 0;
    for (std::size_t plane = 0; plane < kPlanes; ++plane)
      code |= static_cast<std::uint32_t>(static_cast<unsigned char>(codes[plane][i])) << (8 * plane);
    values[i] = base.empty() ? std::bit_cast<float>(std::rotr(code, 1)) : value_of(code, base[i]);
  }
}

}  // namespace undertext
