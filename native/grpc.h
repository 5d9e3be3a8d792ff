// Calls between processes.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_grpc(nanobind::module_& module);

}  // namespace everflow
