// Which instructions the kernels use: the best that this processor has, or less where EVERFLOW_CPU says so.
#pragma once

#include <nanobind/nanobind.h>

namespace everflow {

// Each does what those before it do. The first is what the compiler takes for granted: SSE2 on x86-64, NEON on ARM64.
enum class Processor { baseline, avx2, avx512 };

Processor processor();

// The versions of something for each kind of processor; what isn't compiled is the version before it.
template <typename Version>
const Version& chosen(const Version& baseline, const Version& avx2, const Version& avx512) {
    return processor() == Processor::avx512 ? avx512 : processor() == Processor::avx2 ? avx2 : baseline;
}

void add_processor(nanobind::module_& module);
void add_denormals(nanobind::module_& module);

}  // namespace everflow
