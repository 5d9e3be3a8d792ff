// Convolutions that halve pictures, as each kind of processor does them: included by halving.cpp through each_processor.h.

#include "products_in_registers.h"

constexpr size_t SIDE = 2, MOST = (REGISTERS - 1 - SIDE) / SIDE > 12 ? 12 : (REGISTERS - 1 - SIDE) / SIDE;

// Polynomials are multiplied by their values at two numbers with either sign, and at infinity. Of simple numbers, these two cost the fewest
// digits.
constexpr float P = 0.5f, Q = 1.25f, P2 = P * P, Q2 = Q * Q, P3 = P2 * P, Q3 = Q2 * Q;
constexpr float AT_P = 1 / (2 * P * (P2 - Q2)), AT_Q = 1 / (2 * Q * (Q2 - P2));

// Each of these makes TO numbers out of FROM. Those of one pair are each other's transpose.
struct OfInput {
    static constexpr size_t FROM = SPAN, TO = SPAN;
    static INLINE void apply(const Vector (&x)[FROM], Vector (&y)[TO]) {
        const Vector p_odd = x[3] - x[1] * Q2, p_even = (x[2] - x[0] * Q2) * P, q_odd = x[3] - x[1] * P2, q_even = (x[2] - x[0] * P2) * Q;
        y[0] = p_odd + p_even, y[1] = p_odd - p_even;
        y[2] = q_odd + q_even, y[3] = q_odd - q_even;
        y[4] = x[4] - x[2] * (P2 + Q2) + x[0] * (P2 * Q2);
    }
};

struct ToInput {
    static constexpr size_t FROM = SPAN, TO = SPAN;
    static INLINE void apply(const Vector (&x)[FROM], Vector (&y)[TO]) {
        const Vector p_sum = x[0] + x[1], p_difference = (x[0] - x[1]) * P, q_sum = x[2] + x[3], q_difference = (x[2] - x[3]) * Q;
        y[0] = x[4] * (P2 * Q2) - p_difference * Q2 - q_difference * P2;
        y[1] = -(p_sum * Q2 + q_sum * P2);
        y[2] = p_difference + q_difference - x[4] * (P2 + Q2);
        y[3] = p_sum + q_sum;
        y[4] = x[4];
    }
};

struct ToOutput {
    static constexpr size_t FROM = SPAN, TO = WIDE;
    static INLINE void apply(const Vector (&x)[FROM], Vector (&y)[TO]) {
        const Vector p_sum = x[0] + x[1], p_difference = x[0] - x[1], q_sum = x[2] + x[3], q_difference = x[2] - x[3];
        y[0] = p_sum + q_sum;
        y[1] = p_difference * P + q_difference * Q;
        y[2] = p_sum * P2 + q_sum * Q2;
        y[3] = p_difference * P3 + q_difference * Q3 + x[4];
    }
};

struct OfOutput {
    static constexpr size_t FROM = WIDE, TO = SPAN;
    static INLINE void apply(const Vector (&x)[FROM], Vector (&y)[TO]) {
        const Vector p_even = x[0] + x[2] * P2, p_odd = x[1] * P + x[3] * P3, q_even = x[0] + x[2] * Q2, q_odd = x[1] * Q + x[3] * Q3;
        y[0] = p_even + p_odd, y[1] = p_even - p_odd;
        y[2] = q_even + q_odd, y[3] = q_even - q_odd;
        y[4] = x[3];
    }
};

struct OfFilter {
    static constexpr size_t FROM = TAPS, TO = SPAN;
    static INLINE void apply(const Vector (&x)[FROM], Vector (&y)[TO]) {
        const Vector p_even = x[0] * AT_P, p_odd = x[1] * (P * AT_P), q_even = x[0] * AT_Q, q_odd = x[1] * (Q * AT_Q);
        y[0] = p_odd + p_even, y[1] = p_odd - p_even;
        y[2] = q_odd + q_even, y[3] = q_odd - q_even;
        y[4] = x[1];
    }
};

struct ToFilter {
    static constexpr size_t FROM = SPAN, TO = TAPS;
    static INLINE void apply(const Vector (&x)[FROM], Vector (&y)[TO]) {
        y[0] = (x[0] - x[1]) * AT_P + (x[2] - x[3]) * AT_Q;
        y[1] = (x[0] + x[1]) * (P * AT_P) + (x[2] + x[3]) * (Q * AT_Q) + x[4];
    }
};

// The numbers at some places, transformed along the rows and along the columns of their square.
template <typename Transform, typename Load, typename Store>
INLINE void transform(const Load& loaded, const Store& stored) {
    constexpr size_t from = Transform::FROM, to = Transform::TO;
    Vector half[from][to];
#pragma GCC unroll 5
    for (size_t i = 0; i < from; ++i) {
        Vector row[from];
#pragma GCC unroll 5
        for (size_t j = 0; j < from; ++j) row[j] = loaded(i * from + j);
        Transform::apply(row, half[i]);
    }
#pragma GCC unroll 5
    for (size_t j = 0; j < to; ++j) {
        Vector column[from], made[to];
#pragma GCC unroll 5
        for (size_t i = 0; i < from; ++i) column[i] = half[i][j];
        Transform::apply(column, made);
#pragma GCC unroll 5
        for (size_t i = 0; i < to; ++i) stored(i * to + j, made[i]);
    }
}

// Where a number of a matrix on the right of a product is: columns lie in strips that are as wide as what is computed at once.
INLINE size_t in_strips(const Strips& s, size_t column) {
    constexpr size_t width = SIDE * LANES;
    const size_t first = column / width * width, wide = s.columns - first < width ? s.columns - first : width;
    return first * s.rows + s.row * wide + column - first;
}

// A tile, or the gradient of its results, becomes a row of the matrices on the left.
template <typename Transform>
void take_left(const float* const* pixels, size_t channels, float* matrices, size_t between) {
    for (size_t c = 0; c < channels; c += LANES) {
        transform<Transform>([=](size_t i) { return load(pixels[i] + c); },
                             [=](size_t point, Vector x) { store(matrices + point * between + c, x); });
    }
}

// The gradient of a tile's results, or some taps of a filter, become a row of the matrices on the right.
template <typename Transform>
void take_right(const float* const* places, size_t channels, const Strips& s, size_t first, float* matrices, size_t between) {
    for (size_t c = 0; c < channels; c += LANES) {
        float* row = matrices + in_strips(s, first + c);
        transform<Transform>([=](size_t i) { return load(places[i] + c); },
                             [=](size_t point, Vector x) { store(row + point * between, x); });
    }
}

// A row of each of the products becomes a tile of results; nullptr stands for those that nobody wants.
void give_output(const float* matrices, size_t between, size_t channels, const float* bias, float* const* pixels) {
    for (size_t c = 0; c < channels; c += LANES) {
        const Vector zero = {}, add = bias != nullptr ? load(bias + c) : zero;
        transform<ToOutput>([=](size_t point) { return load(matrices + point * between + c); },
                            [=](size_t i, Vector x) {
                                if (pixels[i] != nullptr) store(pixels[i] + c, x + add);
                            });
    }
}

// Or the gradient of a tile, which is added to those of the tiles around it.
void give_input(const float* matrices, size_t between, size_t channels, float* const* pixels) {
    for (size_t c = 0; c < channels; c += LANES) {
        transform<ToInput>([=](size_t point) { return load(matrices + point * between + c); },
                           [=](size_t i, Vector x) {
                               if (pixels[i] != nullptr) store(pixels[i] + c, load(pixels[i] + c) + x);
                           });
    }
}

void give_filter(const float* matrices, size_t between, size_t channels, float* const* taps) {
    for (size_t c = 0; c < channels; c += LANES) {
        transform<ToFilter>([=](size_t point) { return load(matrices + point * between + c); },
                            [=](size_t i, Vector x) { store(taps[i] + c, x); });
    }
}

template <size_t rows, size_t vectors>
void multiply_block(const Product& p, const float* a, const float* b, float* c) {
    Vector sums[rows][vectors] = {};
    if (p.adds) {
#pragma GCC unroll 16
        for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) sums[r][v] = load(c + r * p.c_row + v * LANES);
        }
    }
    add_product<rows, vectors>(a, p.a_row, p.a_column, b, vectors * LANES, p.depth, sums);
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) store(c + r * p.c_row + v * LANES, sums[r][v]);
    }
}

template <size_t rows, size_t vectors>
void multiply_some(size_t count, const Product& p, const float* a, const float* b, float* c) {
    if (count == rows) {
        multiply_block<rows, vectors>(p, a, b, c);
    } else if constexpr (rows > 1) {
        multiply_some<rows - 1, vectors>(count, p, a, b, c);
    }
}

// Blocks of nearly the same size: a narrow one at the end would leave the processor waiting for its own sums.
template <size_t vectors>
void multiply_strips(const Product& p, const float* a, const float* b, float* c, size_t columns) {
    const size_t blocks = (p.rows + MOST - 1) / MOST;
    for (; columns >= vectors * LANES; columns -= vectors * LANES, b += p.depth * vectors * LANES, c += vectors * LANES) {
        for (size_t block = 0, row = 0; block < blocks; ++block) {
            const size_t count = p.rows / blocks + (block < p.rows % blocks);
            multiply_some<MOST, vectors>(count, p, a + row * p.a_row, b, c + row * p.c_row);
            row += count;
        }
    }
    if constexpr (vectors > 1) multiply_strips<vectors / 2>(p, a, b, c, columns);
}

void multiply(const Product& p, const float* a, const float* b, float* c) { multiply_strips<SIDE>(p, a, b, c, p.columns); }

constexpr Halvings HALVINGS = {take_left<OfInput>, take_left<OfOutput>, take_right<OfOutput>, take_right<OfFilter>,
                               give_input,         give_output,         give_filter,          multiply};
