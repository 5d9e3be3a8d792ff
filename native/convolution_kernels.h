// Convolutions with pooling, as each kind of processor does them: included by convolution.cpp through each_processor.h.

// The larger; NaN where there is one.
INLINE Vector larger(Vector a, Vector b) { return ((a > b) | (a != a)) ? a : b; }

// `vectors` times LANES channels of the result for one picture, which is given with its padding around it.
template <size_t vectors>
void pool_channels(const Sizes& s, const float* picture, size_t stride, const float* filter, const float* bias, bool rectify, float* out) {
    const size_t span = s.columns * s.depth;
    const Vector zero = {};
    for (size_t y = 0; y < s.out_height; ++y) {
        for (size_t x = 0; x < s.out_width; ++x, out += s.channels) {
            const float* upper = picture + 2 * y * stride + 2 * x * s.depth;
            Vector a[vectors] = {}, b[vectors] = {}, c[vectors] = {}, d[vectors] = {};
            const float* tap = filter;
            for (size_t row = 0; row < s.rows; ++row) {
                const float *first = upper + row * stride, *second = first + stride;
                for (size_t k = 0; k < span; ++k, tap += s.channels) {
#pragma GCC unroll 4
                    for (size_t v = 0; v < vectors; ++v) {
                        const Vector weight = load(tap + v * LANES);
                        a[v] += weight * first[k];
                        b[v] += weight * first[k + s.depth];
                        c[v] += weight * second[k];
                        d[v] += weight * second[k + s.depth];
                    }
                }
            }
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; ++v) {
                Vector found = larger(larger(a[v], b[v]), larger(c[v], d[v]));
                if (bias != nullptr) found += load(bias + v * LANES);
                store(out + v * LANES, rectify ? (found < zero ? zero : found) : found);
            }
        }
    }
}

template <size_t vectors>
void pool_picture(const Sizes& s, const float* picture, size_t stride, const float* filter, const float* bias, bool rectify, float* out,
                  size_t channels) {
    constexpr size_t width = vectors * LANES;
    for (; channels >= width; channels -= width, filter += width, out += width) {
        pool_channels<vectors>(s, picture, stride, filter, bias, rectify, out);
        if (bias != nullptr) bias += width;
    }
    if constexpr (vectors > 1) pool_picture<vectors / 2>(s, picture, stride, filter, bias, rectify, out, channels);
}

constexpr Pool POOL = pool_picture<REGISTERS / 8>;
