// Features of sound.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_micro_frontend(nanobind::module_& module);

}  // namespace everflow
