// Loops whose bodies compute each row of a batch from that row alone, as recurrent networks do: a thread takes its rows through all
// iterations, and waits for nobody.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "elementwise.h"
#include "fused.h"
#include "parallel.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// Rows are `down` numbers apart, columns `right`.
struct Matrix {
    const float* data;
    size_t down, right;
};

// Rows that are worked on next: they can be on their way to the cache meanwhile.
struct Needed {
    const float* data;
    size_t pitch, width, rows;
};

// Rows of a and c, and a matrix that was laid out; what is needed next, and how many lines of the cache that is.
struct Rows {
    const float *a, *b, *bias;
    float* c;
    size_t a_pitch, pitch, count, depth, columns;
    bool adds;
    const Needed* needed;
    size_t needs, lines;
};

struct Multiplying {
    size_t width;  // so many columns are laid out together
    void (*lay_out)(const Matrix& matrix, size_t depth, size_t columns, float* to);
    void (*multiply)(const Rows& rows);
};

}  // namespace
}  // namespace everflow

#define KERNELS "row_loops_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// A thread gets at least so many rows, and takes at most so many through all iterations at a time: what it works on stays in its cache.
constexpr size_t GRAIN = 4, MOST_ROWS = 96;
constexpr size_t NONE = static_cast<size_t>(-1);
// Floats of a line of the cache.
constexpr size_t LINE = 16;

struct Product {
    size_t a, matrix, bias, c, depth, columns;
    bool adds;
};

struct Copy {
    size_t from, from_column, to, to_column, width;
};

// Rows of one or of another: the condition is a byte for each row.
struct Choose {
    size_t condition, one, other, to;
};

struct Fill {
    size_t to;
    float number;
};

struct Apply {
    const Chain* chain;
    std::vector<size_t> slots;
};

using Instruction = std::variant<Product, Copy, Choose, Fill, Apply>;

// The body of a loop as instructions. What they work on has the places of a table: slots, and for each of them an address in each
// iteration, where its first row begins. Rows follow each other; those that come from elsewhere may lie apart.
class RowLoop {
public:
    RowLoop(size_t rows, std::vector<size_t> widths) : rows_(rows), widths_(std::move(widths)) {}

    // c = a matrix + bias, or c += a matrix. Without a bias, it is negative.
    void multiply(size_t a, size_t matrix, int64_t bias, size_t c, bool adds) {
        const size_t depth = width(a), columns = width(c);
        if (bias >= 0 && width(static_cast<size_t>(bias)) < columns) throw std::invalid_argument("a bias for each column");
        if (matrices_.size() <= matrix) matrices_.resize(matrix + 1, {0, 0});
        matrices_[matrix] = {depth, columns};
        body_.push_back(Product{a, matrix, bias < 0 ? NONE : static_cast<size_t>(bias), c, depth, columns, adds});
    }

    void copy(size_t from, size_t from_column, size_t to, size_t to_column, size_t wide) {
        if (from_column + wide > width(from) || to_column + wide > width(to)) throw std::invalid_argument("columns that are there");
        body_.push_back(Copy{from, from_column, to, to_column, wide});
    }

    void choose(size_t condition, size_t one, size_t other, size_t to) {
        if (width(one) != width(to) || width(other) != width(to)) throw std::invalid_argument("rows of one width");
        width(condition);
        body_.push_back(Choose{condition, one, other, to});
    }

    void fill(size_t to, float number) {
        width(to);
        body_.push_back(Fill{to, number});
    }

    void apply(const Chain& chain, std::vector<size_t> slots) {
        if (chain.tensors() != slots.size() || chain.rows() != rows_) throw std::invalid_argument("a slot for each tensor of the chain");
        for (const size_t slot : slots) width(slot);
        body_.push_back(Apply{&chain, std::move(slots)});
    }

    // The table holds `steps` addresses for each slot, `matrices` an address and the distances of rows and columns. Pitches say how far
    // apart the rows of some slots are.
    void run(size_t threads, size_t steps, uintptr_t table, const std::vector<std::tuple<uintptr_t, size_t, size_t>>& matrices,
             const std::vector<std::pair<size_t, size_t>>& pitches) const {
        if (matrices.size() != matrices_.size()) throw std::invalid_argument("an address for each matrix");
        std::vector<size_t> apart = widths_;
        for (const auto& [slot, pitch] : pitches) {
            width(slot);
            apart[slot] = pitch;
        }
        const auto* addresses = reinterpret_cast<const uint64_t*>(table);
        nb::gil_scoped_release released;
        const Multiplying kernels = CHOSEN(MULTIPLYING);
        std::vector<std::unique_ptr<float[]>> laid(matrices.size());
        for (size_t i = 0; i < matrices.size(); ++i) {
            const auto [depth, columns] = matrices_[i];
            laid[i].reset(new float[depth * (columns + kernels.width)]);
        }
        in_parallel(matrices.size(), 1, threads, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
                const auto& [data, down, right] = matrices[i];
                kernels.lay_out({reinterpret_cast<const float*>(data), down, right}, matrices_[i].first, matrices_[i].second, laid[i].get());
            }
        });
        const std::vector<std::vector<Next>> next = after_products(steps, addresses);
        // What is computed element by element has to follow each other: rows that lie apart are copied on the way.
        std::vector<size_t> places(widths_.size(), NONE);
        size_t room = 0;
        for (const auto& instruction : body_) {
            const auto* apply = std::get_if<Apply>(&instruction);
            for (size_t i = 0; apply != nullptr && i < apply->slots.size(); ++i) {
                const size_t slot = apply->slots[i];
                if (apart[slot] == widths_[slot] || places[slot] != NONE) continue;
                places[slot] = room;
                room += widths_[slot];
            }
        }
        const auto take = [&](size_t begin, size_t end) {
            std::vector<Needed> needed;
            std::vector<float> copies(room * (end - begin));
            for (size_t step = 0; step < steps; ++step) {
                const auto at = [&](size_t slot) { return reinterpret_cast<float*>(addresses[slot * steps + step]); };
                for (size_t k = 0; k < body_.size(); ++k) {
                    const auto& instruction = body_[k];
                    if (const auto* product = std::get_if<Product>(&instruction)) {
                        const size_t pitch = apart[product->a];
                        size_t lines = 0;
                        needed.clear();
                        for (const auto& [slot, later] : next[k]) {
                            if (step + later == steps) continue;
                            const auto* data = reinterpret_cast<const float*>(addresses[slot * steps + step + later]);
                            needed.push_back({data + begin * apart[slot], apart[slot], widths_[slot], end - begin});
                            lines += (end - begin) * ((widths_[slot] + LINE - 1) / LINE);
                        }
                        kernels.multiply({at(product->a) + begin * pitch, laid[product->matrix].get(),
                                          product->bias == NONE ? nullptr : at(product->bias), at(product->c) + begin * product->columns, pitch,
                                          product->columns, end - begin, product->depth, product->columns, product->adds,
                                          needed.data(), needed.size(), lines});
                    } else if (const auto* copy = std::get_if<Copy>(&instruction)) {
                        const float* from = at(copy->from) + copy->from_column;
                        float* to = at(copy->to) + copy->to_column;
                        for (size_t r = begin; r < end; ++r) {
                            std::memcpy(to + r * widths_[copy->to], from + r * apart[copy->from], copy->width * sizeof(float));
                        }
                    } else if (const auto* choose = std::get_if<Choose>(&instruction)) {
                        const size_t wide = widths_[choose->to];
                        const auto* condition = reinterpret_cast<const uint8_t*>(at(choose->condition));
                        for (size_t r = begin; r < end; ++r) {
                            const size_t chosen = condition[r] ? choose->one : choose->other;
                            std::memcpy(at(choose->to) + r * wide, at(chosen) + r * apart[chosen], wide * sizeof(float));
                        }
                    } else if (const auto* fill = std::get_if<Fill>(&instruction)) {
                        std::fill(at(fill->to) + begin * widths_[fill->to], at(fill->to) + end * widths_[fill->to], fill->number);
                    } else {
                        const auto& apply = std::get<Apply>(instruction);
                        float* bases[64];
                        for (size_t i = 0; i < apply.slots.size(); ++i) {
                            const size_t slot = apply.slots[i], wide = widths_[slot];
                            bases[i] = at(slot);
                            if (places[slot] == NONE) continue;
                            float* to = copies.data() + places[slot] * (end - begin);
                            for (size_t r = begin; r < end; ++r) {
                                std::memcpy(to + (r - begin) * wide, bases[i] + r * apart[slot], wide * sizeof(float));
                            }
                            bases[i] = to - begin * wide;
                        }
                        apply.chain->run_rows(bases, begin, end);
                    }
                }
            }
        };
        in_parallel(rows_, GRAIN, threads, [&](size_t begin, size_t end) {
            const size_t turns = (end - begin + MOST_ROWS - 1) / MOST_ROWS;
            for (size_t turn = 0; turn < turns; ++turn) {
                take(begin + (end - begin) * turn / turns, begin + (end - begin) * (turn + 1) / turns);
            }
        });
    }

private:
    // A slot, and by how many iterations later it is used.
    using Next = std::pair<size_t, size_t>;

    // For each product, what the instructions after it take and give up to the next one, where this is not the same memory each time.
    std::vector<std::vector<Next>> after_products(size_t steps, const uint64_t* addresses) const {
        const auto changes = [&](size_t slot) { return steps < 3 || addresses[slot * steps] != addresses[slot * steps + 2]; };
        std::vector<std::vector<Next>> found(body_.size());
        for (size_t k = 0; k < body_.size(); ++k) {
            if (!std::holds_alternative<Product>(body_[k])) continue;
            for (size_t i = k + 1; i < k + body_.size() && !std::holds_alternative<Product>(body_[i % body_.size()]); ++i) {
                for (const size_t slot : rows_of(body_[i % body_.size()])) {
                    const Next next{slot, i / body_.size()};
                    if (changes(slot) && std::find(found[k].begin(), found[k].end(), next) == found[k].end()) found[k].push_back(next);
                }
            }
        }
        return found;
    }

    // What an instruction other than a product takes and gives by rows.
    static std::vector<size_t> rows_of(const Instruction& instruction) {
        if (const auto* copy = std::get_if<Copy>(&instruction)) return {copy->from, copy->to};
        if (const auto* choose = std::get_if<Choose>(&instruction)) return {choose->one, choose->other, choose->to};
        if (const auto* fill = std::get_if<Fill>(&instruction)) return {fill->to};
        return std::get<Apply>(instruction).slots;
    }

    size_t width(size_t slot) const {
        if (slot >= widths_.size()) throw std::invalid_argument("a slot that is there");
        return widths_[slot];
    }

    size_t rows_;
    std::vector<size_t> widths_;
    std::vector<std::pair<size_t, size_t>> matrices_;
    std::vector<Instruction> body_;
};

}  // namespace

void add_row_loops(nb::module_& module) {
    nb::class_<RowLoop>(module, "RowLoop", "A loop whose body computes each row of a batch from that row alone.")
        .def(nb::init<size_t, std::vector<size_t>>(), nb::arg("rows"), nb::arg("widths"))
        .def("multiply", &RowLoop::multiply, nb::arg("a"), nb::arg("matrix"), nb::arg("bias"), nb::arg("c"), nb::arg("adds"),
             "Multiplies rows by a matrix, whose number is given.")
        .def("copy", &RowLoop::copy, nb::arg("source"), nb::arg("source_column"), nb::arg("to"), nb::arg("to_column"), nb::arg("width"),
             "Copies columns.")
        .def("choose", &RowLoop::choose, nb::arg("condition"), nb::arg("one"), nb::arg("other"), nb::arg("to"),
             "Takes each row from one or from the other.")
        .def("fill", &RowLoop::fill, nb::arg("to"), nb::arg("number"), "Fills rows with a number.")
        .def("apply", &RowLoop::apply, nb::arg("chain"), nb::arg("slots"), nb::keep_alive<1, 2>(), "Runs element-wise instructions.")
        .def("run", &RowLoop::run, nb::arg("threads"), nb::arg("steps"), nb::arg("table"), nb::arg("matrices"), nb::arg("pitches"),
             "Runs all iterations on what the table's addresses name, which the caller keeps alive.");
}

}  // namespace everflow
