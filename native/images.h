// The Python names of what is done to pictures and to files that hold them.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

void add_images(nanobind::module_& module);
void add_jpeg(nanobind::module_& module);

}  // namespace everflow
