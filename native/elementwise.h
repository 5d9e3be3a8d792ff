// Element-wise chains for the extension module.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_elementwise(nanobind::module_& module);

}  // namespace everflow
