// Chains of element-wise ops on small tensors in one go: a block of elements passes through all instructions while it is in the cache.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "fused.h"

#if defined(__GNUC__) && !defined(__clang__)
// Comparisons of NaN need no traps: without this, selections are not vectorised. Multiplying and adding may be one instruction here.
#pragma GCC optimize("no-trapping-math", "fp-contract=fast")
#endif
#if defined(__GNUC__)
#define INLINE inline __attribute__((always_inline))
#else
#define INLINE inline
#endif
#if defined(__GNUC__) && defined(__x86_64__)
#define HAS_WIDE 1
#define WIDE __attribute__((target("avx2,fma")))
#else
#define HAS_WIDE 0
#define WIDE
#endif

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr size_t BLOCK = 512;

using Loop = void (*)(const float*, const float*, float*, size_t);

INLINE uint32_t as_bits(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return bits;
}

INLINE float as_float(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
}

// e^x for x within [-87, 88], to about one unit in the last place; NaN stays NaN.
INLINE float exponential(float x) {
    x = x > 88.0f ? 88.0f : x;
    x = x < -87.0f ? -87.0f : x;
    const float shifted = x * 1.44269504088896341f + 12582912.0f;
    const float k = shifted - 12582912.0f;
    // ln 2 in two parts: k times the first is exact.
    const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    const float mantissa = (p * r * r + r) + 1.0f;
    return mantissa * as_float((as_bits(shifted) - 0x4b400000u + 127u) << 23);
}

INLINE float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

// A quotient of polynomials in x, exact to about two units in the last place.
INLINE float tangent(float x) {
    x = x > 7.90531110763549805f ? 7.90531110763549805f : x;
    x = x < -7.90531110763549805f ? -7.90531110763549805f : x;
    const float z = x * x;
    float p = -2.76076847742355e-16f;
    p = p * z + 2.00018790482477e-13f;
    p = p * z - 8.60467152213735e-11f;
    p = p * z + 5.12229709037114e-08f;
    p = p * z + 1.48572235717979e-05f;
    p = p * z + 6.37261928875436e-04f;
    p = p * z + 4.89352455891786e-03f;
    float q = 1.19825839466702e-06f;
    q = q * z + 1.18534705686654e-04f;
    q = q * z + 2.26843463243900e-03f;
    q = q * z + 4.89352518554385e-03f;
    return p * x / q;
}

// Each loop is compiled twice: for any processor, and for those with wide registers.
#define LOOP(name, expression)                                                                                      \
    void name(const float* __restrict a, const float* __restrict b, float* __restrict out, size_t n) {              \
        for (size_t i = 0; i < n; ++i) out[i] = (expression);                                                       \
    }                                                                                                               \
    WIDE void name##_wide(const float* __restrict a, const float* __restrict b, float* __restrict out, size_t n) {  \
        for (size_t i = 0; i < n; ++i) out[i] = (expression);                                                       \
    }

LOOP(add, a[i] + b[i])
LOOP(subtract, a[i] - b[i])
LOOP(multiply, a[i] * b[i])
LOOP(divide, a[i] / b[i])
LOOP(negate, -a[i])
LOOP(square, a[i] * a[i])
LOOP(apply_sigmoid, sigmoid(a[i]))
LOOP(apply_tanh, tangent(a[i]))
LOOP(apply_relu, a[i] < 0.0f ? 0.0f : a[i])
LOOP(sigmoid_gradient, b[i] * (1.0f - a[i]) * a[i])
LOOP(tanh_gradient, b[i] * (1.0f - a[i] * a[i]))
LOOP(relu_gradient, b[i] > 0.0f ? a[i] : 0.0f)

struct Named {
    const char* name;
    Loop loop, wide;
};

#define NAMED(op, name) Named{op, name, name##_wide}

// By the names of the ops that they do, with inputs in the order of these.
const Named LOOPS[] = {
    NAMED("Add", add), NAMED("AddV2", add), NAMED("Sub", subtract), NAMED("Mul", multiply), NAMED("RealDiv", divide),
    NAMED("Neg", negate), NAMED("Square", square), NAMED("Sigmoid", apply_sigmoid), NAMED("Tanh", apply_tanh),
    NAMED("Relu", apply_relu), NAMED("SigmoidGrad", sigmoid_gradient), NAMED("TanhGrad", tanh_gradient),
    NAMED("ReluGrad", relu_gradient),
};

bool is_wide() {
#if HAS_WIDE
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

Loop find(const std::string& name) {
    for (const auto& known : LOOPS) {
        if (name == known.name) return is_wide() ? known.wide : known.loop;
    }
    throw std::invalid_argument("no loop for " + name);
}

// Where an operand's elements are: in a tensor, in a block of this run (`tensor` < 0), row by row.
struct Place {
    int64_t tensor, offset, stride;
};

struct Instruction {
    Loop loop;
    size_t a, b;
};

class Chain {
public:
    // Operands are numbered: the inputs, then the constants, then the result of each instruction.
    Chain(size_t rows, size_t columns, std::vector<std::tuple<int64_t, int64_t, int64_t>> inputs, std::vector<float> constants,
          std::vector<std::tuple<std::string, size_t, size_t>> instructions, std::vector<std::tuple<int64_t, int64_t, int64_t>> results)
        : rows_(rows), columns_(columns), constants_(std::move(constants)), first_result_(inputs.size() + constants_.size()) {
        if (results.size() != instructions.size()) throw std::invalid_argument("a result for each instruction");
        for (const auto& [tensor, offset, stride] : inputs) places_.push_back({tensor, offset, stride});
        places_.resize(first_result_, {-1, 0, 0});
        for (const auto& [name, a, b] : instructions) {
            if (a >= places_.size() + instructions_.size() || b >= places_.size() + instructions_.size())
                throw std::invalid_argument("an instruction before its operands");
            instructions_.push_back({find(name), a, b});
        }
        for (const auto& [tensor, offset, stride] : results) places_.push_back({tensor, offset, stride});
        for (const auto& place : places_) tensors_ = std::max<size_t>(tensors_, static_cast<size_t>(place.tensor + 1));
    }

    void run(nb::args pointers) const {
        if (pointers.size() != tensors_) throw std::invalid_argument("a pointer for each tensor");
        float* bases[64];
        if (tensors_ > 64) throw std::invalid_argument("too many tensors");
        for (size_t i = 0; i < tensors_; ++i) bases[i] = reinterpret_cast<float*>(nb::cast<uintptr_t>(pointers[i]));
        nb::gil_scoped_release released;
        const size_t block = std::min(BLOCK, columns_);
        thread_local std::vector<float> memory;
        memory.resize(std::max(memory.size(), places_.size() * block));
        for (size_t k = 0; k < constants_.size(); ++k) {
            const size_t operand = first_result_ - constants_.size() + k;
            std::fill_n(memory.data() + operand * block, block, constants_[k]);
        }
        std::vector<float*> at(places_.size());
        for (size_t row = 0; row < rows_; ++row) {
            for (size_t column = 0; column < columns_; column += block) {
                for (size_t k = 0; k < places_.size(); ++k) {
                    const Place& place = places_[k];
                    at[k] = place.tensor < 0 ? memory.data() + k * block
                                             : bases[place.tensor] + place.offset + static_cast<int64_t>(row) * place.stride + column;
                }
                const size_t n = std::min(block, columns_ - column);
                float** result = at.data() + first_result_;
                for (const auto& instruction : instructions_) instruction.loop(at[instruction.a], at[instruction.b], *result++, n);
            }
        }
    }

private:
    size_t rows_, columns_;
    std::vector<float> constants_;
    size_t first_result_;
    std::vector<Place> places_;
    std::vector<Instruction> instructions_;
    size_t tensors_ = 0;
};

}  // namespace

void add_elementwise(nb::module_& module) {
    nb::class_<Chain>(module, "ElementwiseChain", "Element-wise instructions over rows of float32 tensors, run block by block.")
        .def(nb::init<size_t, size_t, std::vector<std::tuple<int64_t, int64_t, int64_t>>, std::vector<float>,
                      std::vector<std::tuple<std::string, size_t, size_t>>, std::vector<std::tuple<int64_t, int64_t, int64_t>>>(),
             nb::arg("rows"), nb::arg("columns"), nb::arg("inputs"), nb::arg("constants"), nb::arg("instructions"), nb::arg("results"))
        .def("run", &Chain::run, "Runs on the tensors at these addresses, which the caller keeps alive.");
    nb::list names;
    for (const auto& known : LOOPS) names.append(known.name);
    module.attr("ELEMENTWISE") = nb::frozenset(names);
}

}  // namespace everflow
