// The inner loops of classic models: linear models by dual ascent, trees and forests.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_sdca(nanobind::module_& module);
void add_trees(nanobind::module_& module);
void add_forest(nanobind::module_& module);
void add_quantiles(nanobind::module_& module);
void add_gradient_trees(nanobind::module_& module);

}  // namespace everflow
