// Records of files, and summaries as such records.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace everflow {

// A record as it stands in a file.
std::string framed(std::string_view data);

void add_summaries(nanobind::module_& module);

}  // namespace everflow
