#include "processor.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace everflow {
namespace {

const char* const NAMES[] = {"baseline", "avx2", "avx512"};

Processor best() {
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Processor::baseline;
    const bool widest = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    return widest ? Processor::avx512 : Processor::avx2;
#else
    return Processor::baseline;
#endif
}

Processor asked_for() {
    const char* given = std::getenv("EVERFLOW_CPU");
    if (given == nullptr || *given == 0) return best();
    for (const Processor kind : {Processor::baseline, Processor::avx2, Processor::avx512}) {
        if (std::string(given) == NAMES[static_cast<int>(kind)]) return std::min(kind, best());
    }
    throw std::invalid_argument("EVERFLOW_CPU must be baseline, avx2 or avx512, not " + std::string(given) + ".");
}

}  // namespace

Processor processor() {
    static const Processor found = asked_for();
    return found;
}

void add_processor(nb::module_& module) {
    module.def("processor", [] { return NAMES[static_cast<int>(processor())]; }, "The kind of processor that kernels are chosen for.");
    module.def("processors", [] { return std::vector<std::string>(NAMES, NAMES + static_cast<int>(best()) + 1); },
               "The kinds that this processor can stand for, the least first: what EVERFLOW_CPU may name to effect.");
    module.def("by_intel", [] {
#if defined(__GNUC__) && defined(__x86_64__)
        __builtin_cpu_init();
        return __builtin_cpu_is("intel") != 0;
#else
        return false;
#endif
    }, "Whether the processor is one of Intel's, which MKL knows best.");
    // An unknown name is reported when the module is loaded, not in the middle of a program.
    processor();
}

}  // namespace everflow
