// The numbers of a tensor as plain ones.
#pragma once

#include <vector>

namespace at {
class Tensor;
}

namespace undertext {

// One after the other, row by row, in double, whatever the tensor's type and strides.
std::vector<double> values_of(const at::Tensor& tensor);

}  // namespace undertext
