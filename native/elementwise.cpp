// Chains of element-wise ops in one go: a block of elements passes through all instructions while it is in the cache.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "elementwise.h"
#include "fused.h"
#include "parallel.h"

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr size_t BLOCK = 512;
// A thread gets at least so many blocks, or fewer of a chain in which each takes longer.
constexpr size_t GRAIN = 32;
constexpr size_t WORK = 96;
constexpr size_t MOST_TENSORS = 64;

using Loop = void (*)(const float*, const float*, float*, size_t);

struct Named {
    const char* name;
    Loop loop;
};

}  // namespace
}  // namespace everflow

#define KERNELS "elementwise_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

Loop find(const std::string& name) {
    for (const auto& known : CHOSEN(LOOPS)) {
        if (name == known.name) return known.loop;
    }
    throw std::invalid_argument("no loop for " + name);
}

}  // namespace

Chain::Chain(size_t rows, size_t columns, const std::vector<std::tuple<int64_t, int64_t, int64_t, bool>>& inputs,
             std::vector<float> constants, const std::vector<std::tuple<std::string, size_t, size_t>>& instructions,
             const std::vector<std::tuple<int64_t, int64_t, int64_t>>& results)
    : rows_(rows), columns_(columns), across_((columns + BLOCK - 1) / BLOCK), constants_(std::move(constants)),
      first_result_(inputs.size() + constants_.size()) {
    if (results.size() != instructions.size()) throw std::invalid_argument("a result for each instruction");
    for (const auto& [tensor, offset, stride, spread] : inputs) places_.push_back({tensor, offset, stride, spread});
    places_.resize(first_result_, {-1, 0, 0, false});
    for (const auto& [name, a, b] : instructions) {
        if (a >= places_.size() + instructions_.size() || b >= places_.size() + instructions_.size())
            throw std::invalid_argument("an instruction before its operands");
        instructions_.push_back({find(name), a, b});
    }
    for (const auto& [tensor, offset, stride] : results) places_.push_back({tensor, offset, stride, false});
    for (const auto& place : places_) tensors_ = std::max<size_t>(tensors_, static_cast<size_t>(place.tensor + 1));
    if (tensors_ > MOST_TENSORS) throw std::invalid_argument("too many tensors");
    // Short rows that follow each other in memory pass through the instructions together.
    const bool follow = std::all_of(places_.begin(), places_.end(), [&](const Place& place) {
        return place.tensor < 0 || place.spread || place.stride == 0 || place.stride == static_cast<int64_t>(columns_);
    });
    if (follow && columns_) together_ = std::max<size_t>(1, BLOCK / columns_);
    block_ = together_ > 1 ? together_ * columns_ : std::min(BLOCK, columns_);
}

void Chain::run(size_t threads, nb::args pointers) const {
    if (pointers.size() != tensors_) throw std::invalid_argument("a pointer for each tensor");
    float* bases[MOST_TENSORS];
    for (size_t i = 0; i < tensors_; ++i) bases[i] = reinterpret_cast<float*>(nb::cast<uintptr_t>(pointers[i]));
    nb::gil_scoped_release released;
    const size_t down = (rows_ + together_ - 1) / together_;
    const size_t grain = std::min(GRAIN, WORK / std::max<size_t>(1, instructions_.size()));
    in_parallel(down * across_, grain, threads, [&](size_t begin, size_t end) { run_blocks(bases, 0, rows_, begin, end); });
}

void Chain::run_rows(float* const* bases, size_t first, size_t last) const {
    run_blocks(bases, first, last, 0, (last - first + together_ - 1) / together_ * across_);
}

void Chain::run_blocks(float* const* bases, size_t first, size_t last, size_t begin, size_t end) const {
    thread_local std::vector<float> memory;
    thread_local std::vector<float*> at;
    memory.resize(std::max(memory.size(), places_.size() * block_));
    at.resize(std::max(at.size(), places_.size()));
    for (size_t k = 0; k < places_.size(); ++k) {
        const Place& place = places_[k];
        at[k] = memory.data() + k * block_;
        if (k >= first_result_ - constants_.size() && k < first_result_) {
            std::fill_n(at[k], block_, constants_[k - (first_result_ - constants_.size())]);
        } else if (repeats(place)) {
            for (size_t r = 0; r < together_; ++r) std::copy_n(bases[place.tensor] + place.offset, columns_, at[k] + r * columns_);
        }
    }
    for (size_t i = begin; i < end; ++i) {
        const size_t row = first + i / across_ * together_, column = i % across_ * BLOCK, rows = std::min(together_, last - row);
        const size_t n = together_ > 1 ? rows * columns_ : std::min(block_, columns_ - column);
        for (size_t k = 0; k < places_.size(); ++k) {
            const Place& place = places_[k];
            if (place.tensor < 0 || repeats(place)) continue;
            float* from = bases[place.tensor] + place.offset + static_cast<int64_t>(row) * place.stride;
            if (place.spread) {
                for (size_t r = 0; r < rows; ++r, from += place.stride) std::fill_n(at[k] + r * columns_, n / rows, *from);
            } else {
                at[k] = from + column;
            }
        }
        float** result = at.data() + first_result_;
        for (const auto& instruction : instructions_) instruction.loop(at[instruction.a], at[instruction.b], *result++, n);
    }
}

namespace {

// One op of one tensor, whatever its size.
class Single {
public:
    explicit Single(const std::string& name) : loop_(find(name)) {}

    void run(size_t threads, size_t count, uintptr_t from, uintptr_t to) const {
        const auto* x = reinterpret_cast<const float*>(from);
        auto* y = reinterpret_cast<float*>(to);
        nb::gil_scoped_release released;
        in_parallel((count + BLOCK - 1) / BLOCK, GRAIN, threads, [&](size_t begin, size_t end) {
            const size_t first = begin * BLOCK;
            loop_(x + first, x + first, y + first, std::min(end * BLOCK, count) - first);
        });
    }

private:
    Loop loop_;
};

// Powers as C's library gives them: nearer to the true ones than vectors of instructions do, and the same on all processors.
void power(size_t threads, size_t count, uintptr_t bases, size_t base_step, uintptr_t exponents, size_t exponent_step, uintptr_t to) {
    const auto* x = reinterpret_cast<const float*>(bases);
    const auto* y = reinterpret_cast<const float*>(exponents);
    auto* z = reinterpret_cast<float*>(to);
    nb::gil_scoped_release released;
    in_parallel(count, BLOCK, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) z[i] = std::pow(x[i * base_step], y[i * exponent_step]);
    });
}

}  // namespace

void add_elementwise(nb::module_& module) {
    nb::class_<Chain>(module, "ElementwiseChain", "Element-wise instructions over rows of float32 tensors, run block by block.")
        .def(nb::init<size_t, size_t, const std::vector<std::tuple<int64_t, int64_t, int64_t, bool>>&, std::vector<float>,
                      const std::vector<std::tuple<std::string, size_t, size_t>>&, const std::vector<std::tuple<int64_t, int64_t, int64_t>>&>(),
             nb::arg("rows"), nb::arg("columns"), nb::arg("inputs"), nb::arg("constants"), nb::arg("instructions"), nb::arg("results"))
        .def("run", &Chain::run, nb::arg("threads"), nb::arg("pointers"), "Runs on the tensors at these addresses, which the caller keeps alive.");
    nb::class_<Single>(module, "ElementwiseLoop", "An element-wise op of one float32 tensor.")
        .def(nb::init<const std::string&>(), nb::arg("name"))
        .def("run", &Single::run, nb::arg("threads"), nb::arg("count"), nb::arg("source"), nb::arg("result"),
             "Runs on the numbers at the first address and writes to the second; the caller keeps both alive.");
    module.def("power", &power, nb::arg("threads"), nb::arg("count"), nb::arg("bases"), nb::arg("base_step"), nb::arg("exponents"),
               nb::arg("exponent_step"), nb::arg("result"),
               "Raises numbers at an address to powers, each step numbers after the one before; the caller keeps all alive.");
    nb::list names;
    for (const auto& known : CHOSEN(LOOPS)) names.append(known.name);
    module.attr("ELEMENTWISE") = nb::frozenset(names);
}

}  // namespace everflow
