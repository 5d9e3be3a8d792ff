// Part of the kernels that multiply matrices: included by them, within the namespace of each kind of processor.

// c += a b for some rows of c that stay in registers. A row of b is as wide as one of c; rows of it are b_pitch apart.
template <size_t rows, size_t vectors>
INLINE void add_product(const float* a, size_t a_row, size_t a_column, const float* b, size_t b_pitch, size_t depth,
                        Vector (&sums)[rows][vectors]) {
#pragma GCC unroll 4
    for (size_t k = 0; k < depth; ++k) {
        Vector row[vectors];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) row[v] = load(b + k * b_pitch + v * LANES);
#pragma GCC unroll 16
        for (size_t r = 0; r < rows; ++r) {
            const float factor = a[r * a_row + k * a_column];
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) sums[r][v] += row[v] * factor;
        }
    }
}
