// Sums and mixtures of pixels, as each kind of processor does them: included by images.cpp through each_processor.h.

void add_rows(const float* const* rows, const float* weights, float* out, size_t size) {
    const float *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    SIDE_BY_SIDE
    for (size_t i = 0; i < size; ++i) out[i] = ((a[i] * weights[0] + b[i] * weights[1]) + c[i] * weights[2]) + d[i] * weights[3];
}

void add_colours(const float* in, float* out, const int32_t* places, const float* weights, size_t size) {
    for (size_t x = 0; x < size; ++x, out += 3) {
        float found[4] = {};
#pragma GCC unroll 4
        for (size_t tap = 0; tap < 4; ++tap) {
            const float *pixel = in + places[tap * size + x] * 3, weight = weights[tap * size + x];
#pragma GCC unroll 4
            for (size_t c = 0; c < 4; ++c) found[c] += pixel[c] * weight;
        }
        std::memcpy(out, found, sizeof found);
    }
}

void crop(const float* picture, size_t width, size_t depth, const Sample* rows, size_t tall, const Sample* columns, size_t wide, float outside,
          float* out) {
    for (size_t y = 0; y < tall; ++y) {
        const Sample row = rows[y];
        for (size_t x = 0; x < wide; ++x, out += depth) {
            const Sample column = columns[x];
            if (!row.is_inside || !column.is_inside) {
                for (size_t c = 0; c < depth; ++c) out[c] = outside;
                continue;
            }
            const float *top = picture + row.below * width * depth, *bottom = picture + row.above * width * depth;
            const size_t left = column.below * depth, right = column.above * depth;
            SIDE_BY_SIDE
            for (size_t c = 0; c < depth; ++c) {
                const float above = top[left + c] + (top[right + c] - top[left + c]) * column.share;
                const float below = bottom[left + c] + (bottom[right + c] - bottom[left + c]) * column.share;
                out[c] = above + (below - above) * row.share;
            }
        }
    }
}

constexpr ImageKernels IMAGE_KERNELS = {add_rows, add_colours, crop};
