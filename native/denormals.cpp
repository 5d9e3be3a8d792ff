// Numbers too small to have all their digits: TensorFlow's steps take them for zero, and so must ours, for their results as for their speed
// (a processor computes with such numbers up to a hundred times slower).
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "parallel.h"
#include "processor.h"
#include "turns.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace nb = nanobind;

namespace everflow {
namespace {

// The register that says how a thread computes, and the bits of it that make zeros of small operands and results.
#if defined(__x86_64__) || defined(_M_X64)
using Mode = unsigned;
constexpr Mode FLUSH = 0x8040;
Mode mode() { return _mm_getcsr(); }
void set_mode(Mode to) { _mm_setcsr(to); }
#elif defined(__aarch64__) && defined(__GNUC__)
using Mode = uint64_t;
constexpr Mode FLUSH = 1 << 24;
Mode mode() {
    Mode found;
    __asm__ volatile("mrs %0, fpcr" : "=r"(found));
    return found;
}
void set_mode(Mode to) { __asm__ volatile("msr fpcr, %0" : : "r"(to)); }
#else
using Mode = unsigned;
constexpr Mode FLUSH = 0;
Mode mode() { return 0; }
void set_mode(Mode) {}
#endif

// Flushes in this thread while it lives; what it holds lives as long, and so does its turn.
class Flushing {
public:
    Flushing(nb::object held, Pace* pace) : turn_(pace), held_(std::move(held)), before_(mode()) { set_mode(before_ | FLUSH); }
    ~Flushing() { set_mode((mode() & ~FLUSH) | (before_ & FLUSH)); }

private:
    Turn turn_;
    nb::object held_;
    Mode before_;
};

// Threads inherit the mode of those that start them: torch's were perhaps started before this thread flushed. Those that it starts later
// inherit what is right.
void flush_in_workers(size_t threads) {
    thread_local size_t flushed = 1;
    if (threads <= flushed) return;
    flushed = threads;
    nb::gil_scoped_release released;
    const Mode own = mode();
    std::atomic<size_t> arrived{0};
    in_pieces(threads, threads, [&](size_t, size_t, size_t) {
        set_mode(mode() | FLUSH);
        // One thread must not do the share of another.
        ++arrived;
        for (size_t turns = 0; arrived < threads && turns < 1000000; ++turns) {
        }
    });
    set_mode(own);
}

}  // namespace

void add_denormals(nb::module_& module) {
    nb::class_<Flushing>(module, "Flushing", "Takes denormal numbers for zero in this thread while it lives, as what it holds does.")
        .def(nb::init<nb::object, Pace*>(), nb::arg("held") = nb::none(), nb::arg("pace") = nb::none());
    module.def("flush_in_workers", &flush_in_workers, nb::arg("threads"),
               "Has the threads that work for this one take denormal numbers for zero, for good.");
}

}  // namespace everflow
