// Convolutions as products of matrices, as each kind of processor does them: included by window_products.cpp through each_processor.h.

// Two registers of results side by side for as many pixels as there are registers for: one is kept for a factor, two for a filter's row.
constexpr size_t SIDE = 2, MOST = (REGISTERS - 1 - SIDE) / SIDE > 12 ? 12 : (REGISTERS - 1 - SIDE) / SIDE;

#include "products_in_registers.h"

// What one row of the filter gives for some neighbouring pixels; the first row starts from the bias.
template <size_t rows, size_t vectors>
void slide_block(const float* picture, size_t depth, const float* filter, size_t span, const float* bias, bool first, float* out, size_t pitch) {
    const Vector zero = {};
    Vector sums[rows][vectors];
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) {
            sums[r][v] = !first ? load(out + r * pitch + v * LANES) : bias != nullptr ? load(bias + v * LANES) : zero;
        }
    }
    add_product<rows, vectors>(picture, depth, 1, filter, vectors * LANES, span, sums);
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) {
            store(out + r * pitch + v * LANES, sums[r][v]);
        }
    }
}

template <size_t rows, size_t vectors>
void slide_some(size_t count, const float* picture, size_t depth, const float* filter, size_t span, const float* bias, bool first,
                float* out, size_t pitch) {
    if (count == rows) {
        slide_block<rows, vectors>(picture, depth, filter, span, bias, first, out, pitch);
    } else if constexpr (rows > 1) {
        slide_some<rows - 1, vectors>(count, picture, depth, filter, span, bias, first, out, pitch);
    }
}

// A row of the filter stays near the processor while a whole picture passes by.
template <size_t vectors>
void slide_columns(const Windows& s, const float* picture, const float* filter, const float* bias, float* out, size_t channels) {
    constexpr size_t width = vectors * LANES;
    const size_t span = s.span(), pitch = s.pitch(), blocks = (s.out_width + MOST - 1) / MOST;
    for (; channels >= width; channels -= width, out += width) {
        for (size_t row = 0; row < s.rows; ++row, filter += span * width) {
            for (size_t y = 0; y < s.out_height; ++y) {
                // Blocks of nearly the same size: a narrow one at the end would leave the processor waiting for its own sums.
                for (size_t block = 0, x = 0; block < blocks; ++block) {
                    const size_t count = s.out_width / blocks + (block < s.out_width % blocks);
                    slide_some<MOST, vectors>(count, picture + (y + row) * pitch + x * s.depth, s.depth, filter, span, bias, row == 0,
                                              out + (y * s.out_width + x) * s.channels, s.channels);
                    x += count;
                }
            }
        }
        if (bias != nullptr) bias += width;
    }
    if constexpr (vectors > 1) slide_columns<vectors / 2>(s, picture, filter, bias, out, channels);
}

void slide(const Windows& s, const float* picture, const float* filter, const float* bias, float* out) {
    slide_columns<SIDE>(s, picture, filter, bias, out, s.channels);
}

// Some rows of a filter's gradient, in registers while all pixels of a picture pass by.
template <size_t rows, size_t vectors>
void collect_rows(const Windows& s, const float* picture, const float* gradient, float* filter) {
    constexpr size_t width = vectors * LANES;
    Vector sums[rows][vectors];
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) sums[r][v] = load(filter + r * width + v * LANES);
    }
    for (size_t y = 0; y < s.out_height; ++y, picture += s.pitch()) {
        const float* pixel = picture;
        for (size_t x = 0; x < s.out_width; ++x, pixel += s.depth, gradient += width) {
            Vector row[vectors];
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) row[v] = load(gradient + v * LANES);
#pragma GCC unroll 16
            for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; ++v) sums[r][v] += row[v] * pixel[r];
            }
        }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) store(filter + r * width + v * LANES, sums[r][v]);
    }
}

template <size_t rows, size_t vectors>
void collect_some(size_t count, const Windows& s, const float* picture, const float* gradient, float* filter) {
    for (; count >= rows; count -= rows, picture += rows, filter += rows * vectors * LANES) {
        collect_rows<rows, vectors>(s, picture, gradient, filter);
    }
    if constexpr (rows > 1) collect_some<rows / 2, vectors>(count, s, picture, gradient, filter);
}

template <size_t vectors>
void collect_columns(const Windows& s, const float* picture, const float* gradient, float* filter, size_t channels) {
    constexpr size_t width = vectors * LANES;
    const size_t span = s.span();
    for (; channels >= width; channels -= width, gradient += s.out_height * s.out_width * width) {
        for (size_t row = 0; row < s.rows; ++row, filter += span * width) {
            collect_some<MOST, vectors>(span, s, picture + row * s.pitch(), gradient, filter);
        }
    }
    if constexpr (vectors > 1) collect_columns<vectors / 2>(s, picture, gradient, filter, channels);
}

void collect(const Windows& s, const float* picture, const float* gradient, float* filter) {
    collect_columns<SIDE>(s, picture, gradient, filter, s.channels);
}

constexpr WindowProducts WINDOW_PRODUCTS = {SIDE * LANES, slide, collect};
