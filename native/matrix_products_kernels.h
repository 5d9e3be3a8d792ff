// Products of matrices, as each kind of processor does them: included by matrix_products.cpp through each_processor.h.

#include "squares.h"

// Two registers of results side by side, for as many rows as there are registers for: one is kept for a factor, two for a row of b.
constexpr size_t SIDE = 2, WIDTH = SIDE * LANES, MOST = (REGISTERS - 1 - SIDE) / SIDE > 12 ? 12 : (REGISTERS - 1 - SIDE) / SIDE;
// So many rows of b's columns stay in the first cache, so many rows of a in the second. Rows that are laid out lie PITCH apart, which is no
// power of two: else they would compete for the same places of the cache.
constexpr size_t DEEP = 256, HIGH = 32 * MOST, PITCH = DEEP + 16;

INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

#if defined(__GNUC__)
INLINE void call(const float* p) { __builtin_prefetch(p); }
INLINE void call_to_write(const float* p) { __builtin_prefetch(p, 1); }
#else
INLINE void call(const float*) {}
INLINE void call_to_write(const float*) {}
#endif

// Some rows of c: sums stay in registers while the rows of b pass by. The rows of a lie PITCH apart, or where it is turned, its columns
// follow each other.
template <size_t rows, size_t sides, bool turned>
void multiply_block(const float* a, const float* b, size_t b_pitch, size_t depth, const float* from, size_t from_pitch, float* c, size_t pitch,
                    float least_number) {
    constexpr size_t down = turned ? 1 : PITCH, right = turned ? rows : 1;
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < sides; v += 16 / LANES) call_to_write(c + r * pitch + v * LANES);
    }
    const Vector zero = {}, floor = zero + least_number;
    Vector sums[rows][sides];
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < sides; ++v) sums[r][v] = zero;
    }
#pragma GCC unroll 4
    for (size_t k = 0; k < depth; ++k) {
        Vector row[sides];
#pragma GCC unroll 4
        for (size_t v = 0; v < sides; ++v) row[v] = load(b + k * b_pitch + v * LANES);
#pragma GCC unroll 16
        for (size_t r = 0; r < rows; ++r) {
            const float factor = a[r * down + k * right];
#pragma GCC unroll 4
            for (size_t v = 0; v < sides; ++v) sums[r][v] += row[v] * factor;
        }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < sides; ++v) {
            const Vector found = sums[r][v] + load(from + r * from_pitch + v * LANES);
            store(c + r * pitch + v * LANES, found < floor ? floor : found);
        }
    }
}

template <size_t rows, size_t sides, bool turned>
void multiply_some(size_t count, const float* a, const float* b, size_t b_pitch, size_t depth, const float* from, size_t from_pitch, float* c,
                   size_t pitch, float least_number) {
    if (count == rows) {
        multiply_block<rows, sides, turned>(a, b, b_pitch, depth, from, from_pitch, c, pitch, least_number);
    } else if constexpr (rows > 1) {
        multiply_some<rows - 1, sides, turned>(count, a, b, b_pitch, depth, from, from_pitch, c, pitch, least_number);
    }
}

template <size_t rows>
void lay_turned(const Strided& a, size_t row, size_t column, size_t count, size_t depth, float* to) {
    if (count == rows) {
        for (size_t k = 0; k < depth; ++k) memcpy(to + k * rows, a.at(row, column + k), rows * sizeof(float));
    } else if constexpr (rows > 1) {
        lay_turned<rows - 1>(a, row, column, count, depth, to);
    }
}

// `count` rows of a: PITCH apart, or the numbers of one column beside each other.
template <bool turned>
INLINE void lay_rows(const Strided& a, size_t row, size_t column, size_t count, size_t depth, float* to) {
    if constexpr (turned) {
        lay_turned<MOST>(a, row, column, count, depth, to);
    } else {
        for (size_t r = 0; r < count; ++r) memcpy(to + r * PITCH, a.at(row + r, column), depth * sizeof(float));
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
        return;
    }
    size_t begin = 0;
#if defined(TURNS)
    for (; begin + LANES <= depth; begin += LANES) {
        size_t c = 0;
        for (; c + LANES <= wide; c += LANES) {
            Vector square[LANES];
#pragma GCC unroll 16
            for (size_t i = 0; i < LANES; ++i) square[i] = load(b.at(row + begin, column + c + i));
            turn_square<LANES / 2>(square);
#pragma GCC unroll 16
            for (size_t i = 0; i < LANES; ++i) store(to + (begin + i) * WIDTH + c, square[i]);
        }
        for (; c < wide; ++c) {
            const float* from = b.at(row + begin, column + c);
            for (size_t i = 0; i < LANES; ++i) to[(begin + i) * WIDTH + c] = from[i];
        }
    }
#endif
    for (size_t k = begin; k < depth; k += 16) {
        const size_t few = least(16, depth - k);
        for (size_t c = 0; c < wide; ++c) {
            const float* from = b.at(row + k, column + c);
            for (size_t j = 0; j < few; ++j) to[(k + j) * WIDTH + c] = from[j];
        }
    }
}

// Calls for a share of the next columns of b.
INLINE void call_for(const Strided& b, size_t row, size_t column, size_t depth, size_t share, size_t shares) {
    if (b.right == 1) {
        for (size_t k = depth * share / shares; k < depth * (share + 1) / shares; ++k) {
            const float* from = b.at(row + k, column);
            for (size_t i = 0; i < WIDTH; i += 16) call(from + i);
        }
    } else {
        const size_t lines = (depth + 15) / 16, all = lines * WIDTH;
        for (size_t i = all * share / shares; i < all * (share + 1) / shares; ++i) call(b.at(row + i % lines * 16, column + i / lines));
    }
}

template <bool turned>
void multiply_part_of(const MatrixProduct& p, float* memory) {
    float *columns = memory, *rows = columns + DEEP * WIDTH, *corner = rows + PITCH * HIGH, *first = corner + MOST * WIDTH;
    const size_t turns = (p.depth + DEEP - 1) / DEEP;
    for (size_t i = 0; i < p.height; i += HIGH) {
        const size_t high = least(HIGH, p.height - i), blocks = (high + MOST - 1) / MOST;
        for (size_t turn = 0; turn < turns; ++turn) {
            const size_t k = p.depth * turn / turns, deep = p.depth * (turn + 1) / turns - k;
            const bool adds = turn > 0 || p.adds;
            const float least_number = p.rectifies && turn + 1 == turns ? 0.0f : NOTHING_LESS;
            for (size_t block = 0, row = 0; block < blocks; ++block) {
                const size_t count = high / blocks + (block < high % blocks);
                lay_rows<turned>(p.a, i + row, k, count, deep, rows + row * PITCH);
                row += count;
            }
            for (size_t j = 0; j < p.columns; j += WIDTH) {
                const size_t wide = least(WIDTH, p.columns - j), next = j + WIDTH;
                // Columns that are read once stay where they are.
                const bool laid = blocks > 1 || p.b.right != 1 || wide < WIDTH;
                if (laid) lay_columns(p.b, k, j, deep, wide, columns);
                const float* b = laid ? columns : p.b.at(k, j);
                const size_t b_pitch = laid ? WIDTH : p.b.down;
                if (!adds) {
                    for (size_t c = 0; c < WIDTH; ++c) first[c] = p.bias != nullptr && c < wide ? p.bias[j + c] : 0.0f;
                }
                for (size_t block = 0, row = 0; block < blocks; ++block) {
                    const size_t count = high / blocks + (block < high % blocks);
                    if (next + WIDTH <= p.columns) call_for(p.b, k, next, deep, block, blocks);
                    float* c = p.c + (i + row) * p.pitch + j;
                    const float* a = rows + row * PITCH;
                    if (wide == WIDTH) {
                        multiply_some<MOST, SIDE, turned>(count, a, b, b_pitch, deep, adds ? c : first, adds ? p.pitch : 0, c, p.pitch,
                                                          least_number);
                    } else {
                        for (size_t r = 0; adds && r < count; ++r) {
                            for (size_t x = 0; x < wide; ++x) corner[r * WIDTH + x] = c[r * p.pitch + x];
                        }
                        const auto multiply = wide <= LANES ? multiply_some<MOST, 1, turned> : multiply_some<MOST, SIDE, turned>;
                        multiply(count, a, b, b_pitch, deep, adds ? corner : first, adds ? WIDTH : 0, corner, WIDTH, least_number);
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

void multiply_part(const MatrixProduct& p, float* memory) {
    if (p.a.right == 1) {
        multiply_part_of<false>(p, memory);
    } else {
        multiply_part_of<true>(p, memory);
    }
}

constexpr Multiplying MULTIPLYING = {MOST, WIDTH, DEEP * WIDTH + PITCH * HIGH + MOST * WIDTH + WIDTH, multiply_part};
