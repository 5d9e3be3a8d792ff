// The Python names of what is done to pictures.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_images(nanobind::module_& module);

}  // namespace everflow
