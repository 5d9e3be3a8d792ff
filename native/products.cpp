// Products of a tall matrix, whose rows are the pixels of pictures, with a small one: convolutions with windows of one pixel.
//
// General libraries first copy both matrices into an order of their own. Here the small matrix stays in the cache as it is, and the
// tall one is read where it stands, also where only every second pixel counts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "fused.h"
#include "parallel.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// Columns come in groups of so many: the widest registers have this number of lanes.
constexpr size_t GROUP = 16;
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

// What happens to a product besides: it is added to what is there, or to a bias for each column, and rectified.
struct Ending {
    bool add;
    const float* bias;
    bool rectify;
};

// c = a b, and c = a' b: matrices whose rows are some pitch apart.
using Multiply = void (*)(const float* a, size_t a_pitch, const float* b, size_t b_pitch, size_t height, size_t columns, size_t depth,
                          float* c, size_t c_pitch, Ending ending);

struct Products {
    Multiply multiply, multiply_turned;
};

}  // namespace
}  // namespace everflow

#define KERNELS "products_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

void check(const Pixels& a, const Pixels& b, size_t columns) {
    if (columns % GROUP) throw std::invalid_argument("channels in groups of 16");
    if (a.count() != b.count()) throw std::invalid_argument("as many pixels");
}

// Some pixels as the rows of a matrix. Those of several rows of a picture are copied where there are gaps: the more rows a product has, the
// longer its sums stay in registers.
struct Matrix {
    const float* data;
    size_t pitch;

    Matrix(const Pixels& x, size_t begin, size_t count, size_t channels, std::vector<float>& memory) : data(x.at(begin)), pitch(x.pixel_pitch) {
        if (count <= x.left(begin)) return;
        memory.resize(std::max(memory.size(), count * channels));
        for (size_t i = 0; i < count; ++i) std::copy_n(x.at(begin + i), channels, memory.data() + i * channels);
        data = memory.data(), pitch = channels;
    }
};

// c = a b, or c += a b, or c = a b + bias: `b` is dense, with a row for each channel of a and a column for each channel of c.
void multiply_by_pixel(uintptr_t a_address, const std::vector<size_t>& a_sizes, uintptr_t b_address, uintptr_t c_address,
                       const std::vector<size_t>& c_sizes, size_t depth, size_t columns, bool add, uintptr_t bias, bool rectify,
                       size_t threads) {
    const Pixels a(a_address, a_sizes), c(c_address, c_sizes);
    check(a, c, columns);
    nb::gil_scoped_release released;
    const float* b = reinterpret_cast<const float*>(b_address);
    const Ending ending{add, reinterpret_cast<const float*>(bias), rectify};
    const auto multiply = CHOSEN(PRODUCTS).multiply;
    in_parallel(a.count(), std::max(CHUNK, GRAIN / (depth * columns)), threads, [&](size_t begin, size_t end) {
        std::vector<float> memory;
        while (begin < end) {
            const size_t run = std::min({CHUNK, end - begin, c.left(begin)});
            const Matrix from(a, begin, run, depth, memory);
            multiply(from.data, from.pitch, b, columns, run, columns, depth, c.at(begin), c.pixel_pitch, ending);
            begin += run;
        }
    });
}

// c = a' b, summed over all pixels; c is dense.
void sum_products(uintptr_t a_address, const std::vector<size_t>& a_sizes, uintptr_t b_address, const std::vector<size_t>& b_sizes,
                  uintptr_t c_address, size_t depth, size_t columns, size_t threads) {
    const Pixels a(a_address, a_sizes), b(b_address, b_sizes);
    check(a, b, columns);
    nb::gil_scoped_release released;
    const size_t size = depth * columns;
    const auto multiply = CHOSEN(PRODUCTS).multiply_turned;
    sum_in_parallel(a.count(), std::max(CHUNK, GRAIN / size), threads, reinterpret_cast<float*>(c_address), size,
                    [&](size_t begin, size_t end, float* sums) {
        std::vector<float> memory, more;
        while (begin < end) {
            const size_t run = std::min(CHUNK, end - begin);
            const Matrix left(a, begin, run, depth, memory), right(b, begin, run, columns, more);
            multiply(left.data, left.pitch, right.data, right.pitch, depth, columns, run, sums, columns, {true, nullptr, false});
            begin += run;
        }
    });
}

}  // namespace

void add_products(nb::module_& module) {
    module.def("multiply_by_pixel", &multiply_by_pixel, nb::arg("a"), nb::arg("a_sizes"), nb::arg("b"), nb::arg("c"), nb::arg("c_sizes"),
               nb::arg("depth"), nb::arg("columns"), nb::arg("add"), nb::arg("bias"), nb::arg("rectify"), nb::arg("threads"),
               "The product of the channels of each pixel with a matrix, put into the pixels of another picture, or added to them.");
    module.def("sum_products", &sum_products, nb::arg("a"), nb::arg("a_sizes"), nb::arg("b"), nb::arg("b_sizes"), nb::arg("c"),
               nb::arg("depth"), nb::arg("columns"), nb::arg("threads"), "The products of all channels of a with all of b, summed over pixels.");
}

}  // namespace everflow
