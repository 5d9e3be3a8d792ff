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
#include "released.h"

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr size_t BLOCK = 512;
// A thread gets at least so many blocks, or fewer of a chain in which each takes longer.
constexpr size_t GRAIN = 32;
constexpr size_t WORK = 96;
constexpr size_t MOST_TENSORS = 64;
// So many rows are added up in floats before their sums go to doubles.
constexpr size_t NEAR = 64;

using Loop = void (*)(const float*, const float*, float*, size_t);

struct Named {
    const char* name;
    Loop loop;
};

struct Adding {
    float (*sum)(const float*, size_t);
    void (*add)(const float*, float*, size_t);
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
             const std::vector<std::tuple<int64_t, int64_t, int64_t>>& results,
             const std::vector<std::tuple<size_t, std::string, int64_t, double>>& sums)
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
    for (const auto& [operand, over, tensor, divisor] : sums) {
        if (operand >= places_.size() || tensor < 0) throw std::invalid_argument("a sum of no operand, or in no tensor");
        sums_.push_back({operand, over == "rows" ? Sum::ROWS : over == "columns" ? Sum::COLUMNS : Sum::ALL, tensor, divisor});
        places_of_sums_.push_back(subtotals_);
        subtotals_ += over == "columns" ? columns_ : 1;
        tensors_ = std::max<size_t>(tensors_, static_cast<size_t>(tensor + 1));
    }
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
    const Released released(rows_ * columns_ * instructions_.size() / 4);
    const size_t down = (rows_ + together_ - 1) / together_;
    const size_t grain = std::min(GRAIN, WORK / std::max<size_t>(1, instructions_.size()));
    if (sums_.empty()) {
        in_parallel(down * across_, grain, threads, [&](size_t begin, size_t end) { run_blocks(bases, 0, rows_, begin, end, nullptr); });
        return;
    }
    // Rows stay whole, and pieces are added in their order, whichever thread was first: to the last digit the same each time.
    const size_t pieces = pieces_of(down, (grain + across_ - 1) / across_, threads);
    std::vector<Subtotals> subtotals(pieces);
    in_pieces(down, pieces, [&](size_t k, size_t begin, size_t end) {
        subtotals[k].far.resize(subtotals_);
        subtotals[k].near.resize(subtotals_);
        run_blocks(bases, 0, rows_, begin * across_, end * across_, &subtotals[k]);
        carry(subtotals[k]);
    });
    for (size_t s = 0; s < sums_.size(); ++s) {
        const Sum& sum = sums_[s];
        if (sum.over == Sum::ROWS) continue;
        for (size_t i = 0; i < (sum.over == Sum::COLUMNS ? columns_ : 1); ++i) {
            double total = 0.0;
            for (const auto& one : subtotals) total += one.far[places_of_sums_[s] + i];
            bases[sum.tensor][i] = static_cast<float>(total / sum.divisor);
        }
    }
}

void Chain::run_rows(float* const* bases, size_t first, size_t last) const {
    run_blocks(bases, first, last, 0, (last - first + together_ - 1) / together_ * across_, nullptr);
}

void Chain::add_up(float* const* bases, float* const* at, size_t row, size_t rows, size_t column, size_t n, Subtotals& subtotals) const {
    const Adding& adding = CHOSEN(ADDING);
    const size_t width = n / rows;
    const bool ends = column + width == columns_;
    for (size_t s = 0; s < sums_.size(); ++s) {
        const Sum& sum = sums_[s];
        const float* x = at[sum.operand];
        if (sum.over == Sum::COLUMNS) {
            for (size_t r = 0; r < rows; ++r) adding.add(x + r * width, subtotals.near.data() + places_of_sums_[s] + column, width);
        } else if (sum.over == Sum::ALL) {
            subtotals.far[places_of_sums_[s]] += adding.sum(x, n);
        } else {
            double& total = subtotals.far[places_of_sums_[s]];
            for (size_t r = 0; r < rows; ++r) {
                total += adding.sum(x + r * width, width);
                if (ends) {
                    bases[sum.tensor][row + r] = static_cast<float>(total / sum.divisor);
                    total = 0.0;
                }
            }
        }
    }
    if (ends && (subtotals.rows += rows) >= NEAR) carry(subtotals);
}

void Chain::carry(Subtotals& subtotals) const {
    subtotals.rows = 0;
    for (size_t i = 0; i < subtotals_; ++i) {
        subtotals.far[i] += subtotals.near[i];
        subtotals.near[i] = 0.0f;
    }
}

void Chain::run_blocks(float* const* bases, size_t first, size_t last, size_t begin, size_t end, Subtotals* subtotals) const {
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
        if (subtotals != nullptr) add_up(bases, at.data(), row, rows, column, n, *subtotals);
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
        const Released released(count);
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
    const Released released(count * 8);
    in_parallel(count, BLOCK, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) z[i] = std::pow(x[i * base_step], y[i * exponent_step]);
    });
}

}  // namespace

void add_elementwise(nb::module_& module) {
    nb::class_<Chain>(module, "ElementwiseChain", "Element-wise instructions over rows of float32 tensors, run block by block.")
        .def(nb::init<size_t, size_t, const std::vector<std::tuple<int64_t, int64_t, int64_t, bool>>&, std::vector<float>,
                      const std::vector<std::tuple<std::string, size_t, size_t>>&, const std::vector<std::tuple<int64_t, int64_t, int64_t>>&,
                      const std::vector<std::tuple<size_t, std::string, int64_t, double>>&>(),
             nb::arg("rows"), nb::arg("columns"), nb::arg("inputs"), nb::arg("constants"), nb::arg("instructions"), nb::arg("results"),
             nb::arg("sums") = std::vector<std::tuple<size_t, std::string, int64_t, double>>())
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
