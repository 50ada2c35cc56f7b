// Which of OpenBLAS's kernels the products run on.
#pragma once

namespace undertext {

// OpenBLAS chooses its kernels by a list of processors, and takes the oldest ones (Prescott, SSE3) for a
// processor that is newer than the list: a quarter of the speed. Where it did, and the processor has AVX2 or
// AVX-512, the kernels for these are chosen instead, unless OPENBLAS_CORETYPE says which. Not while a product
// is computed.
void choose_blas_kernels();

}  // namespace undertext
