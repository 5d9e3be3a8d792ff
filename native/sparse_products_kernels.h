// Sums of multiples of rows, as each kind of processor does them: included by sparse_products.cpp through each_processor.h.

INLINE void add_multiple(const float* __restrict from, float* __restrict to, float factor, size_t columns) {
    size_t i = 0;
    for (; i + LANES <= columns; i += LANES) store(to + i, load(to + i) + load(from + i) * factor);
    for (; i < columns; ++i) to[i] += from[i] * factor;
}

void add_rows(const Elements& a, const float* b, float* out, size_t columns) {
    const int64_t* rows = a.places + a.row;
    const int64_t* others = a.places + (1 - a.row);
    for (size_t i = 0; i < a.count; ++i) {
        const auto row = static_cast<size_t>(rows[2 * i]), other = static_cast<size_t>(others[2 * i]);
        add_multiple(b + other * columns, out + row * columns, a.values[i], columns);
    }
}

constexpr AddRows ADD_ROWS = add_rows;
