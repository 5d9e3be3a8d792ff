// Kernels on tensors that do several ops at once, or one in fewer passes than there are ways to say it.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_batch_norm(nanobind::module_& module);
void add_convolution(nanobind::module_& module);
void add_elementwise(nanobind::module_& module);
void add_halving(nanobind::module_& module);
void add_matrix_products(nanobind::module_& module);
void add_pooling(nanobind::module_& module);
void add_products(nanobind::module_& module);
void add_window_products(nanobind::module_& module);
void add_winograd(nanobind::module_& module);
void add_row_loops(nanobind::module_& module);
void add_row_losses(nanobind::module_& module);
void add_ranking(nanobind::module_& module);
void add_sparse_products(nanobind::module_& module);
void add_sparse_rows(nanobind::module_& module);
void add_transposing(nanobind::module_& module);

}  // namespace everflow
