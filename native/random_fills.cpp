// Fills of arrays with uniform, normal and truncated normal numbers, as TensorFlow's CPU kernels give them.
//
// Most distributions turn each sample of four words into a group of four (or two wide) results, so a group's position
// in the stream is its index. Truncated normals take a varying number of words: there each group owns a stretch of the
// stream that is long enough in any event.
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "normal.h"
#include "parallel.h"
#include "philox.h"
#include "random.h"
#include "released.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// Samples that TensorFlow sets aside for each result of a distribution that takes a varying number of words.
constexpr size_t kSamplesPerResult = 256;

constexpr size_t kUniformGrain = 1 << 16;
constexpr size_t kNormalGrain = 1 << 13;

// Samples that are made at a time: enough for vector instructions, few enough to stay in the nearest cache.
constexpr size_t kBatch = 64;

// 16 bit floats travel as their bit patterns.
struct Half {
    uint16_t bits;
};
struct BFloat16 {
    uint16_t bits;
};

uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float float_of(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// Rounds to nearest even. Normal numbers here are small and finite: there is no overflow to care for.
Half to_half(float value) {
    const uint32_t bits = bits_of(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t size = bits & 0x7fffffffu;
    if (size < 0x38800000u) {
        // Adding 0.5 moves the subnormal result into the low bits of the sum, rounded by the addition itself.
        return {static_cast<uint16_t>(sign | (bits_of(float_of(size) + 0.5f) - 0x3f000000u))};
    }
    size += 0xfffu + ((size >> 13) & 1u) - 0x38000000u;
    return {static_cast<uint16_t>(sign | (size >> 13))};
}

BFloat16 to_bfloat16(float value) {
    const uint32_t bits = bits_of(value);
    return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

template <typename T, typename Wide>
T narrowed(Wide value) {
    if constexpr (std::is_same_v<T, Half>) return to_half(value);
    else if constexpr (std::is_same_v<T, BFloat16>) return to_bfloat16(value);
    else return value;
}

// A distribution gives kGroup results per sample of four words.
template <typename T>
struct Uniform {
    static constexpr size_t kGroup = std::is_same_v<T, double> ? 2 : 4;
    static constexpr size_t kGrain = kUniformGrain;

    void operator()(const uint32_t* words, T* out) const {
        if constexpr (std::is_same_v<T, double>) {
            for (size_t i = 0; i < kGroup; ++i) out[i] = unit_double(words[2 * i], words[2 * i + 1]);
        } else if constexpr (std::is_same_v<T, Half>) {
            for (size_t i = 0; i < kGroup; ++i) out[i] = to_half(float_of(0x3f800000u | ((words[i] & 0x3ffu) << 13)) - 1.0f);
        } else if constexpr (std::is_same_v<T, BFloat16>) {
            for (size_t i = 0; i < kGroup; ++i) out[i] = to_bfloat16(float_of(0x3f800000u | ((words[i] & 0x7fu) << 16)) - 1.0f);
        } else {
            for (size_t i = 0; i < kGroup; ++i) out[i] = unit_float(words[i]);
        }
    }
};

// One where a number in [0, 1) is at least as large as another, else zero.
struct Mask {
    static constexpr size_t kGroup = 4;
    static constexpr size_t kGrain = kUniformGrain;

    float least;

    void operator()(const uint32_t* words, float* out) const {
        for (size_t i = 0; i < kGroup; ++i) out[i] = unit_float(words[i]) >= least ? 1.0f : 0.0f;
    }
};

template <typename T>
struct Bits {
    static constexpr size_t kGroup = 16 / sizeof(T);
    static constexpr size_t kGrain = kUniformGrain;

    void operator()(const uint32_t* words, T* out) const {
        if constexpr (sizeof(T) == 4) {
            for (size_t i = 0; i < kGroup; ++i) out[i] = static_cast<T>(words[i]);
        } else {
            for (size_t i = 0; i < kGroup; ++i) out[i] = static_cast<T>(words[2 * i] | (uint64_t{words[2 * i + 1]} << 32));
        }
    }
};

// Integers in [low, low + range): the remainder of the bits, with the slight bias that this has in TensorFlow too.
template <typename T>
struct Integers {
    using Unsigned = std::make_unsigned_t<T>;
    static constexpr size_t kGroup = Bits<T>::kGroup;
    static constexpr size_t kGrain = kUniformGrain;

    Unsigned low;
    Unsigned range;

    void operator()(const uint32_t* words, T* out) const {
        Bits<T>()(words, out);
        for (size_t i = 0; i < kGroup; ++i) out[i] = static_cast<T>(low + static_cast<Unsigned>(out[i]) % range);
    }
};

template <typename T>
struct Normal {
    static constexpr size_t kGroup = std::is_same_v<T, double> ? 2 : 4;
    static constexpr size_t kGrain = kNormalGrain;

    void operator()(const uint32_t* words, T* out) const {
        if constexpr (std::is_same_v<T, double>) {
            normal_pair(words, out);
        } else {
            float wide[4];
            normal_pair(words[0], words[1], wide);
            normal_pair(words[2], words[3], wide + 2);
            for (size_t i = 0; i < kGroup; ++i) out[i] = narrowed<T>(wide[i]);
        }
    }
};

template <typename T, typename Distribution>
void fill(const Stream& stream, T* out, size_t size, size_t threads, const Distribution& distribution) {
    constexpr size_t group = Distribution::kGroup;
    const size_t groups = (size + group - 1) / group;
    in_parallel(groups, Distribution::kGrain / group, threads, [&](size_t begin, size_t end) {
        uint32_t words[4 * kBatch];
        T last[group];
        for (size_t start = begin; start < end; start += kBatch) {
            const size_t count = std::min(kBatch, end - start);
            philox_samples(stream.after(start), 1, count, words);
            const size_t whole = std::min(count, size / group - start);
            for (size_t i = 0; i < whole; ++i) distribution(words + 4 * i, out + (start + i) * group);
            if (whole < count) {
                distribution(words + 4 * whole, last);
                std::copy_n(last, size % group, out + (start + whole) * group);
            }
        }
    });
}

// Normal numbers nearer than two standard deviations: others are drawn again.
template <typename T>
void fill_truncated(const Stream& stream, T* out, size_t size, size_t threads) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    constexpr size_t group = std::is_same_v<T, double> ? 2 : 4;
    constexpr uint64_t stride = group * kSamplesPerResult / 4;
    in_parallel((size + group - 1) / group, kNormalGrain / group, threads, [&](size_t begin, size_t end) {
        uint32_t firsts[4 * kBatch];
        for (size_t index = begin; index < end; ++index) {
            const size_t place = (index - begin) % kBatch;
            if (place == 0) philox_samples(stream.after(index * stride), stride, std::min(kBatch, end - index), firsts);
            Words words(stream.after(index * stride), firsts + 4 * place);
            T* const results = out + index * group;
            const size_t wanted = std::min(group, size - index * group);
            for (size_t found = 0; found < wanted;) {
                Wide pair[2];
                if constexpr (std::is_same_v<T, double>) {
                    const uint32_t four[] = {words.next(), words.next(), words.next(), words.next()};
                    normal_pair(four, pair);
                } else {
                    const uint32_t two[] = {words.next(), words.next()};
                    normal_pair(two[0], two[1], pair);
                }
                for (const Wide value : pair) {
                    if (std::abs(value) < Wide{2} && found < wanted) results[found++] = narrowed<T>(value);
                }
            }
        }
    });
}

template <typename T>
using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

// Adds `name(out, key, low, high, threads)` for arrays whose elements are Python's `Element` and hold our `T`.
template <typename T, typename Element, typename Fill>
void add_fill(nb::module_& module, const char* name, Fill fill_with) {
    module.def(
        name,
        [fill_with](Array<Element> out, uint64_t key, uint64_t low, uint64_t high, size_t threads) {
            const Released released(out.size());
            fill_with(Stream{key, low, high}, reinterpret_cast<T*>(out.data()), out.size(), threads);
        },
        nb::arg("out").noconvert(), nb::arg("key"), nb::arg("low"), nb::arg("high"), nb::arg("threads"));
}

template <typename T, typename Element>
void add_floats(nb::module_& module, const char* uniform, const char* normal, const char* truncated) {
    add_fill<T, Element>(module, uniform, [](const Stream& s, T* out, size_t n, size_t t) { fill(s, out, n, t, Uniform<T>()); });
    add_fill<T, Element>(module, normal, [](const Stream& s, T* out, size_t n, size_t t) { fill(s, out, n, t, Normal<T>()); });
    add_fill<T, Element>(module, truncated, [](const Stream& s, T* out, size_t n, size_t t) { fill_truncated(s, out, n, t); });
}

template <typename T>
void add_bits(nb::module_& module) {
    add_fill<T, T>(module, "fill_bits", [](const Stream& s, T* out, size_t n, size_t t) { fill(s, out, n, t, Bits<T>()); });
}

template <typename T>
void add_integers(nb::module_& module) {
    using Unsigned = std::make_unsigned_t<T>;
    module.def(
        "fill_integers",
        [](Array<T> out, T low_value, T high_value, uint64_t key, uint64_t low, uint64_t high, size_t threads) {
            if (low_value >= high_value) throw nb::value_error("fill_integers needs a low value below the high value");
            nb::gil_scoped_release unlocked;
            const auto first = static_cast<Unsigned>(low_value);
            const auto range = static_cast<Unsigned>(static_cast<Unsigned>(high_value) - first);
            fill(Stream{key, low, high}, out.data(), out.size(), threads, Integers<T>{first, range});
        },
        nb::arg("out").noconvert(), nb::arg("low_value"), nb::arg("high_value"), nb::arg("key"), nb::arg("low"),
        nb::arg("high"), nb::arg("threads"));
}

// Fisher and Yates' shuffle from the front: place i takes one of the rows that are left, as word i says.
void shuffle(Array<int64_t> rows, Array<uint32_t> words) {
    const size_t size = rows.size();
    if (words.size() + 1 < size) throw nb::value_error("shuffle needs a word for each row but the last");
    nb::gil_scoped_release unlocked;
    int64_t* const row = rows.data();
    const uint32_t* const word = words.data();
    for (size_t i = 0; i + 1 < size; ++i) std::swap(row[i], row[i + word[i] % static_cast<uint32_t>(size - i)]);
}

}  // namespace

void add_random_fills(nb::module_& module) {
    add_floats<float, float>(module, "fill_uniform", "fill_normal", "fill_truncated_normal");
    add_floats<double, double>(module, "fill_uniform", "fill_normal", "fill_truncated_normal");
    add_floats<Half, int16_t>(module, "fill_uniform_half", "fill_normal_half", "fill_truncated_normal_half");
    add_floats<BFloat16, int16_t>(module, "fill_uniform_bfloat16", "fill_normal_bfloat16", "fill_truncated_normal_bfloat16");
    add_bits<uint32_t>(module);
    add_bits<int32_t>(module);
    add_bits<int64_t>(module);
    add_integers<int32_t>(module);
    add_integers<int64_t>(module);
    module.def(
        "fill_mask",
        [](uintptr_t out, size_t count, float least, uint64_t key, uint64_t low, uint64_t high, size_t threads) {
            const Released released(count);
            fill(Stream{key, low, high}, reinterpret_cast<float*>(out), count, threads, Mask{least});
        },
        nb::arg("out"), nb::arg("count"), nb::arg("least"), nb::arg("key"), nb::arg("low"), nb::arg("high"), nb::arg("threads"),
        "Ones where the numbers that fill_uniform would give are at least as large as another, else zeros.");
    module.def("shuffle", shuffle, nb::arg("rows").noconvert(), nb::arg("words").noconvert());
}

}  // namespace everflow
