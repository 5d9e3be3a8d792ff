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
constexpr size_t MOST_TENSORS = 256;
// So many rows are added up in floats before their sums go to doubles.
constexpr size_t NEAR = 64;
// Floats of a line of the cache. Blocks begin on one, and a few lines apart: else those that are a page apart get into each other's way.
constexpr size_t LINE = 16;
constexpr size_t APART = 2 * LINE;

using Loop = void (*)(const float*, const float*, const float*, float*, size_t);

struct Named {
    const char* name;
    Loop loop;
};

struct RowKernels {
    void (*fill)(float, float*, size_t);
    float (*largest)(const float*, size_t);
    float (*sum)(const float*, size_t);
    float (*sum_of_products)(const float*, const float*, size_t);
    void (*add)(const float*, float*, size_t);
    void (*add_products)(const float*, const float*, float*, size_t);
    void (*read_truths)(const uint8_t*, float*, size_t);
    void (*write_truths)(const float*, uint8_t*, size_t);
    // a * b + c, a * b - c and c - a * b.
    Loop add_to_product, subtract_from_product, subtract_product;
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

bool reduces(const std::string& name) { return name == "Sum" || name == "Mean" || name == "Max"; }

}  // namespace

// An instruction as it was given, until products are folded into it.
struct Chain::Draft {
    std::string name;
    size_t a, b, c;
    Loop loop = nullptr;
    // Whether another one does it on its way.
    bool is_folded = false;
};

Chain::Chain(size_t rows, size_t columns, const std::vector<Placed>& inputs, std::vector<float> constants,
             const std::vector<Instructed>& instructions, const std::vector<Placed>& results, const std::vector<Summed>& sums,
             const std::vector<int64_t>& truths)
    : rows_(rows), columns_(columns), across_((columns + BLOCK - 1) / BLOCK), constants_(std::move(constants)),
      first_result_(inputs.size() + constants_.size()) {
    if (results.size() != instructions.size()) throw std::invalid_argument("a result for each instruction");
    const auto place = [&](const Placed& placed) {
        const auto& [tensor, offset, stride, spread] = placed;
        places_.push_back({tensor, offset, stride, spread, std::find(truths.begin(), truths.end(), tensor) != truths.end()});
    };
    for (const auto& placed : inputs) place(placed);
    places_.resize(first_result_, {-1, 0, 0, false, false});
    stage_of_.resize(first_result_, 0);
    std::vector<Draft> drafts;
    for (const auto& [name, a, b, c] : instructions) {
        if (std::max({a, b, c}) >= places_.size()) throw std::invalid_argument("an instruction before its operands");
        const Placed& placed = results[drafts.size()];
        if (reduces(name) && !std::get<3>(placed)) throw std::invalid_argument("a sum of rows has a number for each row");
        drafts.push_back({name, a, b, c, reduces(name) ? nullptr : find(name)});
        stage_of_.push_back(reduces(name) ? stage_of_[a] + 1 : std::max({stage_of_[a], stage_of_[b], stage_of_[c]}));
        place(placed);
    }
    for (const auto& place : places_) tensors_ = std::max<size_t>(tensors_, static_cast<size_t>(place.tensor + 1));
    std::vector<Sum> found;
    for (const auto& [operand, over, tensor, divisor] : sums) {
        if (operand >= places_.size() || tensor < 0) throw std::invalid_argument("a sum of no operand, or in no tensor");
        const bool of_columns = over == "columns";
        if (!of_columns && over != "all") throw std::invalid_argument("sums are of columns or of all");
        found.push_back({operand, NONE, of_columns, tensor, divisor, subtotals_});
        subtotals_ += of_columns ? columns_ : 1;
        tensors_ = std::max<size_t>(tensors_, static_cast<size_t>(tensor + 1));
    }
    if (tensors_ > MOST_TENSORS) throw std::invalid_argument("too many tensors");
    has_sums_ = !found.empty();
    // Short rows pass through the instructions together. Where they are added up, they have to follow each other in memory.
    const bool adds_up = has_sums_ || std::any_of(drafts.begin(), drafts.end(), [](const Draft& draft) { return reduces(draft.name); });
    bool follow = true;
    for (size_t k = 0; k < places_.size(); ++k) follow = follow && !is_apart(k);
    // Truths are read and written as they follow each other.
    const bool truths_follow = std::all_of(places_.begin(), places_.end(), [&](const Place& place) {
        return !place.is_truth || place.spread || place.stride == 0 || place.stride == static_cast<int64_t>(columns_);
    });
    if ((follow || !adds_up) && truths_follow && columns_) together_ = std::max<size_t>(1, BLOCK / columns_);
    block_ = together_ > 1 ? together_ * columns_ : std::min(BLOCK, columns_);
    fold(drafts, found);
    arrange(drafts, found);
    lay_out();
}

// Products that are used once, to be added to something or summed up, are computed on the way there.
void Chain::fold(std::vector<Draft>& drafts, std::vector<Sum>& sums) const {
    std::vector<size_t> uses(places_.size(), 0);
    for (const auto& draft : drafts) {
        ++uses[draft.a];
        if (draft.b != draft.a) ++uses[draft.b];
        if (draft.c != draft.a && draft.c != draft.b) ++uses[draft.c];
    }
    for (const auto& sum : sums) ++uses[sum.a];
    const Loop multiplies = find("Mul"), squares = find("Square"), adding = find("AddV2"), subtracting = find("Sub");
    const auto product = [&](size_t k, size_t stage) -> Draft* {
        if (k < first_result_ || !is_temporary(k) || uses[k] != 1 || stage_of_[k] != stage) return nullptr;
        Draft& draft = drafts[k - first_result_];
        const bool is_product = draft.loop == multiplies || draft.loop == squares;
        return is_product && !draft.is_folded ? &draft : nullptr;
    };
    const auto factor = [&](const Draft& draft) { return draft.loop == squares ? draft.a : draft.b; };
    const RowKernels& kernels = CHOSEN(ROW_KERNELS);
    for (size_t i = 0; i < drafts.size(); ++i) {
        Draft& draft = drafts[i];
        const size_t result = first_result_ + i;
        Draft* folded = nullptr;
        if (reduces(draft.name) && draft.name != "Max") {
            folded = product(draft.a, stage_of_[draft.a]);
            draft.b = NONE;
            if (folded != nullptr) draft.a = folded->a, draft.b = factor(*folded);
        } else if (draft.name == "Max") {
            draft.b = NONE;
        } else if (!places_[result].spread && draft.a != draft.b) {
            const bool adds = draft.loop == adding, subtracts = draft.loop == subtracting;
            if (!adds && !subtracts) continue;
            const size_t left = draft.a, right = draft.b;
            if ((folded = product(right, stage_of_[result])) != nullptr) {
                draft.c = left;
                draft.loop = adds ? kernels.add_to_product : kernels.subtract_product;
            } else if ((folded = product(left, stage_of_[result])) != nullptr) {
                draft.c = right;
                draft.loop = adds ? kernels.add_to_product : kernels.subtract_from_product;
            }
            if (folded != nullptr) draft.a = folded->a, draft.b = factor(*folded);
        }
        if (folded != nullptr) folded->is_folded = true;
    }
    for (auto& sum : sums) {
        if (Draft* folded = product(sum.a, stage_of_[sum.a])) {
            folded->is_folded = true;
            sum.a = folded->a;
            sum.b = factor(*folded);
        }
    }
}

void Chain::arrange(const std::vector<Draft>& drafts, const std::vector<Sum>& sums) {
    for (const size_t stage : stage_of_) stages_.resize(std::max(stages_.size(), stage + 1));
    for (size_t i = 0; i < drafts.size(); ++i) {
        const Draft& draft = drafts[i];
        const size_t result = first_result_ + i;
        if (draft.is_folded) continue;
        if (draft.loop == nullptr) {
            const double divisor = draft.name == "Mean" ? static_cast<double>(columns_) : 1.0;
            stages_[stage_of_[result] - 1].reductions.push_back({draft.a, draft.b, result, reductions_++, draft.name == "Max", divisor});
        } else {
            Stage& stage = stages_[stage_of_[result]];
            (places_[result].spread ? stage.of_rows : stage.of_elements)
                .push_back({draft.loop, draft.a, draft.b, draft.c == NONE ? draft.b : draft.c, result, false});
        }
    }
    for (const auto& sum : sums) {
        stages_[std::max(stage_of_[sum.a], sum.b == NONE ? 0 : stage_of_[sum.b])].sums.push_back(sum);
    }
    has_reductions_ = reductions_ != 0;
    for (auto& stage : stages_) {
        for (auto& one : stage.of_elements) one.apart = is_apart(one.a) || is_apart(one.b) || is_apart(one.c) || is_apart(one.result);
    }
}

// Gives operands their memory. Results that are used no more leave theirs to others: what is in use stays in the nearest cache.
void Chain::lay_out() {
    const size_t count = places_.size();
    elements_at_.assign(count, NONE);
    numbers_at_.assign(count, NONE);
    is_whole_.assign(count, 0);
    std::vector<size_t> last_stage(count, 0), last_use(count, 0);
    std::vector<char> is_spread(count, 0);
    size_t now = 0;
    for (size_t s = 0; s < stages_.size(); ++s) {
        const auto use = [&](size_t k) {
            if (k == NONE) return;
            last_stage[k] = s;
            last_use[k] = now;
            if (places_[k].spread) is_spread[k] = 1;
        };
        for (const auto& one : stages_[s].of_elements) {
            ++now;
            for (const size_t k : {one.a, one.b, one.c, one.result}) use(k);
        }
        ++now;
        for (const auto& one : stages_[s].reductions) use(one.a), use(one.b);
        for (const auto& one : stages_[s].sums) use(one.a), use(one.b);
    }
    const auto reserve = [&](size_t size) {
        const size_t at = memory_;
        memory_ += (size + LINE - 1) / LINE * LINE + APART;
        return at;
    };
    for (size_t k = 0; k < count; ++k) {
        if (is_constant(k) || is_single(k) || repeats(k) || is_spread[k]) elements_at_[k] = reserve(std::max(block_, together_));
        const bool is_truth = places_[k].is_truth;
        if (is_constant(k) || is_single(k)) numbers_at_[k] = elements_at_[k];
        else if (places_[k].spread && (is_truth || (k >= first_result_ && places_[k].tensor < 0))) numbers_at_[k] = reserve(together_);
        if (places_[k].spread || places_[k].tensor < 0 || repeats(k)) continue;
        is_whole_[k] = !is_truth || (has_reductions_ && across_ > 1);
        if (is_truth) elements_at_[k] = reserve(is_whole_[k] ? columns_ : block_);
    }
    std::vector<size_t> free_blocks, free_rows;
    now = 0;
    std::vector<size_t> live;
    for (size_t s = 0; s < stages_.size(); ++s) {
        for (const auto& one : stages_[s].of_elements) {
            ++now;
            const size_t k = one.result;
            for (size_t i = live.size(); i-- > 0;) {
                if (last_use[live[i]] < now) {
                    (is_whole_[live[i]] ? free_rows : free_blocks).push_back(elements_at_[live[i]]);
                    live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
                }
            }
            if (!is_temporary(k)) continue;
            is_whole_[k] = across_ > 1 && last_stage[k] > s;
            auto& free = is_whole_[k] ? free_rows : free_blocks;
            if (free.empty()) {
                elements_at_[k] = reserve(is_whole_[k] ? columns_ : block_);
            } else {
                elements_at_[k] = free.back();
                free.pop_back();
            }
            live.push_back(k);
        }
        ++now;
    }
}

void Chain::run(size_t threads, nb::args pointers) const {
    if (pointers.size() != tensors_) throw std::invalid_argument("a pointer for each tensor");
    float* bases[MOST_TENSORS];
    for (size_t i = 0; i < tensors_; ++i) bases[i] = reinterpret_cast<float*>(nb::cast<uintptr_t>(pointers[i]));
    const Released released(rows_ * columns_ * (places_.size() - first_result_) / 4);
    const size_t down = (rows_ + together_ - 1) / together_;
    const size_t grain = std::min(GRAIN, WORK / std::max<size_t>(1, places_.size() - first_result_));
    const size_t grain_of_rows = (grain + across_ - 1) / std::max<size_t>(1, across_);
    if (!has_sums_) {
        const size_t across = has_reductions_ ? 1 : across_;
        in_parallel(down * across, has_reductions_ ? grain_of_rows : grain, threads,
                    [&](size_t begin, size_t end) { run_units(bases, 0, rows_, begin, end, nullptr); });
        return;
    }
    // Rows stay whole, and pieces are added in their order, whichever thread was first: to the last digit the same each time.
    const size_t pieces = pieces_of(down, grain_of_rows, threads);
    std::vector<Subtotals> subtotals(pieces);
    in_pieces(down, pieces, [&](size_t k, size_t begin, size_t end) {
        subtotals[k].far.resize(subtotals_);
        subtotals[k].near.resize(subtotals_);
        const size_t across = has_reductions_ ? 1 : across_;
        run_units(bases, 0, rows_, begin * across, end * across, &subtotals[k]);
        carry(subtotals[k]);
    });
    for (const auto& stage : stages_) {
        for (const auto& sum : stage.sums) {
            for (size_t i = 0; i < (sum.of_columns ? columns_ : 1); ++i) {
                double total = 0.0;
                for (const auto& one : subtotals) total += one.far[sum.place + i];
                bases[sum.tensor][i] = static_cast<float>(total / sum.divisor);
            }
        }
    }
}

void Chain::run_rows(float* const* bases, size_t first, size_t last) const {
    run_units(bases, first, last, 0, (last - first + together_ - 1) / together_ * (has_reductions_ ? 1 : across_), nullptr);
}

void Chain::carry(Subtotals& subtotals) const {
    subtotals.rows = 0;
    for (size_t i = 0; i < subtotals_; ++i) {
        subtotals.far[i] += subtotals.near[i];
        subtotals.near[i] = 0.0f;
    }
}

uint8_t* Chain::truths(float* const* bases, size_t k, size_t row, size_t column) const {
    const Place& place = places_[k];
    const auto left = static_cast<int64_t>(place.spread ? 0 : column);
    return reinterpret_cast<uint8_t*>(bases[place.tensor]) + place.offset + static_cast<int64_t>(row) * place.stride + left;
}

// A unit is a block; in a chain that has sums of rows, a row, or the few that pass together.
void Chain::run_units(float* const* bases, size_t first, size_t last, size_t begin, size_t end, Subtotals* subtotals) const {
    const RowKernels& kernels = CHOSEN(ROW_KERNELS);
    thread_local std::vector<float> kept_memory;
    thread_local std::vector<float*> kept_elements, kept_numbers;
    thread_local std::vector<double> kept_partial;
    const auto room = [](auto& kept, size_t size) {
        kept.resize(std::max(kept.size(), size));
        return kept.data();
    };
    float* const memory = room(kept_memory, memory_ + LINE);
    float **const elements = room(kept_elements, places_.size()), **const numbers = room(kept_numbers, places_.size());
    double* const partial = room(kept_partial, reductions_ * together_);
    const size_t misplaced = reinterpret_cast<uintptr_t>(memory) / sizeof(float) % LINE;
    float* own = memory + (LINE - misplaced) % LINE;
    for (size_t k = 0; k < places_.size(); ++k) {
        const Place& place = places_[k];
        if (elements_at_[k] != NONE) elements[k] = own + elements_at_[k];
        if (numbers_at_[k] != NONE) numbers[k] = own + numbers_at_[k];
        if (is_constant(k)) {
            kernels.fill(constants_[k - (first_result_ - constants_.size())], elements[k], std::max(block_, together_));
        } else if (is_single(k)) {
            const float x = place.is_truth ? static_cast<float>(*truths(bases, k, 0, 0) != 0) : bases[place.tensor][place.offset];
            kernels.fill(x, elements[k], std::max(block_, together_));
        } else if (repeats(k)) {
            for (size_t r = 0; r < together_; ++r) {
                if (place.is_truth) kernels.read_truths(truths(bases, k, 0, 0), elements[k] + r * columns_, columns_);
                else std::copy_n(bases[place.tensor] + place.offset, columns_, elements[k] + r * columns_);
            }
        }
    }
    const size_t across = has_reductions_ ? 1 : across_;
    for (size_t i = begin; i < end; ++i) {
        const size_t row = first + i / across * together_, rows = std::min(together_, last - row);
        const size_t left = i % across * BLOCK, right = has_reductions_ ? columns_ : std::min(left + BLOCK, columns_);
        const auto spread = [&](size_t k) {
            const size_t width = together_ > 1 ? columns_ : std::min(block_, right - left);
            if (elements_at_[k] == NONE) return;
            for (size_t r = 0; r < rows; ++r) kernels.fill(numbers[k][r], elements[k] + r * width, width);
        };
        for (size_t k = 0; k < places_.size(); ++k) {
            const Place& place = places_[k];
            if (place.tensor < 0 || repeats(k) || is_single(k)) continue;
            float*& own = place.spread ? numbers[k] : elements[k];
            if (!place.is_truth) {
                own = bases[place.tensor] + place.offset + static_cast<int64_t>(row) * place.stride;
            } else if (k < first_result_) {
                kernels.read_truths(truths(bases, k, row, left), own, place.spread ? rows : rows * (right - left));
            }
            if (place.spread && k < first_result_) spread(k);
        }
        for (const auto& stage : stages_) {
            for (const auto& one : stage.of_rows) {
                one.loop(numbers[one.a], numbers[one.b], numbers[one.c], numbers[one.result], rows);
                spread(one.result);
            }
            for (const auto& one : stage.reductions) {
                std::fill_n(partial + one.place * together_, rows, one.is_largest ? -HUGE_VAL : 0.0);
            }
            for (size_t column = left; column < right; column += BLOCK) {
                const size_t width = std::min(BLOCK, right - column);
                const size_t n = rows * width;
                const auto at = [&](size_t k) { return elements[k] + (is_whole_[k] ? column : 0); };
                for (const auto& one : stage.of_elements) {
                    if (!one.apart || rows == 1) {
                        one.loop(at(one.a), at(one.b), at(one.c), at(one.result), n);
                        continue;
                    }
                    const auto in_row = [&](size_t k, size_t r) { return elements[k] + r * (is_apart(k) ? static_cast<size_t>(places_[k].stride) : width); };
                    for (size_t r = 0; r < rows; ++r) one.loop(in_row(one.a, r), in_row(one.b, r), in_row(one.c, r), in_row(one.result, r), width);
                }
                for (const auto& one : stage.reductions) {
                    double* found = partial + one.place * together_;
                    const float *x = at(one.a), *y = one.b == NONE ? nullptr : at(one.b);
                    for (size_t r = 0; r < rows; ++r) {
                        if (one.is_largest) {
                            const double most = kernels.largest(x + r * width, width);
                            found[r] = most > found[r] || most != most ? most : found[r];
                        } else {
                            found[r] += y == nullptr ? kernels.sum(x + r * width, width)
                                                     : kernels.sum_of_products(x + r * width, y + r * width, width);
                        }
                    }
                }
                for (const auto& one : stage.sums) {
                    const float *x = at(one.a), *y = one.b == NONE ? nullptr : at(one.b);
                    if (!one.of_columns) {
                        subtotals->far[one.place] += y == nullptr ? kernels.sum(x, n) : kernels.sum_of_products(x, y, n);
                        continue;
                    }
                    float* totals = subtotals->near.data() + one.place + column;
                    for (size_t r = 0; r < rows; ++r) {
                        if (y == nullptr) kernels.add(x + r * width, totals, width);
                        else kernels.add_products(x + r * width, y + r * width, totals, width);
                    }
                }
            }
            for (const auto& one : stage.reductions) {
                const double* found = partial + one.place * together_;
                for (size_t r = 0; r < rows; ++r) numbers[one.result][r] = static_cast<float>(found[r] / one.divisor);
                spread(one.result);
            }
        }
        for (size_t k = first_result_; k < places_.size(); ++k) {
            const Place& place = places_[k];
            if (!place.is_truth) continue;
            kernels.write_truths(place.spread ? numbers[k] : elements[k], truths(bases, k, row, left),
                                 place.spread ? rows : rows * (right - left));
        }
        if (subtotals != nullptr && right == columns_ && (subtotals->rows += rows) >= NEAR) carry(*subtotals);
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
            const size_t first = begin * BLOCK, last = std::min(end * BLOCK, count);
            if (x != y) {
                loop_(x + first, x + first, x + first, y + first, last - first);
                return;
            }
            // Loops do not write over what they read.
            float block[BLOCK];
            for (size_t i = first; i < last; i += BLOCK) {
                const size_t size = std::min(BLOCK, last - i);
                loop_(x + i, x + i, x + i, block, size);
                std::copy_n(block, size, y + i);
            }
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
        .def(nb::init<size_t, size_t, const std::vector<Chain::Placed>&, std::vector<float>, const std::vector<Chain::Instructed>&,
                      const std::vector<Chain::Placed>&, const std::vector<Chain::Summed>&, const std::vector<int64_t>&>(),
             nb::arg("rows"), nb::arg("columns"), nb::arg("inputs"), nb::arg("constants"), nb::arg("instructions"), nb::arg("results"),
             nb::arg("sums") = std::vector<Chain::Summed>(), nb::arg("truths") = std::vector<int64_t>())
        .def("run", &Chain::run, nb::arg("threads"), nb::arg("pointers"), "Runs on the tensors at these addresses, which the caller keeps alive.");
    nb::class_<Single>(module, "ElementwiseLoop", "An element-wise op of one float32 tensor.")
        .def(nb::init<const std::string&>(), nb::arg("name"))
        .def("run", &Single::run, nb::arg("threads"), nb::arg("count"), nb::arg("source"), nb::arg("result"),
             "Runs on the numbers at the first address and writes to the second, which may be the same; the caller keeps both alive.");
    module.def("power", &power, nb::arg("threads"), nb::arg("count"), nb::arg("bases"), nb::arg("base_step"), nb::arg("exponents"),
               nb::arg("exponent_step"), nb::arg("result"),
               "Raises numbers at an address to powers, each step numbers after the one before; the caller keeps all alive.");
    nb::list names;
    for (const auto& known : CHOSEN(LOOPS)) {
        if (known.name[0] != '_') names.append(known.name);
    }
    module.attr("ELEMENTWISE") = nb::frozenset(names);
}

}  // namespace everflow
