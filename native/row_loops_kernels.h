// Products of rows with matrices that stay the same, as each kind of processor does them: included by row_loops.cpp through
// each_processor.h.

#include "products_in_registers.h"

// Two registers of results side by side, for as many rows as there are registers for: one is kept for a factor, two for a row of b.
constexpr size_t SIDE = 2, WIDTH = SIDE * LANES, MOST = (REGISTERS - 1 - SIDE) / SIDE > 12 ? 12 : (REGISTERS - 1 - SIDE) / SIDE;

// So many rows of b pass by between two calls for what is needed next.
constexpr size_t SOME = 32;

INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Calls for a few lines of the cache at a time; one that is not there does no harm.
struct Calls {
    const Needed* needed;
    const Needed* end;
    size_t share, row, column;

    INLINE void make() {
#if defined(__GNUC__)
        for (size_t i = 0; i < share && needed != end; ++i) {
            __builtin_prefetch(needed->data + row * needed->pitch + column, 0, 2);
            column += 16;
            if (column >= needed->width) {
                column = 0;
                if (++row == needed->rows) ++needed, row = 0;
            }
        }
#endif
    }
};

// WIDTH columns of the matrix, row by row, then the next; zeros where there are fewer.
void lay_out(const Matrix& matrix, size_t depth, size_t columns, float* to) {
    for (size_t j = 0; j < columns; j += WIDTH, to += depth * WIDTH) {
        const size_t wide = least(WIDTH, columns - j);
        for (size_t k = 0; k < depth; ++k) {
            for (size_t c = wide; c < WIDTH; ++c) to[k * WIDTH + c] = 0.0f;
        }
        if (matrix.right == 1) {
            for (size_t k = 0; k < depth; ++k) {
                const float* from = matrix.data + k * matrix.down + j;
                for (size_t c = 0; c < wide; ++c) to[k * WIDTH + c] = from[c];
            }
        } else {
            for (size_t k = 0; k < depth; k += 16) {
                const size_t few = least(16, depth - k);
                for (size_t c = 0; c < wide; ++c) {
                    const float* from = matrix.data + k * matrix.down + (j + c) * matrix.right;
                    for (size_t i = 0; i < few; ++i) to[(k + i) * WIDTH + c] = from[i * matrix.down];
                }
            }
        }
    }
}

template <size_t rows>
void multiply_block(const float* a, size_t a_pitch, const float* b, size_t depth, const float* from, size_t from_pitch, float* c,
                    size_t pitch, Calls& calls) {
    Vector sums[rows][SIDE];
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < SIDE; ++v) sums[r][v] = load(from + r * from_pitch + v * LANES);
    }
    size_t k = 0;
    for (; k + SOME < depth; k += SOME) {
        add_product<rows, SIDE>(a + k, a_pitch, 1, b + k * WIDTH, WIDTH, SOME, sums);
        calls.make();
    }
    add_product<rows, SIDE>(a + k, a_pitch, 1, b + k * WIDTH, WIDTH, depth - k, sums);
    calls.make();
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < SIDE; ++v) store(c + r * pitch + v * LANES, sums[r][v]);
    }
}

template <size_t rows>
void multiply_some(size_t count, const float* a, size_t a_pitch, const float* b, size_t depth, const float* from, size_t from_pitch, float* c,
                   size_t pitch, Calls& calls) {
    if (count == rows) {
        multiply_block<rows>(a, a_pitch, b, depth, from, from_pitch, c, pitch, calls);
    } else if constexpr (rows > 1) {
        multiply_some<rows - 1>(count, a, a_pitch, b, depth, from, from_pitch, c, pitch, calls);
    }
}

// c = a b + bias, or c += a b: some rows, of which the sums of a few stay in registers while the rows of b pass by.
void multiply_rows(const Rows& p) {
    float first[WIDTH], corner[MOST * WIDTH];
    const size_t blocks = (p.count + MOST - 1) / MOST;
    const size_t times = blocks * ((p.columns + WIDTH - 1) / WIDTH) * ((p.depth + SOME - 1) / SOME);
    Calls calls = {p.needed, p.needed + p.needs, (p.lines + times - 1) / times, 0, 0};
    const float* b = p.b;
    for (size_t j = 0; j < p.columns; j += WIDTH, b += p.depth * WIDTH) {
        const size_t wide = least(WIDTH, p.columns - j);
        for (size_t c = 0; c < WIDTH; ++c) first[c] = p.bias != nullptr && c < wide ? p.bias[j + c] : 0.0f;
        for (size_t block = 0, row = 0; block < blocks; ++block) {
            const size_t count = p.count / blocks + (block < p.count % blocks);
            const float* a = p.a + row * p.a_pitch;
            float* c = p.c + row * p.pitch + j;
            if (wide == WIDTH) {
                multiply_some<MOST>(count, a, p.a_pitch, b, p.depth, p.adds ? c : first, p.adds ? p.pitch : 0, c, p.pitch, calls);
            } else {
                for (size_t r = 0; r < count; ++r) {
                    for (size_t x = 0; x < WIDTH; ++x) corner[r * WIDTH + x] = p.adds && x < wide ? c[r * p.pitch + x] : first[x];
                }
                multiply_some<MOST>(count, a, p.a_pitch, b, p.depth, corner, WIDTH, corner, WIDTH, calls);
                for (size_t r = 0; r < count; ++r) {
                    for (size_t x = 0; x < wide; ++x) c[r * p.pitch + x] = corner[r * WIDTH + x];
                }
            }
            row += count;
        }
    }
}

constexpr Multiplying MULTIPLYING = {WIDTH, lay_out, multiply_rows};
