// Products of matrices, as each kind of processor does them: included by matrix_products.cpp through each_processor.h.

// Two registers of results side by side, for as many rows as there are registers for: one is kept for a factor, two for a row of b.
constexpr size_t SIDE = 2, WIDTH = SIDE * LANES, MOST = (REGISTERS - 1 - SIDE) / SIDE > 12 ? 12 : (REGISTERS - 1 - SIDE) / SIDE;
// So many rows of b's columns stay in the first cache, so many rows of a in the second.
constexpr size_t DEEP = 256, HIGH = 32 * MOST;

INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Some rows of c: sums stay in registers while the rows of b pass by.
template <size_t rows>
void multiply_block(const float* a, const float* b, size_t depth, const float* from, size_t from_pitch, float* c, size_t pitch) {
    Vector sums[rows][SIDE];
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < SIDE; ++v) sums[r][v] = load(from + r * from_pitch + v * LANES);
    }
#pragma GCC unroll 4
    for (size_t k = 0; k < depth; ++k) {
        Vector row[SIDE];
#pragma GCC unroll 4
        for (size_t v = 0; v < SIDE; ++v) row[v] = load(b + k * WIDTH + v * LANES);
#pragma GCC unroll 16
        for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
            for (size_t v = 0; v < SIDE; ++v) sums[r][v] += row[v] * a[k * rows + r];
        }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < SIDE; ++v) store(c + r * pitch + v * LANES, sums[r][v]);
    }
}

template <size_t rows>
void multiply_some(size_t count, const float* a, const float* b, size_t depth, const float* from, size_t from_pitch, float* c,
                   size_t pitch) {
    if (count == rows) {
        multiply_block<rows>(a, b, depth, from, from_pitch, c, pitch);
    } else if constexpr (rows > 1) {
        multiply_some<rows - 1>(count, a, b, depth, from, from_pitch, c, pitch);
    }
}

// `count` rows of a, the numbers of one column beside each other.
INLINE void lay_rows(const Strided& a, size_t row, size_t column, size_t count, size_t depth, float* to) {
    if (a.right == 1) {
        for (size_t r = 0; r < count; ++r) {
            const float* from = a.at(row + r, column);
            for (size_t k = 0; k < depth; ++k) to[k * count + r] = from[k];
        }
    } else {
        for (size_t k = 0; k < depth; ++k) {
            const float* from = a.at(row, column + k);
            for (size_t r = 0; r < count; ++r) to[k * count + r] = from[r];
        }
    }
}

// WIDTH columns of b, and zeros where there are fewer.
INLINE void lay_columns(const Strided& b, size_t row, size_t column, size_t depth, size_t wide, float* to) {
    if (wide < WIDTH) {
        for (size_t i = 0; i < depth * WIDTH; ++i) to[i] = 0.0f;
    }
    if (b.right == 1) {
        for (size_t k = 0; k < depth; ++k) {
            const float* from = b.at(row + k, column);
            if (wide == WIDTH) {
#pragma GCC unroll 4
                for (size_t v = 0; v < SIDE; ++v) store(to + k * WIDTH + v * LANES, load(from + v * LANES));
            } else {
                for (size_t c = 0; c < wide; ++c) to[k * WIDTH + c] = from[c];
            }
        }
    } else {
        for (size_t k = 0; k < depth; k += 16) {
            const size_t few = least(16, depth - k);
            for (size_t c = 0; c < wide; ++c) {
                const float* from = b.at(row + k, column + c);
                for (size_t j = 0; j < few; ++j) to[(k + j) * WIDTH + c] = from[j];
            }
        }
    }
}

// Calls for a share of the next columns of b.
INLINE void call_for(const Strided& b, size_t row, size_t column, size_t depth, size_t share, size_t shares) {
#if defined(__GNUC__)
    if (b.right == 1) {
        for (size_t k = depth * share / shares; k < depth * (share + 1) / shares; ++k) {
            const float* from = b.at(row + k, column);
            for (size_t i = 0; i < WIDTH; i += 16) __builtin_prefetch(from + i);
        }
    } else {
        const size_t lines = (depth + 15) / 16, all = lines * WIDTH;
        for (size_t i = all * share / shares; i < all * (share + 1) / shares; ++i) __builtin_prefetch(b.at(row + i % lines * 16, column + i / lines));
    }
#endif
}

void multiply_part(const Part& p, float* memory) {
    float *columns = memory, *rows = columns + DEEP * WIDTH, *corner = rows + DEEP * HIGH, *first = corner + MOST * WIDTH;
    for (size_t i = 0; i < p.height; i += HIGH) {
        const size_t high = least(HIGH, p.height - i), blocks = (high + MOST - 1) / MOST;
        for (size_t k = 0; k < p.depth; k += DEEP) {
            const size_t deep = least(DEEP, p.depth - k);
            for (size_t block = 0, row = 0; block < blocks; ++block) {
                const size_t count = high / blocks + (block < high % blocks);
                lay_rows(p.a, i + row, k, count, deep, rows + row * deep);
                row += count;
            }
            for (size_t j = 0; j < p.columns; j += WIDTH) {
                const size_t wide = least(WIDTH, p.columns - j), next = j + WIDTH;
                lay_columns(p.b, k, j, deep, wide, columns);
                if (k == 0) {
                    for (size_t c = 0; c < WIDTH; ++c) first[c] = p.bias != nullptr && c < wide ? p.bias[j + c] : 0.0f;
                }
                for (size_t block = 0, row = 0; block < blocks; ++block) {
                    const size_t count = high / blocks + (block < high % blocks);
                    if (next + WIDTH <= p.columns) call_for(p.b, k, next, deep, block, blocks);
                    float* c = p.c + (i + row) * p.pitch + j;
                    if (wide == WIDTH) {
                        multiply_some<MOST>(count, rows + row * deep, columns, deep, k == 0 ? first : c, k == 0 ? 0 : p.pitch, c, p.pitch);
                    } else {
                        for (size_t r = 0; k && r < count; ++r) {
                            for (size_t x = 0; x < wide; ++x) corner[r * WIDTH + x] = c[r * p.pitch + x];
                        }
                        multiply_some<MOST>(count, rows + row * deep, columns, deep, k == 0 ? first : corner, k == 0 ? 0 : WIDTH, corner, WIDTH);
                        for (size_t r = 0; r < count; ++r) {
                            for (size_t x = 0; x < wide; ++x) c[r * p.pitch + x] = corner[r * WIDTH + x];
                        }
                    }
                    row += count;
                }
            }
        }
    }
}

constexpr Multiplying MULTIPLYING = {DEEP * WIDTH + DEEP * HIGH + MOST * WIDTH + WIDTH, multiply_part};
