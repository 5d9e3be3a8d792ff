// Products of a tall matrix, whose rows are the pixels of pictures, with a small one: convolutions with windows of one pixel.
//
// General libraries first copy both matrices into an order of their own. Here the small matrix stays in the cache as it is, and the
// tall one is read where it stands, also where only every second pixel counts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "fused.h"
#include "parallel.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#endif
#if defined(__GNUC__) && defined(__x86_64__)
#define HAS_WIDEST 1
#define WIDEST __attribute__((target("avx512f")))
#else
#define HAS_WIDEST 0
#endif

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr size_t LANES = 16, TALL = 8;
// So many pixels are read again and again while they are in the cache.
constexpr size_t CHUNK = 128;
// A thread gets at least so many multiplications.
constexpr size_t GRAIN = 1 << 19;

// Pixels in rows: how far apart they are, and the rows, and the pictures.
struct Pixels {
    float* data;
    size_t pictures, height, width;
    size_t picture_pitch, row_pitch, pixel_pitch;

    Pixels(uintptr_t address, const std::vector<size_t>& sizes) : data(reinterpret_cast<float*>(address)) {
        if (sizes.size() != 6) throw std::invalid_argument("six sizes");
        pictures = sizes[0], height = sizes[1], width = sizes[2];
        picture_pitch = sizes[3], row_pitch = sizes[4], pixel_pitch = sizes[5];
        // What follows on without a gap is one long row.
        if (row_pitch == width * pixel_pitch) width *= height, height = 1;
        if (height == 1 && picture_pitch == width * pixel_pitch) width *= pictures, pictures = 1;
    }

    size_t count() const { return pictures * height * width; }

    float* at(size_t pixel) const {
        const size_t row = pixel / width;
        return data + row / height * picture_pitch + row % height * row_pitch + pixel % width * pixel_pitch;
    }

    // How many pixels there are from this one to the end of its row.
    size_t left(size_t pixel) const { return width - pixel % width; }
};

#if HAS_WIDEST

typedef float Vector __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

// What happens to a product besides: it is added to what is there, or to a bias for each column, and rectified.
struct Ending {
    bool add;
    const float* bias;
    bool rectify;

    Ending from(size_t column) const { return {add, bias == nullptr ? nullptr : bias + column, rectify}; }
};

// Some rows of the product, `vectors` times LANES columns of it.
template <size_t rows, size_t vectors>
WIDEST void multiply(const float* a, size_t a_pitch, const float* b, size_t b_pitch, size_t depth, float* c, size_t c_pitch, Ending ending) {
    const Vector zero = {};
    Vector sums[rows][vectors];
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) {
            sums[r][v] = ending.add ? *reinterpret_cast<const Vector*>(c + r * c_pitch + v * LANES)
                         : ending.bias != nullptr ? *reinterpret_cast<const Vector*>(ending.bias + v * LANES)
                                                  : zero;
        }
    }
    for (size_t k = 0; k < depth; ++k) {
        Vector column[vectors];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) column[v] = *reinterpret_cast<const Vector*>(b + k * b_pitch + v * LANES);
#pragma GCC unroll 8
        for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) sums[r][v] += column[v] * a[r * a_pitch + k];
        }
    }
    if (ending.rectify) {
#pragma GCC unroll 8
        for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) sums[r][v] = sums[r][v] < zero ? zero : sums[r][v];
        }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(c + r * c_pitch + v * LANES) = sums[r][v];
    }
}

// Adds to some rows of the result: the products of columns of a with columns of b, over some pixels.
template <size_t rows, size_t vectors>
WIDEST void add_products(const float* a, size_t a_pitch, const float* b, size_t b_pitch, size_t pixels, float* c, size_t c_pitch) {
    Vector sums[rows][vectors];
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) sums[r][v] = *reinterpret_cast<const Vector*>(c + r * c_pitch + v * LANES);
    }
    for (size_t p = 0; p < pixels; ++p, a += a_pitch, b += b_pitch) {
        Vector row[vectors];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) row[v] = *reinterpret_cast<const Vector*>(b + v * LANES);
#pragma GCC unroll 8
        for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) sums[r][v] += row[v] * a[r];
        }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(c + r * c_pitch + v * LANES) = sums[r][v];
    }
}

template <size_t rows>
void multiply_rows(const float* a, size_t a_pitch, const float* b, size_t columns, size_t depth, float* c, size_t c_pitch,
                   const Ending& ending) {
    size_t at = 0;
    for (; at + 4 * LANES <= columns; at += 4 * LANES) {
        constexpr size_t few = rows < 4 ? rows : 4;
        for (size_t r = 0; r < rows; r += few) {
            multiply<few, 4>(a + r * a_pitch, a_pitch, b + at, columns, depth, c + r * c_pitch + at, c_pitch, ending.from(at));
        }
    }
    for (; at + 2 * LANES <= columns; at += 2 * LANES) multiply<rows, 2>(a, a_pitch, b + at, columns, depth, c + at, c_pitch, ending.from(at));
    for (; at < columns; at += LANES) multiply<rows, 1>(a, a_pitch, b + at, columns, depth, c + at, c_pitch, ending.from(at));
}

void multiply_pixels(const Pixels& a, const float* b, const Pixels& c, size_t depth, size_t columns, size_t begin, size_t end,
                     const Ending& ending) {
    while (begin < end) {
        const float* from = a.at(begin);
        float* to = c.at(begin);
        size_t run = std::min(end - begin, std::min(a.left(begin), c.left(begin)));
        begin += run;
        for (; run >= TALL; run -= TALL, from += TALL * a.pixel_pitch, to += TALL * c.pixel_pitch) {
            multiply_rows<TALL>(from, a.pixel_pitch, b, columns, depth, to, c.pixel_pitch, ending);
        }
        for (; run; --run, from += a.pixel_pitch, to += c.pixel_pitch) multiply_rows<1>(from, 0, b, columns, depth, to, 0, ending);
    }
}

#endif

bool is_supported() {
#if HAS_WIDEST
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

void check(const Pixels& a, const Pixels& b, size_t depth, size_t columns) {
    if (!is_supported() || columns % LANES || depth % TALL) throw std::invalid_argument("not for this processor or number of channels");
    if (a.count() != b.count()) throw std::invalid_argument("as many pixels");
}

// c = a b, or c += a b, or c = a b + bias: `b` is dense, with a row for each channel of a and a column for each channel of c.
void multiply_by_pixel(uintptr_t a_address, const std::vector<size_t>& a_sizes, uintptr_t b_address, uintptr_t c_address,
                       const std::vector<size_t>& c_sizes, size_t depth, size_t columns, bool add, uintptr_t bias, bool rectify,
                       size_t threads) {
    const Pixels a(a_address, a_sizes), c(c_address, c_sizes);
    check(a, c, depth, columns);
#if HAS_WIDEST
    nb::gil_scoped_release released;
    const float* b = reinterpret_cast<const float*>(b_address);
    const Ending ending{add, reinterpret_cast<const float*>(bias), rectify};
    // Threads get whole groups of rows.
    const size_t groups = (a.count() + TALL - 1) / TALL;
    in_parallel(groups, std::max<size_t>(1, GRAIN / (depth * columns * TALL)), threads, [&](size_t begin, size_t end) {
        multiply_pixels(a, b, c, depth, columns, begin * TALL, std::min(a.count(), end * TALL), ending);
    });
#endif
}

// c = a' b, summed over all pixels; c is dense.
void sum_products(uintptr_t a_address, const std::vector<size_t>& a_sizes, uintptr_t b_address, const std::vector<size_t>& b_sizes,
                  uintptr_t c_address, size_t depth, size_t columns, size_t threads) {
    const Pixels a(a_address, a_sizes), b(b_address, b_sizes);
    check(a, b, depth, columns);
#if HAS_WIDEST
    nb::gil_scoped_release released;
    const size_t most = std::max<size_t>(1, threads), size = depth * columns;
    float* c = reinterpret_cast<float*>(c_address);
    std::fill_n(c, size, 0.0f);
    std::vector<std::vector<float>> others(most - 1);
    std::atomic<size_t> next{0};
    in_parallel(a.count(), std::max<size_t>(CHUNK, GRAIN / size), most, [&](size_t begin, size_t end) {
        const size_t own = next++;
        float* sums = c;
        if (own) {
            others[own - 1].resize(size);
            sums = others[own - 1].data();
        }
        while (begin < end) {
            const size_t run = std::min(std::min(CHUNK, end - begin), std::min(a.left(begin), b.left(begin)));
            const float *from_a = a.at(begin), *from_b = b.at(begin);
            begin += run;
            size_t at = 0;
            for (; at + 4 * LANES <= columns; at += 4 * LANES) {
                for (size_t k = 0; k < depth; k += 4) {
                    add_products<4, 4>(from_a + k, a.pixel_pitch, from_b + at, b.pixel_pitch, run, sums + k * columns + at, columns);
                }
            }
            for (; at + 2 * LANES <= columns; at += 2 * LANES) {
                for (size_t k = 0; k < depth; k += 8) {
                    add_products<8, 2>(from_a + k, a.pixel_pitch, from_b + at, b.pixel_pitch, run, sums + k * columns + at, columns);
                }
            }
            for (; at < columns; at += LANES) {
                for (size_t k = 0; k < depth; k += 8) {
                    add_products<8, 1>(from_a + k, a.pixel_pitch, from_b + at, b.pixel_pitch, run, sums + k * columns + at, columns);
                }
            }
        }
    });
    for (const auto& sums : others) {
        for (size_t i = 0; i < sums.size(); ++i) c[i] += sums[i];
    }
#endif
}

}  // namespace

void add_products(nb::module_& module) {
    module.def("multiply_by_pixel", &multiply_by_pixel, nb::arg("a"), nb::arg("a_sizes"), nb::arg("b"), nb::arg("c"), nb::arg("c_sizes"),
               nb::arg("depth"), nb::arg("columns"), nb::arg("add"), nb::arg("bias"), nb::arg("rectify"), nb::arg("threads"),
               "The product of the channels of each pixel with a matrix, put into the pixels of another picture, or added to them.");
    module.def("sum_products", &sum_products, nb::arg("a"), nb::arg("a_sizes"), nb::arg("b"), nb::arg("b_sizes"), nb::arg("c"),
               nb::arg("depth"), nb::arg("columns"), nb::arg("threads"), "The products of all channels of a with all of b, summed over pixels.");
    // How many channels a group has that these compute side by side, in the small matrix and in the result; 0 where they can't.
    module.attr("PRODUCT_GROUPS") = is_supported() ? nb::make_tuple(TALL, LANES) : nb::make_tuple(0, 0);
}

}  // namespace everflow
