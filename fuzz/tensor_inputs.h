// What the targets that read tensors share.
#pragma once

#include "base/error.h"
#include "tensors/mapping.h"
#include "tensors/named_tensors.h"

namespace undertext {

// A file that was accepted must be whole: every name in its order, every byte of every tensor there to be
// read.
inline void touch(const TensorFile& file) {
  UNDERTEXT_CHECK(file.order.size() == file.tensors.size());
  for (const std::string& name : file.order) UNDERTEXT_CHECK(file.tensors.contains(name));
  for (const auto& [name, tensor] : file.tensors) UNDERTEXT_CHECK(tensor.is_contiguous());
  hash_of(file.tensors);
}

// In memory of its own, so that the sanitizer sees each byte that is read beyond the end.
inline SharedBytes input(std::string_view bytes) {
  SharedBytes copy = new_bytes(bytes.size());
  bytes.copy(copy.data, bytes.size());
  return copy;
}

}  // namespace undertext
