// Ops of libraries that users write.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_custom_ops(nanobind::module_& module);

}  // namespace everflow
