// How arrays of numpy answer operators.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_array_slots(nanobind::module_& module);

}  // namespace everflow
