// Products of matrices, as each kind of processor does them: included by products.cpp through each_processor.h.

// Some rows of c, `vectors` times LANES columns of it, stay in registers while the rows of b pass by; a is `turned` where its columns
// make the rows of c.
template <size_t rows, size_t vectors, bool turned>
void multiply_block(const float* a, size_t a_pitch, const float* b, size_t b_pitch, size_t depth, float* c, size_t c_pitch,
                    const Ending& ending) {
    const Vector zero = {};
    Vector sums[rows][vectors];
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) {
            sums[r][v] = ending.add ? load(c + r * c_pitch + v * LANES) : ending.bias != nullptr ? load(ending.bias + v * LANES) : zero;
        }
    }
    for (size_t k = 0; k < depth; ++k) {
        Vector row[vectors];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) row[v] = load(b + k * b_pitch + v * LANES);
#pragma GCC unroll 8
        for (size_t r = 0; r < rows; ++r) {
            const float factor = a[turned ? k * a_pitch + r : r * a_pitch + k];
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) sums[r][v] += row[v] * factor;
        }
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) {
            store(c + r * c_pitch + v * LANES, ending.rectify ? (sums[r][v] < zero ? zero : sums[r][v]) : sums[r][v]);
        }
    }
}

// All rows of some columns: as many at a time as there are registers for, then the rest.
template <size_t rows, size_t vectors, bool turned>
void multiply_rows(const float* a, size_t a_pitch, const float* b, size_t b_pitch, size_t height, size_t depth, float* c, size_t c_pitch,
                   const Ending& ending) {
    for (; height >= rows; height -= rows, a += turned ? rows : rows * a_pitch, c += rows * c_pitch) {
        multiply_block<rows, vectors, turned>(a, a_pitch, b, b_pitch, depth, c, c_pitch, ending);
    }
    if constexpr (rows > 1) multiply_rows<rows / 2, vectors, turned>(a, a_pitch, b, b_pitch, height, depth, c, c_pitch, ending);
}

template <size_t vectors, bool turned>
void multiply_columns(const float* a, size_t a_pitch, const float* b, size_t b_pitch, size_t height, size_t columns, size_t depth, float* c,
                      size_t c_pitch, Ending ending) {
    // One register holds a factor, and `vectors` the row that it is multiplied with. Channels, the rows of what is turned, come in
    // groups: four at a time leave no rest.
    constexpr size_t fit = (REGISTERS - 1 - vectors) / vectors, rows = fit >= 8 ? 8 : turned ? 4 : fit, width = vectors * LANES;
    for (; columns >= width; columns -= width, b += width, c += width) {
        multiply_rows<rows, vectors, turned>(a, a_pitch, b, b_pitch, height, depth, c, c_pitch, ending);
        if (ending.bias != nullptr) ending.bias += width;
    }
    if constexpr (vectors > 1) multiply_columns<vectors / 2, turned>(a, a_pitch, b, b_pitch, height, columns, depth, c, c_pitch, ending);
}

constexpr Products PRODUCTS = {multiply_columns<REGISTERS / 8, false>, multiply_columns<REGISTERS / 8, true>};
