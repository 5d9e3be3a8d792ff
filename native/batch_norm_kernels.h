// The loops of batch normalization, as each kind of processor does them: included by batch_norm.cpp through each_processor.h.

void add_moments(const float* __restrict x, const float* __restrict around, float* __restrict sums, float* __restrict squares, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        const float d = x[i] - around[i];
        sums[i] += d;
        squares[i] += d * d;
    }
}

INLINE float normalized(float x, float mean, float factor, float offset) { return (x - mean) * factor + offset; }

void normalize(const float* __restrict x, const float* __restrict mean, const float* __restrict factor, const float* __restrict offset,
               bool rectify, float* __restrict y, size_t n) {
    if (rectify) {
        for (size_t i = 0; i < n; ++i) {
            const float found = normalized(x[i], mean[i], factor[i], offset[i]);
            y[i] = found < 0.0f ? 0.0f : found;
        }
    } else {
        for (size_t i = 0; i < n; ++i) y[i] = normalized(x[i], mean[i], factor[i], offset[i]);
    }
}

void add_gradients(const float* __restrict dy, const float* __restrict x, const float* __restrict mean, const float* __restrict factor,
                   const float* __restrict offset, bool rectify, float* __restrict sums, float* __restrict products, size_t n) {
    if (rectify) {
        for (size_t i = 0; i < n; ++i) {
            const float g = normalized(x[i], mean[i], factor[i], offset[i]) > 0.0f ? dy[i] : 0.0f;
            sums[i] += g;
            products[i] += g * (x[i] - mean[i]);
        }
    } else {
        for (size_t i = 0; i < n; ++i) {
            sums[i] += dy[i];
            products[i] += dy[i] * (x[i] - mean[i]);
        }
    }
}

// The result may stand where dy stands.
void differentiate(const float* dy, const float* __restrict x, const float* __restrict mean, const float* __restrict factor,
                   const float* __restrict offset, const float* __restrict slope, const float* __restrict constant, bool rectify, float* dx,
                   size_t n) {
    if (rectify) {
        SIDE_BY_SIDE
        for (size_t i = 0; i < n; ++i) {
            const float g = normalized(x[i], mean[i], factor[i], offset[i]) > 0.0f ? dy[i] : 0.0f;
            dx[i] = g * factor[i] + ((x[i] - mean[i]) * slope[i] + constant[i]);
        }
    } else {
        SIDE_BY_SIDE
        for (size_t i = 0; i < n; ++i) dx[i] = dy[i] * factor[i] + ((x[i] - mean[i]) * slope[i] + constant[i]);
    }
}

constexpr Loops LOOPS = {add_moments, normalize, add_gradients, differentiate};
