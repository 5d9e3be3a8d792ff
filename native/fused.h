// Kernels on tensors that do several ops at once.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_batch_norm(nanobind::module_& module);
void add_convolution(nanobind::module_& module);
void add_elementwise(nanobind::module_& module);
void add_matrix_products(nanobind::module_& module);
void add_pooling(nanobind::module_& module);
void add_products(nanobind::module_& module);
void add_window_products(nanobind::module_& module);

}  // namespace everflow
