// Convolutions with stride one and windows of 3 x 3 or 5 x 5, by Winograd's algorithm: three times fewer multiplications.
//
// A tile of 6 x 6 pixels gives 4 x 4 (or 2 x 2) results. Seen as polynomials, tile and filter are multiplied by way of their values at
// 36 points; there, the channels of all tiles and of the filter are matrices, so a convolution is 36 products of matrices. The gradient
// of the filter goes the same way backwards.
//
// Where the filter's matrices stay in a processor's cache, each thread takes a few tiles at a time through all of it. Larger ones are read
// as seldom as can be: threads share the tiles of many rows of pictures, then the products, then what becomes of these.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fused.h"
#include "matrix_products.h"
#include "parallel.h"
#include "sliding.h"

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr size_t SPAN = 6, POINTS = SPAN * SPAN;
// So many tiles at once stay in the processor's cache with all that becomes of them.
constexpr size_t MOST_TILES = 36;
// Larger filters are taken with so many tiles, which are as many as fit into so many numbers.
constexpr size_t SMALL_AREA = 128 * 128, FEWEST_SHARED = 64, MOST_SHARED = 512, SHARED_NUMBERS = 12 << 20;
// Matrices are a little longer than what they hold: at distances of powers of two, a cache has only a few places for them all.
constexpr size_t GAP = 16;

// c = a b, or c += a b: a's elements may lie either way, the rows of b and c are `columns` wide.
struct Factors {
    size_t rows, depth, columns, a_row, a_column;
    bool adds;
};

struct Winograd {
    void (*take_input)(const float* tile, size_t pitch, size_t depth, float* matrices, size_t between);
    void (*give_output)(const float* matrices, size_t between, size_t channels, const float* bias, float* out, size_t pitch, size_t high,
                        size_t broad);
    void (*take_output)(const float* gradient, size_t pitch, size_t channels, size_t high, size_t broad, float* matrices, size_t between);
    void (*take_filter)(const float* filter, size_t between_taps, size_t channels, float* matrices, size_t between);
    void (*give_filter)(const float* matrices, size_t between, size_t channels, float* filter, size_t between_taps);
    void (*multiply)(const Factors& f, const float* a, const float* b, float* c);
};

}  // namespace
}  // namespace everflow

#define KERNELS "winograd_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

std::unique_ptr<float[]> room(size_t numbers) { return std::unique_ptr<float[]>(new float[numbers]); }

struct Tiles : Sliding {
    size_t side, down, across, pitch;

    explicit Tiles(const std::vector<size_t>& sizes) : Sliding(sizes) {
        if (rows != columns || (rows != 3 && rows != 5)) throw std::invalid_argument("windows of 3 x 3 or 5 x 5");
        side = SPAN + 1 - rows;
        down = (out_height + side - 1) / side, across = (out_width + side - 1) / side;
        pitch = (across * side + columns - 1) * depth;
    }

    const Winograd& kernels() const { return CHOSEN(WINOGRAD)[rows == 5]; }

    // Calls work(tile, picture, y, x, k) for the k-th of some tiles, and done(count) after every MOST_TILES of them and at the end.
    template <typename Work, typename Done>
    void go(const float* pictures, size_t begin, size_t end, const Work& work, const Done& done) const {
        const size_t height = down * side + rows - 1;
        std::vector<float> padded(height * pitch);
        size_t held = 0;
        for (size_t n = begin; n < end; ++n) {
            pad(pictures, n, padded.data(), height, pitch);
            for (size_t y = 0; y < down; ++y) {
                for (size_t x = 0; x < across; ++x) {
                    work(padded.data() + y * side * pitch + x * side * depth, n, y * side, x * side, held++);
                    if (held == MOST_TILES) done(held), held = 0;
                }
            }
        }
        if (held) done(held);
    }

    // A row of tiles with the zeros around it: `padded` has SPAN rows of zeros at first.
    void cut(const float* pictures, size_t n, size_t y, float* padded) const {
        const size_t wide = std::min(width * depth, pitch - left * depth);
        for (size_t r = 0; r < SPAN; ++r) {
            float* to = padded + r * pitch + left * depth;
            if (y + r >= top && y + r - top < height) {
                std::memcpy(to, pictures + (n * height + y + r - top) * width * depth, wide * sizeof(float));
            } else {
                std::fill_n(to, wide, 0.0f);
            }
        }
    }

    bool is_large() const { return depth * channels > SMALL_AREA; }

    // How many rows of tiles are shared at a time.
    size_t shared_rows() const {
        const size_t fit = std::clamp(SHARED_NUMBERS / (POINTS * (depth + channels)), FEWEST_SHARED, MOST_SHARED);
        return std::min(batch * down, std::max<size_t>(1, fit / across));
    }

    size_t at(size_t picture, size_t y, size_t x) const { return ((picture * out_height + y) * out_width + x) * channels; }
};

// The filter of the gradient of a convolution's input: taps from the last to the first, channels in the place of depth.
void turn(const Tiles& t, const float* filter, float* turned, size_t threads) {
    in_parallel(t.taps() * t.depth / GROUP, 1 + 16384 / (GROUP * t.channels), threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            const size_t tap = i / (t.depth / GROUP), first = i % (t.depth / GROUP) * GROUP;
            const float* from = filter + (t.taps() - 1 - tap) * t.depth * t.channels + first;
            float* to = turned + (tap * t.depth + first) * t.channels;
            for (size_t c = 0; c < t.channels; ++c) {
                for (size_t d = 0; d < GROUP; ++d) to[d * t.channels + c] = from[c * t.depth + d];
            }
        }
    });
}

// Rows of tiles become rows of the matrices `taken`: work(n, y, x, k) for the k-th tile.
template <typename Work>
void take_rows(const Tiles& t, const float* pictures, size_t first, size_t count, float* taken, size_t between, size_t threads, const Work& work) {
    in_parallel(count, 1, threads, [&](size_t begin, size_t end) {
        std::vector<float> padded(SPAN * t.pitch);
        for (size_t row = begin; row < end; ++row) {
            const size_t n = (first + row) / t.down, y = (first + row) % t.down * t.side;
            t.cut(pictures, n, y, padded.data());
            for (size_t i = 0; i < t.across; ++i) {
                const size_t x = i * t.side, k = row * t.across + i;
                t.kernels().take_input(padded.data() + x * t.depth, t.pitch, t.depth, taken + k * t.depth, between);
                work(n, y, x, k);
            }
        }
    });
}

// As below, with a filter whose matrices are larger than a cache.
void convolve_shared(const Tiles& t, const float* pictures, const float* filter, const float* bias, float* out, size_t threads) {
    const Winograd& kernels = t.kernels();
    const size_t area = t.depth * t.channels, rows = t.shared_rows(), most = rows * t.across;
    const size_t of_filter = area + GAP, of_taken = most * t.depth + GAP, of_made = most * t.channels + GAP;
    const auto factors = room(POINTS * of_filter), taken = room(POINTS * of_taken), made = room(POINTS * of_made);
    in_parallel(t.depth, 1 + 4096 / t.channels, threads, [&](size_t begin, size_t end) {
        for (size_t d = begin; d < end; ++d) {
            kernels.take_filter(filter + d * t.channels, area, t.channels, factors.get() + d * t.channels, of_filter);
        }
    });
    for (size_t first = 0; first < t.batch * t.down; first += rows) {
        const size_t some = std::min(rows, t.batch * t.down - first), count = some * t.across;
        take_rows(t, pictures, first, some, taken.get(), of_taken, threads, [](size_t, size_t, size_t, size_t) {});
        in_parallel(POINTS, 1, threads, [&](size_t begin, size_t end) {
            const Multiplier multiply;
            for (size_t p = begin; p < end; ++p) {
                multiply({{taken.get() + p * of_taken, t.depth, 1}, {factors.get() + p * of_filter, t.channels, 1}, nullptr,
                          made.get() + p * of_made, t.channels, count, t.depth, t.channels, false, false});
            }
        });
        in_parallel(count, 1, threads, [&](size_t begin, size_t end) {
            for (size_t k = begin; k < end; ++k) {
                const size_t row = first + k / t.across, y = row % t.down * t.side, x = k % t.across * t.side;
                kernels.give_output(made.get() + k * t.channels, of_made, t.channels, bias, out + t.at(row / t.down, y, x),
                                    t.out_width * t.channels, t.out_height - y, t.out_width - x);
            }
        });
    }
}

// The convolution of pictures with a filter (HWIO), or with the one that it becomes in the gradient of a convolution's input.
void convolve_tiles(uintptr_t pictures, uintptr_t filter, uintptr_t bias, uintptr_t out, const std::vector<size_t>& sizes, bool turned,
                    size_t threads) {
    const Tiles t(sizes);
    nb::gil_scoped_release released;
    const Winograd& kernels = t.kernels();
    const size_t area = t.depth * t.channels;
    const float* given = reinterpret_cast<const float*>(filter);
    const auto other = room(turned ? t.taps() * area : 0);
    if (turned) {
        turn(t, given, other.get(), threads);
        given = other.get();
    }
    if ((t.is_large() || t.batch < threads)) {
        convolve_shared(t, reinterpret_cast<const float*>(pictures), given, reinterpret_cast<const float*>(bias), reinterpret_cast<float*>(out), threads);
        return;
    }
    const auto factors = room(POINTS * area);
    in_parallel(t.depth, 1 + 4096 / t.channels, threads, [&](size_t begin, size_t end) {
        for (size_t d = begin; d < end; ++d) kernels.take_filter(given + d * t.channels, area, t.channels, factors.get() + d * t.channels, area);
    });
    in_parallel(t.batch, 1, threads, [&](size_t begin, size_t end) {
        const auto taken = room(POINTS * MOST_TILES * t.depth), made = room(POINTS * MOST_TILES * t.channels);
        std::vector<float*> places(MOST_TILES);
        std::vector<std::pair<size_t, size_t>> wanted(MOST_TILES);
        t.go(
            reinterpret_cast<const float*>(pictures), begin, end,
            [&](const float* tile, size_t n, size_t y, size_t x, size_t k) {
                kernels.take_input(tile, t.pitch, t.depth, taken.get() + k * t.depth, MOST_TILES * t.depth);
                places[k] = reinterpret_cast<float*>(out) + t.at(n, y, x);
                wanted[k] = {t.out_height - y, t.out_width - x};
            },
            [&](size_t count) {
                const Factors f{count, t.depth, t.channels, t.depth, 1, false};
                for (size_t p = 0; p < POINTS; ++p) {
                    kernels.multiply(f, taken.get() + p * MOST_TILES * t.depth, factors.get() + p * area, made.get() + p * MOST_TILES * t.channels);
                }
                for (size_t k = 0; k < count; ++k) {
                    kernels.give_output(made.get() + k * t.channels, MOST_TILES * t.channels, t.channels, reinterpret_cast<const float*>(bias),
                                        places[k], t.out_width * t.channels, wanted[k].first, wanted[k].second);
                }
            });
    });
}

// As below, where the filter's matrices are larger than a cache.
void shared_gradient(const Tiles& t, const float* pictures, const float* gradient, float* out, size_t threads) {
    const Winograd& kernels = t.kernels();
    const size_t area = t.depth * t.channels, rows = t.shared_rows(), most = rows * t.across;
    const size_t of_filter = area + GAP, of_taken = most * t.depth + GAP, of_given = most * t.channels + GAP;
    const auto found = room(POINTS * of_filter), taken = room(POINTS * of_taken), given = room(POINTS * of_given);
    for (size_t first = 0; first < t.batch * t.down; first += rows) {
        const size_t some = std::min(rows, t.batch * t.down - first), count = some * t.across;
        take_rows(t, pictures, first, some, taken.get(), of_taken, threads, [&](size_t n, size_t y, size_t x, size_t k) {
            kernels.take_output(gradient + t.at(n, y, x), t.out_width * t.channels, t.channels, t.out_height - y, t.out_width - x,
                                given.get() + k * t.channels, of_given);
        });
        in_parallel(POINTS, 1, threads, [&](size_t begin, size_t end) {
            const Multiplier multiply;
            for (size_t p = begin; p < end; ++p) {
                multiply({{taken.get() + p * of_taken, 1, t.depth}, {given.get() + p * of_given, t.channels, 1}, nullptr,
                          found.get() + p * of_filter, t.channels, t.depth, count, t.channels, first != 0, false});
            }
        });
    }
    in_parallel(t.depth, 1 + 4096 / t.channels, threads, [&](size_t begin, size_t end) {
        for (size_t d = begin; d < end; ++d) kernels.give_filter(found.get() + d * t.channels, of_filter, t.channels, out + d * t.channels, area);
    });
}

// The gradient of a convolution's filter.
void filter_gradient_of_tiles(uintptr_t pictures, uintptr_t gradient, uintptr_t out, const std::vector<size_t>& sizes, size_t threads) {
    const Tiles t(sizes);
    nb::gil_scoped_release released;
    const Winograd& kernels = t.kernels();
    if ((t.is_large() || t.batch < threads)) {
        shared_gradient(t, reinterpret_cast<const float*>(pictures), reinterpret_cast<const float*>(gradient), reinterpret_cast<float*>(out), threads);
        return;
    }
    const size_t area = t.depth * t.channels;
    const auto found = room(POINTS * area);
    sum_in_parallel(t.batch, 1, threads, found.get(), POINTS * area, [&](size_t begin, size_t end, float* sums) {
        const auto taken = room(POINTS * MOST_TILES * t.depth), given = room(POINTS * MOST_TILES * t.channels);
        t.go(
            reinterpret_cast<const float*>(pictures), begin, end,
            [&](const float* tile, size_t n, size_t y, size_t x, size_t k) {
                kernels.take_input(tile, t.pitch, t.depth, taken.get() + k * t.depth, MOST_TILES * t.depth);
                kernels.take_output(reinterpret_cast<const float*>(gradient) + t.at(n, y, x), t.out_width * t.channels, t.channels,
                                    t.out_height - y, t.out_width - x, given.get() + k * t.channels, MOST_TILES * t.channels);
            },
            [&](size_t count) {
                const Factors f{t.depth, count, t.channels, 1, t.depth, true};
                for (size_t p = 0; p < POINTS; ++p) {
                    kernels.multiply(f, taken.get() + p * MOST_TILES * t.depth, given.get() + p * MOST_TILES * t.channels, sums + p * area);
                }
            });
    });
    in_parallel(t.depth, 1 + 4096 / t.channels, threads, [&](size_t begin, size_t end) {
        for (size_t d = begin; d < end; ++d) {
            kernels.give_filter(found.get() + d * t.channels, area, t.channels, reinterpret_cast<float*>(out) + d * t.channels, area);
        }
    });
}

}  // namespace

void add_winograd(nb::module_& module) {
    module.def("convolve_tiles", &convolve_tiles, nb::arg("pictures"), nb::arg("filter"), nb::arg("bias"), nb::arg("out"), nb::arg("sizes"),
               nb::arg("turned"), nb::arg("threads"), "As convolve, by Winograd's algorithm.");
    module.def("filter_gradient_of_tiles", &filter_gradient_of_tiles, nb::arg("pictures"), nb::arg("gradient"), nb::arg("out"),
               nb::arg("sizes"), nb::arg("threads"), "As filter_gradient, by Winograd's algorithm.");
}

}  // namespace everflow
