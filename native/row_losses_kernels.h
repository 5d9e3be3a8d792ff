// Softmax and cross-entropies of rows, as each kind of processor does them: included by row_losses.cpp through each_processor.h.

#include "elementary_functions.h"

INLINE float largest_of(const float* x, size_t n) {
    float found = x[0];
    size_t i = 0;
    if (n >= LANES) {
        Vector most = load(x);
        for (i = LANES; i + LANES <= n; i += LANES) {
            const Vector next = load(x + i);
            // A NaN stays.
            most = next <= most ? most : next;
        }
        float lanes[LANES];
        store(lanes, most);
        found = lanes[0];
        for (size_t k = 1; k < LANES; ++k) found = lanes[k] <= found ? found : lanes[k];
    }
    for (; i < n; ++i) found = x[i] <= found ? found : x[i];
    return found;
}

// e^(x - shift) for a row; returns their sum.
INLINE float exponentials(const float* x, float shift, float* y, size_t n) {
    float lanes[LANES] = {};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        SIDE_BY_SIDE
        for (size_t k = 0; k < LANES; ++k) {
            const float d = x[i + k] - shift, e = full_exponential(d);
            y[i + k] = d == d ? e : d;
            lanes[k] += y[i + k];
        }
    }
    float total = 0.0f;
    for (size_t k = 0; k < LANES; ++k) total += lanes[k];
    for (; i < n; ++i) {
        const float d = x[i] - shift, e = full_exponential(d);
        y[i] = d == d ? e : d;
        total += y[i];
    }
    return total;
}

void softmax(const float* x, float* y, size_t rows, size_t columns) {
    for (; rows > 0; --rows, x += columns, y += columns) {
        const float scale = 1.0f / exponentials(x, largest_of(x, columns), y, columns);
        for (size_t i = 0; i < columns; ++i) y[i] *= scale;
    }
}

void cross_entropy_of_classes(const float* x, const int64_t* classes, float* loss, float* y, size_t rows, size_t columns) {
    for (size_t r = 0; r < rows; ++r, x += columns, y += columns) {
        const float most = largest_of(x, columns), own = x[classes[r]] - most;
        const float total = exponentials(x, most, y, columns), scale = 1.0f / total;
        for (size_t i = 0; i < columns; ++i) y[i] *= scale;
        y[classes[r]] -= 1.0f;
        loss[r] = full_logarithm(total) - own;
    }
}

constexpr RowLosses ROW_LOSSES = {softmax, cross_entropy_of_classes};
