#include "tensors/tensor_values.h"

#include <ATen/ATen.h>

namespace undertext {

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.to(at::kDouble).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

}  // namespace undertext
