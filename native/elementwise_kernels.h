// Element-wise ops, as each kind of processor does them: included by elementwise.cpp through each_processor.h.

#include "elementary_functions.h"

#define LOOP(name, expression)                                                                         \
    void name(const float* __restrict a, const float* __restrict b, float* __restrict out, size_t n) { \
        for (size_t i = 0; i < n; ++i) out[i] = (expression);                                          \
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
LOOP(absolute, as_float(as_bits(a[i]) & 0x7fffffffu))
LOOP(squared_difference, (a[i] - b[i]) * (a[i] - b[i]))
LOOP(apply_sqrt, __builtin_sqrtf(a[i]))
LOOP(apply_rsqrt, 1.0f / __builtin_sqrtf(a[i]))
LOOP(apply_exp, full_exponential(a[i]))
LOOP(apply_log1p, logarithm_of_one_more(a[i]))

LOOP(apply_log, full_logarithm(a[i]))
LOOP(apply_erf, error_function(a[i]))
LOOP(maximum, a[i] > b[i] || a[i] != a[i] ? a[i] : b[i])
LOOP(minimum, a[i] < b[i] || a[i] != a[i] ? a[i] : b[i])
LOOP(reciprocal, 1.0f / a[i])
LOOP(reciprocal_gradient, -b[i] * (a[i] * a[i]))
LOOP(sqrt_gradient, b[i] * 0.5f / a[i])
LOOP(rsqrt_gradient, b[i] * -0.5f * (a[i] * a[i]) * a[i])

#undef LOOP

float sum_of(const float* a, size_t n) {
    size_t i = 0;
    float total = 0.0f;
    if (n >= 4 * LANES) {
        Vector sums[4] = {load(a), load(a + LANES), load(a + 2 * LANES), load(a + 3 * LANES)};
        for (i = 4 * LANES; i + 4 * LANES <= n; i += 4 * LANES) {
            for (size_t k = 0; k < 4; ++k) sums[k] += load(a + i + k * LANES);
        }
        float lanes[LANES];
        store(lanes, (sums[0] + sums[1]) + (sums[2] + sums[3]));
        for (size_t k = 0; k < LANES; ++k) total += lanes[k];
    }
    for (; i < n; ++i) total += a[i];
    return total;
}

void add_to(const float* __restrict a, float* __restrict sums, size_t n) {
    for (size_t i = 0; i < n; ++i) sums[i] += a[i];
}

constexpr Adding ADDING = {sum_of, add_to};

// By the names of the ops that they do, with inputs in the order of these.
constexpr Named LOOPS[] = {
    {"Add", add}, {"AddV2", add}, {"Sub", subtract}, {"Mul", multiply}, {"RealDiv", divide},
    {"Neg", negate}, {"Square", square}, {"Sigmoid", apply_sigmoid}, {"Tanh", apply_tanh},
    {"Relu", apply_relu}, {"SigmoidGrad", sigmoid_gradient}, {"TanhGrad", tanh_gradient},
    {"ReluGrad", relu_gradient}, {"Abs", absolute}, {"Exp", apply_exp}, {"Log1p", apply_log1p},
    {"SquaredDifference", squared_difference}, {"Sqrt", apply_sqrt}, {"Rsqrt", apply_rsqrt},
    {"RsqrtGrad", rsqrt_gradient}, {"SqrtGrad", sqrt_gradient}, {"Log", apply_log}, {"Erf", apply_erf},
    {"Maximum", maximum}, {"Minimum", minimum}, {"Reciprocal", reciprocal}, {"Inv", reciprocal},
    {"ReciprocalGrad", reciprocal_gradient}, {"InvGrad", reciprocal_gradient},
};
