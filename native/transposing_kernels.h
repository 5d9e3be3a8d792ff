// Transposed matrices, as each kind of processor makes them: included by transposing.cpp through each_processor.h.

#include "squares.h"

// Some rows of a matrix become columns of another: as many as fill a line of the cache at a time, so that each line is written once.
void transpose(const float* from, size_t pitch, size_t rows, size_t columns, float* to, size_t to_pitch) {
    size_t r = 0;
#if defined(TURNS)
    constexpr size_t LINE = 16;
    for (; r + LINE <= rows; r += LINE) {
        size_t c = 0;
        for (; c + LANES <= columns; c += LANES) {
            for (size_t part = 0; part < LINE; part += LANES) {
                const float* corner = from + (r + part) * pitch + c;
                Vector square[LANES];
#pragma GCC unroll 16
                for (size_t i = 0; i < LANES; ++i) square[i] = load(corner + i * pitch);
                turn_square<LANES / 2>(square);
#pragma GCC unroll 16
                for (size_t i = 0; i < LANES; ++i) store(to + (c + i) * to_pitch + r + part, square[i]);
            }
        }
        for (; c < columns; ++c) {
            for (size_t i = 0; i < LINE; ++i) to[c * to_pitch + r + i] = from[(r + i) * pitch + c];
        }
    }
#endif
    for (; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) to[c * to_pitch + r] = from[r * pitch + c];
    }
}

constexpr Transpose TRANSPOSE = transpose;
