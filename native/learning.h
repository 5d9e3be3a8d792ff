// The inner loops of classic models: linear models by dual ascent, and trees.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_sdca(nanobind::module_& module);
void add_trees(nanobind::module_& module);

}  // namespace everflow
