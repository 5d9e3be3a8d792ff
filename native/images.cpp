// Pictures of other sizes, boxes cut from pictures, and colours turned: batches of [height, width, depth], row by row.
#include "images.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "parallel.h"

namespace nb = nanobind;

namespace everflow {
namespace {

template <typename T>
using Pictures = nb::ndarray<const T, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Results = nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A thread is worth starting for so many numbers.
constexpr size_t kGrain = 1 << 15;

// What each position of an output's axis is made of: input positions and their weights, [taps, size].
struct Axis {
    const int32_t* places;
    const float* weights;
    size_t taps, size;

    Axis(const Matrix<int32_t>& p, const Matrix<float>& w) : places(p.data()), weights(w.data()), taps(p.shape(0)), size(p.shape(1)) {
        if (w.shape(0) != taps || w.shape(1) != size) throw nb::value_error("an axis has a weight for each place");
    }

    void check(size_t input) const {
        for (size_t i = 0; i < taps * size; ++i) {
            if (places[i] < 0 || static_cast<size_t>(places[i]) >= input) throw nb::value_error("a place lies outside of its axis");
        }
    }
};

// Where a crop samples one axis of its picture.
struct Sample {
    size_t below, above;
    float share;
    bool is_inside;
};

struct ImageKernels {
    // The sum of four rows, each multiplied by its weight.
    void (*add_rows)(const float* const* rows, const float* weights, float* out, size_t size);
    // Pixels of three numbers, each the sum of four with their weights. What lies behind the last number of a pixel is read and written too.
    void (*add_colours)(const float* in, float* out, const int32_t* places, const float* weights, size_t size);
    // What lies between the pixels around each pair of samples.
    void (*crop)(const float* picture, size_t width, size_t depth, const Sample* rows, size_t tall, const Sample* columns, size_t wide,
                 float outside, float* out);
};

}  // namespace
}  // namespace everflow

#define EXACT
#define KERNELS "image_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// What each number is divided and multiplied by at the end, while its row is near.
struct Scale {
    float divisor, factor;

    void apply(float* row, size_t size) const {
        if (divisor != 1) {
            for (size_t x = 0; x < size; ++x) row[x] /= divisor;
        }
        if (factor != 1) {
            for (size_t x = 0; x < size; ++x) row[x] *= factor;
        }
    }
};

// How many numbers a buffer has behind its end, so that pixels of three numbers may be read and written as four.
constexpr size_t kSpare = 4;

// Pixels of three numbers, interpolated as vectors of four: what is written too much is overwritten by the next pixel.
void interpolate_colours(const float* in, float* out, const Axis& columns) {
    const int32_t *first = columns.places, *second = first + columns.size;
    const float* share = columns.weights + columns.size;
    for (size_t x = 0; x < columns.size; ++x, out += 3) {
        const float *left = in + first[x] * 3, *right = in + second[x] * 3;
        float found[4];
        for (size_t c = 0; c < 4; ++c) found[c] = left[c] + (right[c] - left[c]) * share[x];
        std::memcpy(out, found, sizeof found);
    }
}

// One row of pixels, brought to the output's width. kDepth is the number of numbers in a pixel where the compiler knows it, or 0.
// `floats` has room for a row of the input, and it and `out` for a little more.
template <size_t kDepth, typename T>
void resample_row(const T* in, float* out, const Axis& columns, size_t any_depth, size_t width, std::vector<float>& floats) {
    const size_t depth = kDepth ? kDepth : any_depth;
    if (kDepth == 3 && columns.taps == 2) {
        for (size_t i = 0; i < width * 3; ++i) floats[i] = static_cast<float>(in[i]);
        interpolate_colours(floats.data(), out, columns);
        return;
    }
    if (kDepth == 3 && columns.taps == 4) {
        for (size_t i = 0; i < width * 3; ++i) floats[i] = static_cast<float>(in[i]);
        CHOSEN(IMAGE_KERNELS).add_colours(floats.data(), out, columns.places, columns.weights, columns.size);
        return;
    }
    if (columns.taps == 2) {
        const int32_t *first = columns.places, *second = first + columns.size;
        const float* share = columns.weights + columns.size;
        for (size_t x = 0; x < columns.size; ++x, out += depth) {
            const T *left = in + first[x] * depth, *right = in + second[x] * depth;
            for (size_t c = 0; c < depth; ++c) {
                const float from = static_cast<float>(left[c]);
                out[c] = from + (static_cast<float>(right[c]) - from) * share[x];
            }
        }
        return;
    }
    for (size_t x = 0; x < columns.size; ++x, out += depth) {
        for (size_t c = 0; c < depth; ++c) out[c] = 0;
        for (size_t tap = 0; tap < columns.taps; ++tap) {
            const T* pixel = in + columns.places[tap * columns.size + x] * depth;
            const float weight = columns.weights[tap * columns.size + x];
            for (size_t c = 0; c < depth; ++c) out[c] += static_cast<float>(pixel[c]) * weight;
        }
    }
}

// The taps of an output row are neighbouring input rows: as many buffers as taps hold them, and most serve the next row too.
template <size_t kDepth, typename T>
void resample_rows(const T* in, float* out, size_t height, size_t width, size_t depth, const Axis& rows, const Axis& columns,
                   const Scale& scale, size_t begin, size_t end) {
    const size_t across = columns.size * depth, stride = across + kSpare;
    std::vector<float> buffers(rows.taps * stride), floats(width * depth + kSpare);
    std::vector<int64_t> held(rows.taps, -1);
    std::vector<const float*> parts(rows.taps);
    for (size_t i = begin; i < end; ++i) {
        const size_t picture = i / rows.size, y = i % rows.size;
        for (size_t tap = 0; tap < rows.taps; ++tap) {
            const size_t row = rows.places[tap * rows.size + y], slot = row % rows.taps;
            const int64_t wanted = picture * height + row;
            float* buffer = buffers.data() + slot * stride;
            if (held[slot] != wanted) {
                resample_row<kDepth>(in + wanted * width * depth, buffer, columns, depth, width, floats);
                held[slot] = wanted;
            }
            parts[tap] = buffer;
        }
        float* result = out + i * across;
        if (rows.taps == 2) {
            const float *top = parts[0], *bottom = parts[1], share = rows.weights[rows.size + y];
            for (size_t x = 0; x < across; ++x) result[x] = top[x] + (bottom[x] - top[x]) * share;
        } else if (rows.taps == 4) {
            const float weights[4] = {rows.weights[y], rows.weights[rows.size + y], rows.weights[2 * rows.size + y], rows.weights[3 * rows.size + y]};
            CHOSEN(IMAGE_KERNELS).add_rows(parts.data(), weights, result, across);
        } else {
            for (size_t x = 0; x < across; ++x) result[x] = 0;
            for (size_t tap = 0; tap < rows.taps; ++tap) {
                const float *part = parts[tap], weight = rows.weights[tap * rows.size + y];
                for (size_t x = 0; x < across; ++x) result[x] += part[x] * weight;
            }
        }
        scale.apply(result, across);
    }
}

template <typename T>
void resample(Pictures<T> in, Results out, Matrix<int32_t> row_places, Matrix<float> row_weights, Matrix<int32_t> column_places,
              Matrix<float> column_weights, size_t threads, float divisor, float factor) {
    const Axis rows(row_places, row_weights), columns(column_places, column_weights);
    const size_t height = in.shape(1), width = in.shape(2), depth = in.shape(3);
    if (out.shape(0) != in.shape(0) || out.shape(1) != rows.size || out.shape(2) != columns.size || out.shape(3) != depth) {
        throw nb::value_error("resample needs a result of the size that its axes tell");
    }
    const Scale scale{divisor, factor};
    rows.check(height);
    columns.check(width);
    nb::gil_scoped_release unlocked;
    in_parallel(in.shape(0) * rows.size, kGrain / (columns.size * depth + 1) + 1, threads, [&](size_t begin, size_t end) {
        if (depth == 3) {
            resample_rows<3>(in.data(), out.data(), height, width, depth, rows, columns, scale, begin, end);
        } else if (depth == 1) {
            resample_rows<1>(in.data(), out.data(), height, width, depth, rows, columns, scale, begin, end);
        } else {
            resample_rows<0>(in.data(), out.data(), height, width, depth, rows, columns, scale, begin, end);
        }
    });
}

// Corners are parts of the picture's size. A crop of one pixel samples the middle.
void place_samples(std::vector<Sample>& samples, float start, float end, size_t size, bool nearest) {
    const float last = static_cast<float>(size - 1);
    const size_t count = samples.size();
    const float step = count > 1 ? (end - start) * last / static_cast<float>(count - 1) : 0;
    const float origin = count > 1 ? start * last : 0.5f * (start + end) * last;
    for (size_t i = 0; i < count; ++i) {
        const float where = origin + static_cast<float>(i) * step;
        Sample& sample = samples[i];
        sample.is_inside = where >= 0 && where <= last;
        if (!sample.is_inside) continue;
        const float below = std::floor(where);
        sample.below = static_cast<size_t>(nearest ? std::floor(where + 0.5f) : below);
        sample.above = static_cast<size_t>(std::ceil(where));
        sample.share = where - below;
    }
}

void crop_and_resize(Pictures<float> in, Matrix<float> boxes, nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> owners,
                     Results out, bool nearest, float outside, size_t threads) {
    const size_t batch = in.shape(0), height = in.shape(1), width = in.shape(2), depth = in.shape(3);
    const size_t count = boxes.shape(0), tall = out.shape(1), wide = out.shape(2);
    if (boxes.shape(1) != 4 || owners.shape(0) != count || out.shape(0) != count || out.shape(3) != depth || !height || !width) {
        throw nb::value_error("crop_and_resize needs a picture's number and a result for each box");
    }
    for (size_t i = 0; i < count; ++i) {
        if (owners.data()[i] < 0 || static_cast<size_t>(owners.data()[i]) >= batch) throw nb::value_error("there is no such picture");
    }
    nb::gil_scoped_release unlocked;
    in_parallel(count, kGrain / (tall * wide * depth + 1) + 1, threads, [&](size_t begin, size_t end) {
        std::vector<Sample> rows(tall), columns(wide);
        for (size_t box = begin; box < end; ++box) {
            const float* corners = boxes.data() + 4 * box;
            const float* picture = in.data() + owners.data()[box] * height * width * depth;
            place_samples(rows, corners[0], corners[2], height, nearest);
            place_samples(columns, corners[1], corners[3], width, nearest);
            float* result = out.data() + box * tall * wide * depth;
            if (!nearest) {
                CHOSEN(IMAGE_KERNELS).crop(picture, width, depth, rows.data(), tall, columns.data(), wide, outside, result);
                continue;
            }
            for (const Sample& row : rows) {
                for (const Sample& column : columns) {
                    if (row.is_inside && column.is_inside) {
                        const float* pixel = picture + (row.below * width + column.below) * depth;
                        std::copy(pixel, pixel + depth, result);
                    } else {
                        std::fill(result, result + depth, outside);
                    }
                    result += depth;
                }
            }
        }
    });
}

// Pixels are turned a block at a time, colour by colour, so that vector instructions can take several.
constexpr size_t kBlock = 128;

struct Colours {
    float red[kBlock], green[kBlock], blue[kBlock];
};

// The pure colour at a place of the circle, of which the saturation takes a part.
inline float shade(float distance, float saturation, float value) {
    const float pure = distance < 0 ? 0 : distance > 1 ? 1 : distance;
    return ((1 - saturation) + saturation * pure) * value;
}

// Turns hues by a part of the circle in [0, 1) and multiplies saturations.
void turn(Colours& pixels, size_t count, float turned, float scale) {
    constexpr float kTiny = 1.17549435e-38f;
    for (size_t i = 0; i < count; ++i) {
        const float red = pixels.red[i], green = pixels.green[i], blue = pixels.blue[i];
        const float most = red > green ? red : green, least = red < green ? red : green;
        const float value = most > blue ? most : blue, spread = value - (least < blue ? least : blue);
        const float part = spread / (value > kTiny ? value : kTiny);
        float saturation = value > 0 ? part * scale : 0;
        saturation = saturation < 0 ? 0 : saturation > 1 ? 1 : saturation;
        const float of_red = green - blue, of_green = blue - red + 2 * spread, of_blue = red - green + 4 * spread;
        const float leading = red == value ? of_red : green == value ? of_green : of_blue;
        const float sixths = 6 * spread;
        float hue = leading / (sixths > kTiny ? sixths : kTiny);
        hue = hue < 0 ? hue + 1 : hue;
        hue += turned;
        hue = hue >= 1 ? hue - 1 : hue;
        const float sixth = hue * 6;
        pixels.red[i] = shade(std::fabs(sixth - 3) - 1, saturation, value);
        pixels.green[i] = shade(2 - std::fabs(sixth - 2), saturation, value);
        pixels.blue[i] = shade(2 - std::fabs(sixth - 4), saturation, value);
    }
}

void turn_colours(Matrix<float> in, nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> out, float hue, float saturation,
                  size_t threads) {
    const size_t count = in.shape(0);
    if (in.shape(1) != 3 || out.shape(1) != 3 || out.shape(0) != count) throw nb::value_error("turn_colours needs pixels of three numbers");
    const float turned = hue - std::floor(hue);
    nb::gil_scoped_release unlocked;
    in_parallel(count, kGrain / 3, threads, [&](size_t begin, size_t end) {
        Colours pixels;
        for (size_t start = begin; start < end; start += kBlock) {
            const size_t size = std::min(kBlock, end - start);
            const float* from = in.data() + 3 * start;
            for (size_t i = 0; i < size; ++i) {
                pixels.red[i] = from[3 * i];
                pixels.green[i] = from[3 * i + 1];
                pixels.blue[i] = from[3 * i + 2];
            }
            turn(pixels, size, turned, saturation);
            float* to = out.data() + 3 * start;
            for (size_t i = 0; i < size; ++i) {
                to[3 * i] = pixels.red[i];
                to[3 * i + 1] = pixels.green[i];
                to[3 * i + 2] = pixels.blue[i];
            }
        }
    });
}

}  // namespace

void add_images(nb::module_& module) {
    module.def("resample", resample<float>, nb::arg("pictures").noconvert(), nb::arg("out").noconvert(), nb::arg("row_places").noconvert(),
               nb::arg("row_weights").noconvert(), nb::arg("column_places").noconvert(), nb::arg("column_weights").noconvert(),
               nb::arg("threads"), nb::arg("divisor") = 1.0f, nb::arg("factor") = 1.0f);
    module.def("resample", resample<uint8_t>, nb::arg("pictures").noconvert(), nb::arg("out").noconvert(),
               nb::arg("row_places").noconvert(), nb::arg("row_weights").noconvert(), nb::arg("column_places").noconvert(),
               nb::arg("column_weights").noconvert(), nb::arg("threads"), nb::arg("divisor") = 1.0f, nb::arg("factor") = 1.0f);
    module.def("crop_and_resize", crop_and_resize, nb::arg("pictures").noconvert(), nb::arg("boxes").noconvert(),
               nb::arg("owners").noconvert(), nb::arg("out").noconvert(), nb::arg("nearest"), nb::arg("outside"), nb::arg("threads"));
    module.def("turn_colours", turn_colours, nb::arg("pixels").noconvert(), nb::arg("out").noconvert(), nb::arg("hue"),
               nb::arg("saturation"), nb::arg("threads"));
}

}  // namespace everflow
