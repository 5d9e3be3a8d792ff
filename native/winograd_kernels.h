// Convolutions of tiles by Winograd's algorithm, as each kind of processor does them: included by winograd.cpp through each_processor.h.

#include "products_in_registers.h"

constexpr size_t SIDE = 2, MOST = (REGISTERS - 1 - SIDE) / SIDE > 12 ? 12 : (REGISTERS - 1 - SIDE) / SIDE;

// Polynomials are multiplied by their values at 0, at two numbers with either sign, and at infinity. With these two, rounding costs no
// more digits than it does in a plain convolution.
constexpr float P = 0.75f, Q = 1.5f, P2 = P * P, Q2 = Q * Q, P3 = P2 * P, Q3 = Q2 * Q, P4 = P2 * P2, Q4 = Q2 * Q2;
constexpr float AT_0 = 1 / (P2 * Q2), AT_P = 1 / (2 * P2 * (P2 - Q2)), AT_Q = 1 / (2 * Q2 * (Q2 - P2));

// Each of these makes TO numbers out of FROM. Those of one pair are each other's transpose.
struct OfInput {
    static constexpr size_t FROM = SPAN, TO = SPAN;
    static INLINE void apply(const Vector (&x)[SPAN], Vector (&y)[SPAN]) {
        const Vector p_even = x[4] - x[2] * Q2, p_odd = (x[3] - x[1] * Q2) * P, q_even = x[4] - x[2] * P2, q_odd = (x[3] - x[1] * P2) * Q;
        y[0] = x[4] - x[2] * (P2 + Q2) + x[0] * (P2 * Q2);
        y[1] = p_even + p_odd, y[2] = p_even - p_odd;
        y[3] = q_even + q_odd, y[4] = q_even - q_odd;
        y[5] = x[5] - x[3] * (P2 + Q2) + x[1] * (P2 * Q2);
    }
};

template <size_t wide>
struct ToOutput {
    static constexpr size_t FROM = SPAN, TO = wide;
    static INLINE void apply(const Vector (&x)[SPAN], Vector (&y)[wide]) {
        const Vector p_sum = x[1] + x[2], p_difference = x[1] - x[2], q_sum = x[3] + x[4], q_difference = x[3] - x[4];
        y[0] = x[0] + p_sum + q_sum;
        y[1] = p_difference * P + q_difference * Q;
        if constexpr (wide > 2) {
            y[2] = p_sum * P2 + q_sum * Q2;
            y[3] = p_difference * P3 + q_difference * Q3;
        }
        y[wide - 1] += x[5];
    }
};

template <size_t wide>
struct OfOutput {
    static constexpr size_t FROM = wide, TO = SPAN;
    static INLINE void apply(const Vector (&x)[wide], Vector (&y)[SPAN]) {
        Vector p_even = x[0], p_odd = x[1] * P, q_even = x[0], q_odd = x[1] * Q;
        if constexpr (wide > 2) p_even += x[2] * P2, p_odd += x[3] * P3, q_even += x[2] * Q2, q_odd += x[3] * Q3;
        y[0] = x[0];
        y[1] = p_even + p_odd, y[2] = p_even - p_odd;
        y[3] = q_even + q_odd, y[4] = q_even - q_odd;
        y[5] = x[wide - 1];
    }
};

template <size_t size>
struct OfFilter {
    static constexpr size_t FROM = size, TO = SPAN;
    static INLINE void apply(const Vector (&x)[size], Vector (&y)[SPAN]) {
        Vector p_even = x[0] + x[2] * P2, p_odd = x[1] * P, q_even = x[0] + x[2] * Q2, q_odd = x[1] * Q;
        if constexpr (size > 3) p_even += x[4] * P4, p_odd += x[3] * P3, q_even += x[4] * Q4, q_odd += x[3] * Q3;
        y[0] = x[0] * AT_0;
        y[1] = (p_even + p_odd) * AT_P, y[2] = (p_even - p_odd) * AT_P;
        y[3] = (q_even + q_odd) * AT_Q, y[4] = (q_even - q_odd) * AT_Q;
        y[5] = x[size - 1];
    }
};

template <size_t size>
struct ToFilter {
    static constexpr size_t FROM = SPAN, TO = size;
    static INLINE void apply(const Vector (&x)[SPAN], Vector (&y)[size]) {
        const Vector p_sum = (x[1] + x[2]) * AT_P, p_difference = (x[1] - x[2]) * AT_P;
        const Vector q_sum = (x[3] + x[4]) * AT_Q, q_difference = (x[3] - x[4]) * AT_Q;
        y[0] = x[0] * AT_0 + p_sum + q_sum;
        y[1] = p_difference * P + q_difference * Q;
        y[2] = p_sum * P2 + q_sum * Q2;
        if constexpr (size > 3) {
            y[3] = p_difference * P3 + q_difference * Q3;
            y[4] = p_sum * P4 + q_sum * Q4;
        }
        y[size - 1] += x[5];
    }
};

// Along the rows and along the columns of a square.
template <typename Transform, size_t from = Transform::FROM, size_t to = Transform::TO>
INLINE void transform(const Vector (&x)[from][from], Vector (&y)[to][to]) {
    Vector half[from][to];
#pragma GCC unroll 6
    for (size_t i = 0; i < from; ++i) Transform::apply(x[i], half[i]);
#pragma GCC unroll 6
    for (size_t j = 0; j < to; ++j) {
        Vector column[from], made[to];
#pragma GCC unroll 6
        for (size_t i = 0; i < from; ++i) column[i] = half[i][j];
        Transform::apply(column, made);
#pragma GCC unroll 6
        for (size_t i = 0; i < to; ++i) y[i][j] = made[i];
    }
}

INLINE void store_values(const Vector (&values)[SPAN][SPAN], float* out, size_t between) {
#pragma GCC unroll 6
    for (size_t i = 0; i < SPAN; ++i) {
#pragma GCC unroll 6
        for (size_t j = 0; j < SPAN; ++j) store(out + (i * SPAN + j) * between, values[i][j]);
    }
}

INLINE void load_values(const float* from, size_t between, Vector (&values)[SPAN][SPAN]) {
#pragma GCC unroll 6
    for (size_t i = 0; i < SPAN; ++i) {
#pragma GCC unroll 6
        for (size_t j = 0; j < SPAN; ++j) values[i][j] = load(from + (i * SPAN + j) * between);
    }
}

// A tile of a padded picture becomes a row of each of the matrices.
void take_input(const float* tile, size_t pitch, size_t depth, float* matrices, size_t between) {
    for (size_t c = 0; c < depth; c += LANES) {
        Vector x[SPAN][SPAN], y[SPAN][SPAN];
#pragma GCC unroll 6
        for (size_t i = 0; i < SPAN; ++i) {
#pragma GCC unroll 6
            for (size_t j = 0; j < SPAN; ++j) x[i][j] = load(tile + i * pitch + j * depth + c);
        }
        transform<OfInput>(x, y);
        store_values(y, matrices + c, between);
    }
}

// A row of each of the matrices becomes a tile of results, of which some rows and columns are wanted.
template <size_t wide>
void give_output(const float* matrices, size_t between, size_t channels, const float* bias, float* out, size_t pitch, size_t high, size_t broad) {
    for (size_t c = 0; c < channels; c += LANES) {
        Vector x[SPAN][SPAN], y[wide][wide];
        load_values(matrices + c, between, x);
        transform<ToOutput<wide>>(x, y);
        const Vector zero = {}, add = bias != nullptr ? load(bias + c) : zero;
#pragma GCC unroll 4
        for (size_t i = 0; i < wide; ++i) {
#pragma GCC unroll 4
            for (size_t j = 0; j < wide; ++j) {
                if (i < high && j < broad) store(out + i * pitch + j * channels + c, y[i][j] + add);
            }
        }
    }
}

// The gradient of such a tile becomes a row of each of the matrices.
template <size_t wide>
void take_output(const float* gradient, size_t pitch, size_t channels, size_t high, size_t broad, float* matrices, size_t between) {
    const Vector zero = {};
    for (size_t c = 0; c < channels; c += LANES) {
        Vector x[wide][wide], y[SPAN][SPAN];
#pragma GCC unroll 4
        for (size_t i = 0; i < wide; ++i) {
#pragma GCC unroll 4
            for (size_t j = 0; j < wide; ++j) x[i][j] = i < high && j < broad ? load(gradient + i * pitch + j * channels + c) : zero;
        }
        transform<OfOutput<wide>>(x, y);
        store_values(y, matrices + c, between);
    }
}

// A row of a filter (HWIO) becomes one of each of the matrices, and a row of each of these one of a filter's gradient.
template <size_t size>
void take_filter(const float* filter, size_t between_taps, size_t channels, float* matrices, size_t between) {
    for (size_t c = 0; c < channels; c += LANES) {
        Vector x[size][size], y[SPAN][SPAN];
#pragma GCC unroll 5
        for (size_t i = 0; i < size; ++i) {
#pragma GCC unroll 5
            for (size_t j = 0; j < size; ++j) x[i][j] = load(filter + (i * size + j) * between_taps + c);
        }
        transform<OfFilter<size>>(x, y);
        store_values(y, matrices + c, between);
    }
}

template <size_t size>
void give_filter(const float* matrices, size_t between, size_t channels, float* filter, size_t between_taps) {
    for (size_t c = 0; c < channels; c += LANES) {
        Vector x[SPAN][SPAN], y[size][size];
        load_values(matrices + c, between, x);
        transform<ToFilter<size>>(x, y);
#pragma GCC unroll 5
        for (size_t i = 0; i < size; ++i) {
#pragma GCC unroll 5
            for (size_t j = 0; j < size; ++j) store(filter + (i * size + j) * between_taps + c, y[i][j]);
        }
    }
}

template <size_t rows, size_t vectors>
void multiply_block(const Factors& f, const float* a, const float* b, float* c) {
    Vector sums[rows][vectors] = {};
    if (f.adds) {
#pragma GCC unroll 16
        for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) sums[r][v] = load(c + r * f.columns + v * LANES);
        }
    }
    add_product<rows, vectors>(a, f.a_row, f.a_column, b, f.columns, f.depth, sums);
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) store(c + r * f.columns + v * LANES, sums[r][v]);
    }
}

template <size_t rows, size_t vectors>
void multiply_some(size_t count, const Factors& f, const float* a, const float* b, float* c) {
    if (count == rows) {
        multiply_block<rows, vectors>(f, a, b, c);
    } else if constexpr (rows > 1) {
        multiply_some<rows - 1, vectors>(count, f, a, b, c);
    }
}

// Blocks of nearly the same size: a narrow one at the end would leave the processor waiting for its own sums.
template <size_t vectors>
void multiply_columns(const Factors& f, const float* a, const float* b, float* c, size_t columns) {
    const size_t blocks = (f.rows + MOST - 1) / MOST;
    for (; columns >= vectors * LANES; columns -= vectors * LANES, b += vectors * LANES, c += vectors * LANES) {
        for (size_t block = 0, row = 0; block < blocks; ++block) {
            const size_t count = f.rows / blocks + (block < f.rows % blocks);
            multiply_some<MOST, vectors>(count, f, a + row * f.a_row, b, c + row * f.columns);
            row += count;
        }
    }
    if constexpr (vectors > 1) multiply_columns<vectors / 2>(f, a, b, c, columns);
}

void multiply(const Factors& f, const float* a, const float* b, float* c) { multiply_columns<SIDE>(f, a, b, c, f.columns); }

constexpr Winograd WINOGRAD[] = {
    {take_input, give_output<4>, take_output<4>, take_filter<3>, give_filter<3>, multiply},
    {take_input, give_output<2>, take_output<2>, take_filter<5>, give_filter<5>, multiply},
};
