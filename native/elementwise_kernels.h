// Element-wise ops, as each kind of processor does them: included by elementwise.cpp through each_processor.h.

#include "elementary_functions.h"

constexpr float SELU_SCALE = 1.0507009873554804934193349852946f, SELU_ALPHA = 1.7580993408473768599402175208123f;

#define LOOP(name, expression)                                                                        \
    void name([[maybe_unused]] const float* __restrict a, [[maybe_unused]] const float* __restrict b, \
              [[maybe_unused]] const float* __restrict c, float* __restrict out, size_t n) {          \
        for (size_t i = 0; i < n; ++i) out[i] = (expression);                                         \
    }

LOOP(copy, a[i])
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
LOOP(apply_expm1, exponential_less_one(a[i]))
LOOP(apply_elu, a[i] < 0.0f ? exponential_less_one(a[i]) : a[i])
LOOP(elu_gradient, b[i] < 0.0f ? a[i] * (b[i] + 1.0f) : a[i])
LOOP(apply_selu, a[i] < 0.0f ? SELU_ALPHA * exponential_less_one(a[i]) : SELU_SCALE * a[i])
LOOP(selu_gradient, b[i] < 0.0f ? a[i] * (b[i] + SELU_ALPHA) : a[i] * SELU_SCALE)
LOOP(apply_softplus, softplus(a[i]))
LOOP(softplus_gradient, a[i] * sigmoid(b[i]))
LOOP(apply_relu6, a[i] < 0.0f ? 0.0f : a[i] > 6.0f ? 6.0f : a[i])
LOOP(relu6_gradient, b[i] > 0.0f && b[i] < 6.0f ? a[i] : 0.0f)
LOOP(maximum, a[i] > b[i] || a[i] != a[i] ? a[i] : b[i])
LOOP(minimum, a[i] < b[i] || a[i] != a[i] ? a[i] : b[i])
LOOP(reciprocal, 1.0f / a[i])
LOOP(reciprocal_gradient, -b[i] * (a[i] * a[i]))
LOOP(sqrt_gradient, b[i] * 0.5f / a[i])
LOOP(rsqrt_gradient, b[i] * -0.5f * (a[i] * a[i]) * a[i])
LOOP(apply_atan, arctangent(a[i]))
LOOP(apply_asin, arcsine(a[i]))
LOOP(apply_acos, arccosine(a[i]))
LOOP(apply_sinh, hyperbolic_sine(a[i]))
LOOP(apply_cosh, hyperbolic_cosine(a[i]))
LOOP(round_to_nearest, nearest(a[i]))
LOOP(round_down, rounded_down(a[i]))
LOOP(round_up, rounded_up(a[i]))
LOOP(floor_quotient, rounded_down(a[i] / b[i]))
LOOP(sign, a[i] > 0.0f ? 1.0f : a[i] < 0.0f ? -1.0f : 0.0f)
LOOP(leaky_relu, a[i] > 0.0f ? a[i] : a[i] * b[i])
LOOP(leaky_relu_gradient, b[i] > 0.0f ? a[i] : a[i] * c[i])
LOOP(softsign, a[i] / (1.0f + as_float(as_bits(a[i]) & 0x7fffffffu)))
LOOP(divide_unless_by_zero, b[i] == 0.0f ? 0.0f : a[i] / b[i])
LOOP(multiply_unless_by_zero, b[i] == 0.0f ? 0.0f : a[i] * b[i])
LOOP(zero_over, a[i] == 0.0f ? 0.0f : a[i] / b[i])
LOOP(zero_times_logarithm, a[i] == 0.0f ? 0.0f : a[i] * full_logarithm(b[i]))
// Where few numbers go side by side in double precision, C's library is faster.
LOOP(power, LANES >= 8 ? raised(a[i], b[i]) : __builtin_powf(a[i], b[i]))
LOOP(power_of_half, root(a[i]))
LOOP(zeros, 0.0f)
LOOP(ones, 1.0f)

INLINE float square_of(float x) { return x * x; }
LOOP(softsign_gradient, a[i] / square_of(1.0f + as_float(as_bits(b[i]) & 0x7fffffffu)))

// The few angles that are far away are looked at one by one.
#define LOOP_OF_ANGLES(name, of)                                                                                        \
    void name(const float* __restrict a, const float*, const float*, float* __restrict out, size_t n) {                \
        uint32_t far = 0;                                                                                               \
        for (size_t i = 0; i < n; ++i) {                                                                                \
            far |= !is_near(a[i]);                                                                                      \
            out[i] = of(near_angle(is_near(a[i]) ? a[i] : 0.0f));                                                       \
        }                                                                                                               \
        for (size_t i = 0; far && i < n; ++i) {                                                                         \
            if (!is_near(a[i])) out[i] = of(far_angle(a[i]));                                                           \
        }                                                                                                               \
    }

INLINE float cosine(Angle angle) { return sine({angle.rest, angle.quarters + 1}); }
LOOP_OF_ANGLES(apply_sin, sine)
LOOP_OF_ANGLES(apply_cos, cosine)
LOOP_OF_ANGLES(apply_tan, tangent_of)
#undef LOOP_OF_ANGLES

// Rounded as by two ops: what cancels out must do so here too, and random numbers keep their last digit.
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif
LOOP(add_to_product, a[i] * b[i] + c[i])
LOOP(subtract_from_product, a[i] * b[i] - c[i])
LOOP(subtract_product, c[i] - a[i] * b[i])
#if defined(__clang__)
#pragma clang fp contract(fast)
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

// Of truths, which are one or zero.
#define TRUTHS(name, condition) LOOP(name, (condition) ? 1.0f : 0.0f)
TRUTHS(is_greater, a[i] > b[i])
TRUTHS(is_greater_or_equal, a[i] >= b[i])
TRUTHS(is_less, a[i] < b[i])
TRUTHS(is_less_or_equal, a[i] <= b[i])
TRUTHS(is_equal, a[i] == b[i])
TRUTHS(is_not_equal, a[i] != b[i])
TRUTHS(is_nan, a[i] != a[i])
TRUTHS(is_infinite, (as_bits(a[i]) & 0x7fffffffu) == 0x7f800000u)
TRUTHS(is_finite, (as_bits(a[i]) & 0x7f800000u) != 0x7f800000u)
#undef TRUTHS
LOOP(both, a[i] * b[i])
LOOP(either, a[i] > b[i] ? a[i] : b[i])
LOOP(opposite, 1.0f - a[i])
LOOP(as_number, a[i])
LOOP(choose, a[i] != 0.0f ? b[i] : c[i])

INLINE float lesser_of(float a, float b) { return a < b || a != a ? a : b; }
LOOP(clip, lesser_of(a[i], c[i]) > b[i] || a[i] != a[i] || c[i] != c[i] ? lesser_of(a[i], c[i]) : b[i])

#undef LOOP

void fill(float x, float* __restrict out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = x;
}

// Several sums at a time, as each addition waits for the one before it.
template <bool OF_PRODUCTS>
INLINE float added_up(const float* a, const float* b, size_t n) {
    size_t i = 0;
    float total = 0.0f;
    if (n >= LANES) {
        Vector sums[4] = {};
        for (; i + 4 * LANES <= n; i += 4 * LANES) {
            for (size_t k = 0; k < 4; ++k) {
                const Vector x = load(a + i + k * LANES);
                sums[k] += OF_PRODUCTS ? x * load(b + i + k * LANES) : x;
            }
        }
        for (; i + LANES <= n; i += LANES) sums[0] += OF_PRODUCTS ? load(a + i) * load(b + i) : load(a + i);
        float lanes[LANES];
        store(lanes, (sums[0] + sums[1]) + (sums[2] + sums[3]));
        for (size_t k = 0; k < LANES; ++k) total += lanes[k];
    }
    for (; i < n; ++i) total += OF_PRODUCTS ? a[i] * b[i] : a[i];
    return total;
}

float sum_of(const float* a, size_t n) { return added_up<false>(a, a, n); }

float sum_of_products(const float* a, const float* b, size_t n) { return added_up<true>(a, b, n); }

INLINE float larger(float a, float b) { return a > b || a != a ? a : b; }

// NaN where there is one.
float largest_of(const float* a, size_t n) {
    float found[LANES];
    size_t i = 0;
    for (size_t k = 0; k < LANES; ++k) found[k] = as_float(0xff800000u);
    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < LANES; ++k) found[k] = larger(found[k], a[i + k]);
    }
    float most = as_float(0xff800000u);
    for (size_t k = 0; k < LANES; ++k) most = larger(most, found[k]);
    for (; i < n; ++i) most = larger(most, a[i]);
    return most;
}

void add_to(const float* __restrict a, float* __restrict sums, size_t n) {
    for (size_t i = 0; i < n; ++i) sums[i] += a[i];
}

void add_products_to(const float* __restrict a, const float* __restrict b, float* __restrict sums, size_t n) {
    for (size_t i = 0; i < n; ++i) sums[i] += a[i] * b[i];
}

void read_truths(const uint8_t* __restrict from, float* __restrict out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = from[i] ? 1.0f : 0.0f;
}

void write_truths(const float* __restrict from, uint8_t* __restrict out, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = from[i] != 0.0f;
}

constexpr RowKernels ROW_KERNELS = {fill, largest_of, sum_of, sum_of_products, add_to, add_products_to, read_truths, write_truths,
                                    add_to_product, subtract_from_product, subtract_product};

// By the names of the ops that they do, with inputs in the order of these, and after them an attribute.
constexpr Named LOOPS[] = {
    {"_Copy", copy}, {"Add", add}, {"AddV2", add}, {"Sub", subtract}, {"Mul", multiply}, {"RealDiv", divide},
    {"Neg", negate}, {"Square", square}, {"Sigmoid", apply_sigmoid}, {"Tanh", apply_tanh},
    {"Relu", apply_relu}, {"SigmoidGrad", sigmoid_gradient}, {"TanhGrad", tanh_gradient},
    {"ReluGrad", relu_gradient}, {"Abs", absolute}, {"Exp", apply_exp}, {"Log1p", apply_log1p},
    {"SquaredDifference", squared_difference}, {"Sqrt", apply_sqrt}, {"Rsqrt", apply_rsqrt},
    {"RsqrtGrad", rsqrt_gradient}, {"SqrtGrad", sqrt_gradient}, {"Log", apply_log}, {"Erf", apply_erf},
    {"Maximum", maximum}, {"Minimum", minimum}, {"Reciprocal", reciprocal}, {"Inv", reciprocal},
    {"ReciprocalGrad", reciprocal_gradient}, {"InvGrad", reciprocal_gradient}, {"Expm1", apply_expm1},
    {"Elu", apply_elu}, {"EluGrad", elu_gradient}, {"Selu", apply_selu}, {"SeluGrad", selu_gradient},
    {"Softplus", apply_softplus}, {"SoftplusGrad", softplus_gradient}, {"Relu6", apply_relu6}, {"Relu6Grad", relu6_gradient},
    {"Sin", apply_sin}, {"Cos", apply_cos}, {"Tan", apply_tan}, {"Asin", apply_asin}, {"Acos", apply_acos}, {"Atan", apply_atan},
    {"Sinh", apply_sinh}, {"Cosh", apply_cosh}, {"Rint", round_to_nearest}, {"Round", round_to_nearest}, {"Floor", round_down},
    {"Ceil", round_up}, {"FloorDiv", floor_quotient}, {"Sign", sign}, {"LeakyRelu", leaky_relu}, {"LeakyReluGrad", leaky_relu_gradient},
    {"Softsign", softsign}, {"SoftsignGrad", softsign_gradient}, {"Div", divide}, {"DivNoNan", divide_unless_by_zero},
    {"MulNoNan", multiply_unless_by_zero}, {"Pow", power}, {"_Root", power_of_half}, {"Xdivy", zero_over}, {"Xlogy", zero_times_logarithm}, {"ZerosLike", zeros}, {"OnesLike", ones},
    {"Greater", is_greater}, {"GreaterEqual", is_greater_or_equal}, {"Less", is_less}, {"LessEqual", is_less_or_equal},
    {"Equal", is_equal}, {"NotEqual", is_not_equal}, {"IsNan", is_nan}, {"IsInf", is_infinite}, {"IsFinite", is_finite},
    {"LogicalAnd", both}, {"LogicalOr", either}, {"LogicalNot", opposite}, {"Cast", as_number}, {"Select", choose}, {"SelectV2", choose},
    {"ClipByValue", clip},
};
