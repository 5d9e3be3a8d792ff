// Convolutions with windows of 4 x 4 and stride two, with which networks halve pictures (and, the other way round, double them), by
// Winograd's algorithm: 2.56 times fewer multiplications.
//
// Of each two rows and columns of a picture, the first and the second are pictures of their own: four, over which 2 x 2 of the filter's taps
// slide with stride one. A tile of 5 x 5 pixels of each gives 4 x 4 results. Seen as polynomials, tile and taps are multiplied by way of their
// values at 25 points; there, the channels of all tiles and of the filter are matrices, so a convolution is 25 products of matrices.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "fused.h"
#include "parallel.h"
#include "sliding.h"

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr size_t SPAN = 5, WIDE = 4, TAPS = 2, POINTS = SPAN * SPAN, PHASES = 4;
// So many tiles go through all products at once; more where they are summed up, so that sums are read and written less often.
constexpr size_t MOST_TILES = 64, MOST_SUMMED = 256;
// So many rows of sums are one thread's turn.
constexpr size_t SUMMED_ROWS = 64;
// Rows and matrices are a little longer than what they hold: at distances of powers of two, a cache has only a few places for them all.
constexpr size_t GAP = 16;

// A row of a matrix on the right of a product, whose columns lie in strips.
struct Strips {
    size_t rows, columns, row;
};

// c = a b, or c += a b: a's elements may lie either way, b is in strips.
struct Product {
    size_t rows, depth, columns, a_row, a_column, c_row;
    bool adds;
};

struct Halvings {
    void (*take_input)(const float* const* pixels, size_t channels, float* matrices, size_t between);
    void (*take_gradient)(const float* const* pixels, size_t channels, float* matrices, size_t between);
    void (*take_output)(const float* const* pixels, size_t channels, const Strips& s, size_t first, float* matrices, size_t between);
    void (*take_filter)(const float* const* taps, size_t channels, const Strips& s, size_t first, float* matrices, size_t between);
    void (*give_input)(const float* matrices, size_t between, size_t channels, float* const* pixels);
    void (*give_output)(const float* matrices, size_t between, size_t channels, const float* bias, float* const* pixels);
    void (*give_filter)(const float* matrices, size_t between, size_t channels, float* const* taps);
    void (*multiply)(const Product& p, const float* a, const float* b, float* c);
};

}  // namespace
}  // namespace everflow

#define KERNELS "halving_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// A matrix for each point.
struct Matrices {
    size_t rows, columns, pitch, between;
    std::unique_ptr<float[]> numbers;

    // With a gap after each row, or in strips.
    Matrices(size_t rows, size_t columns, bool strips = false)
        : rows(rows), columns(columns), pitch(columns + (strips ? 0 : GAP)), between(rows * pitch + GAP), numbers(new float[POINTS * between]) {}

    float* row(size_t i) const { return numbers.get() + i * pitch; }
    float* at(size_t point) const { return numbers.get() + point * between; }
};

// Pictures (NHWC), and where the pixels of a tile are in memory: those `step` apart from a first one, or `outside`.
template <typename Number>
struct Pictures {
    Number* numbers;
    size_t height, width, channels;
    Number* outside;

    template <size_t side>
    void find(size_t picture, ptrdiff_t top, ptrdiff_t left, ptrdiff_t step, Number* (&pixels)[side * side]) const {
        for (size_t i = 0; i < side * side; ++i) {
            const ptrdiff_t y = top + step * static_cast<ptrdiff_t>(i / side), x = left + step * static_cast<ptrdiff_t>(i % side);
            const bool inside = y >= 0 && x >= 0 && y < static_cast<ptrdiff_t>(height) && x < static_cast<ptrdiff_t>(width);
            pixels[i] = inside ? numbers + ((picture * height + y) * width + x) * channels : outside;
        }
    }
};

struct Halving {
    size_t batch, height, width, depth;  // of the pictures
    size_t channels, top, left;          // of the filter, and zeros before the first row and column
    size_t out_height, out_width;
    std::vector<float> zeros;

    explicit Halving(const std::vector<size_t>& s) {
        if (s.size() != 9) throw std::invalid_argument("nine sizes");
        batch = s[0], height = s[1], width = s[2], depth = s[3], channels = s[4], top = s[5], left = s[6], out_height = s[7], out_width = s[8];
        if (depth % GROUP || channels % GROUP) throw std::invalid_argument("channels in groups of 16");
        zeros.resize(std::max(depth, channels));
    }

    Pictures<const float> of_input(uintptr_t at) const { return {reinterpret_cast<const float*>(at), height, width, depth, zeros.data()}; }
    Pictures<const float> of_output(uintptr_t at) const {
        return {reinterpret_cast<const float*>(at), out_height, out_width, channels, zeros.data()};
    }

    // A tile's first row or column in the pictures, for the rows or columns of one phase.
    ptrdiff_t row(size_t y, size_t phase) const { return static_cast<ptrdiff_t>(2 * y + phase / 2) - static_cast<ptrdiff_t>(top); }
    ptrdiff_t column(size_t x, size_t phase) const { return static_cast<ptrdiff_t>(2 * x + phase % 2) - static_cast<ptrdiff_t>(left); }

    void take_input(const Pictures<const float>& from, size_t n, size_t y, size_t x, const Matrices& taken, size_t k) const {
        const float* pixels[SPAN * SPAN];
        for (size_t phase = 0; phase < PHASES; ++phase) {
            from.find<SPAN>(n, row(y, phase), column(x, phase), 2, pixels);
            CHOSEN(HALVINGS).take_input(pixels, depth, taken.row(k) + phase * depth, taken.between);
        }
    }

    // The tap (i, j) of a phase; rows of it are depth x channels.
    size_t tap(size_t phase, size_t i, size_t j) const { return ((2 * i + phase / 2) * 2 * TAPS + 2 * j + phase % 2) * depth * channels; }
};

// The tiles that the results of all pictures lie in.
struct Tiling {
    size_t batch, down, across;

    explicit Tiling(const Halving& h) : batch(h.batch), down((h.out_height + WIDE - 1) / WIDE), across((h.out_width + WIDE - 1) / WIDE) {}

    size_t of_picture() const { return down * across; }
    size_t count() const { return batch * of_picture(); }

    // Calls work(picture, y, x, k) for the k-th of some tiles.
    template <typename Work>
    void each(size_t begin, size_t end, const Work& work) const {
        for (size_t i = begin; i < end; ++i) work(i / of_picture(), i / across % down * WIDE, i % across * WIDE, i - begin);
    }
};

// Takes tiles through the products with `filter`: take(picture, y, x, matrices, k), then give(picture, y, x, matrices, k).
template <typename Take, typename Give>
void pass_tiles(const Tiling& tiling, const Matrices& filter, size_t threads, const Take& take, const Give& give) {
    in_parallel(tiling.batch, 1, threads, [&](size_t first, size_t last) {
        size_t begin = first * tiling.of_picture();
        const size_t end = last * tiling.of_picture();
        const size_t most = std::min(MOST_TILES, end - begin);
        const Matrices taken(most, filter.rows), made(most, filter.columns);
        for (; begin < end; begin += most) {
            const size_t until = std::min(end, begin + most);
            const Product product{until - begin, filter.rows, filter.columns, taken.pitch, 1, made.pitch, false};
            tiling.each(begin, until, [&](size_t n, size_t y, size_t x, size_t k) { take(n, y, x, taken, k); });
            for (size_t p = 0; p < POINTS; ++p) CHOSEN(HALVINGS).multiply(product, taken.at(p), filter.at(p), made.at(p));
            tiling.each(begin, until, [&](size_t n, size_t y, size_t x, size_t k) { give(n, y, x, made, k); });
        }
    });
}

// The convolution of pictures with a filter (HWIO).
void halve(uintptr_t pictures, uintptr_t filter, uintptr_t bias, uintptr_t out, const std::vector<size_t>& sizes, size_t threads) {
    const Halving h(sizes);
    nb::gil_scoped_release released;
    const Halvings& kernels = CHOSEN(HALVINGS);
    const Matrices factors(PHASES * h.depth, h.channels, true);
    in_parallel(factors.rows, 1 + 4096 / h.channels, threads, [&](size_t begin, size_t end) {
        for (size_t row = begin; row < end; ++row) {
            const float* taps[TAPS * TAPS];
            for (size_t i = 0; i < TAPS * TAPS; ++i) {
                taps[i] = reinterpret_cast<const float*>(filter) + h.tap(row / h.depth, i / TAPS, i % TAPS) + row % h.depth * h.channels;
            }
            kernels.take_filter(taps, h.channels, {factors.rows, h.channels, row}, 0, factors.at(0), factors.between);
        }
    });
    const Pictures<float> results{reinterpret_cast<float*>(out), h.out_height, h.out_width, h.channels, nullptr};
    pass_tiles(
        Tiling(h), factors, threads,
        [&](size_t n, size_t y, size_t x, const Matrices& taken, size_t k) { h.take_input(h.of_input(pictures), n, y, x, taken, k); },
        [&](size_t n, size_t y, size_t x, const Matrices& made, size_t k) {
            float* pixels[WIDE * WIDE];
            results.find<WIDE>(n, y, x, 1, pixels);
            kernels.give_output(made.row(k), made.between, h.channels, reinterpret_cast<const float*>(bias), pixels);
        });
}

// The gradient of its input is added to what is there.
void input_gradient_of_halving(uintptr_t gradient, uintptr_t filter, uintptr_t out, const std::vector<size_t>& sizes, size_t threads) {
    const Halving h(sizes);
    nb::gil_scoped_release released;
    const Halvings& kernels = CHOSEN(HALVINGS);
    const Matrices factors(h.channels, PHASES * h.depth, true);
    in_parallel(h.channels / GROUP, 1 + 256 / h.depth, threads, [&](size_t begin, size_t end) {
        std::vector<float> turned(TAPS * TAPS * GROUP * h.depth);
        for (size_t first = begin * GROUP; first < end * GROUP; first += GROUP) {
            for (size_t phase = 0; phase < PHASES; ++phase) {
                for (size_t i = 0; i < TAPS * TAPS; ++i) {
                    const float* from = reinterpret_cast<const float*>(filter) + h.tap(phase, i / TAPS, i % TAPS) + first;
                    float* to = turned.data() + i * GROUP * h.depth;
                    for (size_t d = 0; d < h.depth; ++d) {
                        for (size_t c = 0; c < GROUP; ++c) to[c * h.depth + d] = from[d * h.channels + c];
                    }
                }
                for (size_t c = 0; c < GROUP; ++c) {
                    const float* taps[TAPS * TAPS];
                    for (size_t i = 0; i < TAPS * TAPS; ++i) taps[i] = turned.data() + (i * GROUP + c) * h.depth;
                    kernels.take_filter(taps, h.depth, {h.channels, factors.columns, first + c}, phase * h.depth, factors.at(0), factors.between);
                }
            }
        }
    });
    const Pictures<float> results{reinterpret_cast<float*>(out), h.height, h.width, h.depth, nullptr};
    pass_tiles(
        Tiling(h), factors, threads,
        [&](size_t n, size_t y, size_t x, const Matrices& taken, size_t k) {
            const float* pixels[WIDE * WIDE];
            h.of_output(gradient).find<WIDE>(n, y, x, 1, pixels);
            kernels.take_gradient(pixels, h.channels, taken.row(k), taken.between);
        },
        [&](size_t n, size_t y, size_t x, const Matrices& made, size_t k) {
            float* pixels[SPAN * SPAN];
            for (size_t phase = 0; phase < PHASES; ++phase) {
                results.find<SPAN>(n, h.row(y, phase), h.column(x, phase), 2, pixels);
                kernels.give_input(made.row(k) + phase * h.depth, made.between, h.depth, pixels);
            }
        });
}

// The gradient of its filter.
void filter_gradient_of_halving(uintptr_t pictures, uintptr_t gradient, uintptr_t out, const std::vector<size_t>& sizes, size_t threads) {
    const Halving h(sizes);
    nb::gil_scoped_release released;
    const Halvings& kernels = CHOSEN(HALVINGS);
    const Tiling tiling(h);
    const size_t tiles = tiling.count(), most = std::min(MOST_SUMMED, tiles), turns = (PHASES * h.depth + SUMMED_ROWS - 1) / SUMMED_ROWS;
    const Matrices taken(most, PHASES * h.depth), given(most, h.channels, true), sums(PHASES * h.depth, h.channels);
    for (size_t first = 0; first < tiles; first += most) {
        const size_t count = std::min(most, tiles - first);
        in_parallel(count, 8, threads, [&](size_t begin, size_t end) {
            tiling.each(first + begin, first + end, [&](size_t n, size_t y, size_t x, size_t k) {
                h.take_input(h.of_input(pictures), n, y, x, taken, begin + k);
                const float* pixels[WIDE * WIDE];
                h.of_output(gradient).find<WIDE>(n, y, x, 1, pixels);
                kernels.take_output(pixels, h.channels, {count, h.channels, begin + k}, 0, given.at(0), given.between);
            });
        });
        in_parallel(POINTS * turns, 1, threads, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
                const size_t point = i / turns, row = i % turns * SUMMED_ROWS, rows = std::min(SUMMED_ROWS, sums.rows - row);
                const Product product{rows, count, h.channels, 1, taken.pitch, sums.pitch, first != 0};
                kernels.multiply(product, taken.at(point) + row, given.at(point), sums.at(point) + row * sums.pitch);
            }
        });
    }
    in_parallel(sums.rows, 1 + 4096 / h.channels, threads, [&](size_t begin, size_t end) {
        for (size_t row = begin; row < end; ++row) {
            float* taps[TAPS * TAPS];
            for (size_t i = 0; i < TAPS * TAPS; ++i) {
                taps[i] = reinterpret_cast<float*>(out) + h.tap(row / h.depth, i / TAPS, i % TAPS) + row % h.depth * h.channels;
            }
            kernels.give_filter(sums.row(row), sums.between, h.channels, taps);
        }
    });
}

}  // namespace

void add_halving(nb::module_& module) {
    module.def("halve", &halve, nb::arg("pictures"), nb::arg("filter"), nb::arg("bias"), nb::arg("out"), nb::arg("sizes"), nb::arg("threads"),
               "The convolution of pictures (NHWC) with windows of 4 x 4 and stride two. Sizes: batch, height, width, depth; channels of the "
               "filter; zeros before rows and columns; height and width of the result.");
    module.def("input_gradient_of_halving", &input_gradient_of_halving, nb::arg("gradient"), nb::arg("filter"), nb::arg("out"), nb::arg("sizes"),
               nb::arg("threads"), "Adds the gradient of its input, made from that of its result.");
    module.def("filter_gradient_of_halving", &filter_gradient_of_halving, nb::arg("pictures"), nb::arg("gradient"), nb::arg("out"),
               nb::arg("sizes"), nb::arg("threads"), "The gradient of its filter.");
}

}  // namespace everflow
