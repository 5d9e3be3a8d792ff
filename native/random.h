// The Python names of the random fills.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_random_fills(nanobind::module_& module);
void add_random_samplers(nanobind::module_& module);

}  // namespace everflow
