// Exponentials, logarithms and what is made of them, of one number at a time in loops that the compiler vectorises: included by kernels.

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

struct Power {
    // What the mantissa is more than one.
    float above;
    int32_t exponent;
};

// e^x as a number around one and a power of two, to about one unit in the last place; NaN stays NaN.
INLINE Power powered(float x) {
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
    return {p * r * r + r, static_cast<int32_t>(as_bits(shifted) - 0x4b400000u)};
}

INLINE float power_of_two(int32_t exponent) { return as_float(static_cast<uint32_t>(exponent + 127) << 23); }

// e^x for x within [-87, 88].
INLINE float exponential(float x) {
    x = x > 88.0f ? 88.0f : x;
    x = x < -87.0f ? -87.0f : x;
    const Power found = powered(x);
    return (found.above + 1.0f) * power_of_two(found.exponent);
}

// e^x for all x: the ends of the range of floats are reached in two steps.
INLINE float full_exponential(float x) {
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    const Power found = powered(x);
    const int32_t half = found.exponent >> 1;
    return (found.above + 1.0f) * power_of_two(half) * power_of_two(found.exponent - half);
}

// e^x - 1, of which nothing is lost where x is small.
INLINE float exponential_less_one(float x) {
    const float within = x > 89.0f ? 89.0f : x < -88.0f ? -88.0f : x;
    const Power found = powered(within);
    return found.exponent == 0 ? found.above : full_exponential(x) - 1.0f;
}

// ln(x) for x > 0, infinity included, by a polynomial around one.
INLINE float logarithm(float x) {
    const bool tiny = x < 1.17549435e-38f;
    const uint32_t bits = as_bits(tiny ? x * 8388608.0f : x);
    // The mantissa within [sqrt(1/2), sqrt(2)), so that what remains is small.
    const uint32_t shifted = bits - 0x3f3504f3u;
    const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23) - (tiny ? 23.0f : 0.0f);
    const float m = as_float((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    const float z = m * m;
    const float found = (m + (p * m * z - 2.12194440e-4f * e - 0.5f * z)) + 0.693359375f * e;
    return as_bits(x) == 0x7f800000u ? x : found;
}

// The logarithm of what 1 + x is as a float, corrected for what was lost of x.
INLINE float logarithm_of_one_more(float x) {
    const float u = 1.0f + x;
    const float found = logarithm(u) * (x / (u - 1.0f));
    const float near = u == 1.0f || as_bits(u) == 0x7f800000u ? x : found;
    const float below = x == -1.0f ? as_float(0xff800000u) : as_float(0x7fc00000u);
    return x > -1.0f ? near : x <= -1.0f ? below : x;
}

// Zero where it would be less than any normal number: gates that are shut let nothing pass.
INLINE float sigmoid(float x) {
    const float found = 1.0f / (1.0f + exponential(-x));
    return x < -87.0f ? 0.0f : found;
}

// ln(1 + e^x)
INLINE float softplus(float x) {
    const float size = as_float(as_bits(x) & 0x7fffffffu);
    return (x < 0.0f ? 0.0f : x) + logarithm_of_one_more(full_exponential(-size));
}

// The error function: a quotient of polynomials in x, exact to about four units in the last place, and never more than one.
INLINE float error_function(float x) {
    x = x > 4.0f ? 4.0f : x;
    x = x < -4.0f ? -4.0f : x;
    const float z = x * x;
    float p = -2.72614225801306e-10f;
    p = p * z + 2.77068142495902e-08f;
    p = p * z - 2.10102402082508e-06f;
    p = p * z - 5.69250639462346e-05f;
    p = p * z - 7.34990630326855e-04f;
    p = p * z - 2.95459980854025e-03f;
    p = p * z - 1.60960333262415e-02f;
    float q = -1.45660718464996e-05f;
    q = q * z - 2.13374055278905e-04f;
    q = q * z - 1.68282697438203e-03f;
    q = q * z - 7.37332916720468e-03f;
    q = q * z - 1.42647390514189e-02f;
    const float found = p * x / q;
    const float below = found > 1.0f ? 1.0f : found;
    return below < -1.0f ? -1.0f : below;
}

INLINE float full_logarithm(float x) {
    const float found = x == 0.0f ? as_float(0xff800000u) : as_float(0x7fc00000u);
    return x > 0.0f ? logarithm(x) : found;
}

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

// What remains of an angle when quarter turns are taken away, at most half of one, and how many these are.
struct Angle {
    float rest;
    int32_t quarters;
};

// Up to here the first part of a quarter turn, times how many there are, is exact in double precision.
constexpr float FAR = 1048576.0f;

INLINE bool is_near(float x) { return as_float(as_bits(x) & 0x7fffffffu) <= FAR; }

INLINE Angle near_angle(float x) {
    const double k = (x * 0.6366197723675814 + 6755399441055744.0) - 6755399441055744.0;
    const double rest = (x - k * 1.5707963267341256) - k * 6.077100506506192e-11;
    return {static_cast<float>(rest), static_cast<int32_t>(k)};
}

// Of an angle that is a whole number times a power of two: of the bits of 2/pi, those that stand for whole turns are left out, and 96 of
// those after them are enough.
inline Angle far_angle(float x) {
    constexpr uint32_t BITS[] = {0, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
    const uint32_t bits = as_bits(x);
    if ((bits & 0x7f800000u) == 0x7f800000u) return {x - x, 0};
    const uint64_t mantissa = (bits & 0x007fffffu) | 0x00800000u;
    // The mantissa is multiplied by two to the power of the exponent less 150; a whole turn is four quarters, and 32 zeros come first.
    const uint32_t skipped = ((bits & 0x7fffffffu) >> 23) - 152 + 32;
    const uint32_t* from = BITS + skipped / 32;
    const uint32_t shift = skipped % 32;
    uint32_t words[3];
    for (uint32_t i = 0; i < 3; ++i) words[i] = static_cast<uint32_t>(((uint64_t{from[i]} << 32 | from[i + 1]) << shift) >> 32);
    const uint64_t turns = mantissa * (uint64_t{words[0]} << 32 | words[1]) + (mantissa * words[2] >> 32);
    const auto quarters = static_cast<int32_t>((turns + (uint64_t{1} << 61)) >> 62 & 3);
    const double rest = static_cast<double>(static_cast<int64_t>(turns << 2)) * (1.5707963267948966 / 18446744073709551616.0);
    return bits >> 31 ? Angle{static_cast<float>(-rest), -quarters} : Angle{static_cast<float>(rest), quarters};
}

INLINE float with_sign_of(float x, float size) { return as_float((as_bits(size) & 0x7fffffffu) | (as_bits(x) & 0x80000000u)); }

INLINE float sine_of_rest(float r) {
    const float z = r * r;
    float p = -1.951665581e-4f;
    p = p * z + 8.332173543e-3f;
    p = p * z - 1.666665487e-1f;
    return with_sign_of(r, p * z * r + r);
}

INLINE float cosine_of_rest(float r) {
    const float z = r * r;
    float p = 2.44377303e-5f;
    p = p * z - 1.388736145e-3f;
    p = p * z + 4.166664675e-2f;
    return p * (z * z) + (1.0f - 0.5f * z);
}

// The sine, exact to about one unit in the last place; that of a quarter more is the cosine.
INLINE float sine(Angle angle) {
    const float found = angle.quarters & 1 ? cosine_of_rest(angle.rest) : sine_of_rest(angle.rest);
    return as_float(as_bits(found) ^ (static_cast<uint32_t>(angle.quarters) & 2u) << 30);
}

INLINE float tangent_of(Angle angle) {
    const float s = sine_of_rest(angle.rest), c = cosine_of_rest(angle.rest);
    return angle.quarters & 1 ? -c / s : s / c;
}

// By a polynomial near zero, to which quotients bring numbers from around one and from beyond.
INLINE float arctangent(float x) {
    const float size = as_float(as_bits(x) & 0x7fffffffu);
    const bool beyond = size > 2.41421356f, around = size > 0.414213562f;
    const float t = (beyond ? -1.0f : around ? size - 1.0f : size) / (beyond ? size : around ? size + 1.0f : 1.0f);
    const float high = beyond ? 1.5707964f : around ? 0.7853982f : 0.0f;
    const float low = beyond ? -4.3711390e-8f : around ? -2.1855695e-8f : 0.0f;
    const float z = t * t;
    float p = -6.081160509e-2f;
    p = p * z + 1.059514178e-1f;
    p = p * z - 1.424373908e-1f;
    p = p * z + 1.999848402e-1f;
    p = p * z - 3.333331542e-1f;
    return with_sign_of(x, high + ((p * z * t + low) + t));
}

INLINE float arcsine(float x) { return arctangent(x / __builtin_sqrtf((1.0f - x) * (1.0f + x))); }

INLINE float arccosine(float x) { return 2.0f * arctangent(__builtin_sqrtf((1.0f - x) / (1.0f + x))); }

// Half an exponential may be finite where the exponential is not.
INLINE float hyperbolic_cosine(float x) {
    const float root = full_exponential(as_float(as_bits(x) & 0x7fffffffu) * 0.5f);
    return root * 0.5f * root + 0.5f / (root * root);
}

INLINE float hyperbolic_sine(float x) {
    const float size = as_float(as_bits(x) & 0x7fffffffu);
    const float root = full_exponential(size * 0.5f), above = exponential_less_one(size);
    const float found = size < 1.0f ? 0.5f * (above + above / (above + 1.0f)) : root * 0.5f * root - 0.5f / (root * root);
    return with_sign_of(x, found);
}

// The nearest whole number, of two the even one: from 2^23 on all floats are whole.
INLINE float nearest(float x) {
    const float size = as_float(as_bits(x) & 0x7fffffffu);
    const float found = (size + 8388608.0f) - 8388608.0f;
    return size < 8388608.0f ? with_sign_of(x, found) : x;
}

INLINE float rounded_down(float x) {
    const float found = nearest(x);
    return with_sign_of(x, found > x ? found - 1.0f : found);
}

INLINE float rounded_up(float x) {
    const float found = nearest(x);
    return with_sign_of(x, found < x ? found + 1.0f : found);
}

INLINE double as_double(uint64_t bits) {
    double x;
    std::memcpy(&x, &bits, 8);
    return x;
}

// The logarithm to the base two of x >= 0, in double precision, exact to about 2^-43 of it.
INLINE double binary_logarithm(float x) {
    const bool tiny = x < 1.17549435e-38f;
    const uint32_t shifted = as_bits(tiny ? x * 8388608.0f : x) - 0x3f3504f3u;
    const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23) - (tiny ? 23.0f : 0.0f);
    const double m = as_float((shifted & 0x007fffffu) + 0x3f3504f3u);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 0.28292981042707191;
    p = p * z + 0.31990366643063923;
    p = p * z + 0.41220930077393475;
    p = p * z + 0.57707794189705803;
    p = p * z + 0.96179669411491324;
    p = p * z + 2.88539008177784916;
    const float limit = x == 0.0f ? as_float(0xff800000u) : x;
    return x > 0.0f && x < as_float(0x7f800000u) ? p * s + e : limit;
}

// x to the power of y as C defines it, rounded rightly but for a few in a thousand.
INLINE float raised(float x, float y) {
    const float size = as_float(as_bits(x) & 0x7fffffffu), power = as_float(as_bits(y) & 0x7fffffffu);
    // What is finite, so that it is one where the logarithm is zero.
    double t = (y > 3e38f ? 3e38f : y < -3e38f ? -3e38f : y) * binary_logarithm(size);
    t = t > 200.0 ? 200.0 : t;
    t = t < -200.0 ? -200.0 : t;
    const double shifted = t + 6755399441055744.0, f = t - (shifted - 6755399441055744.0);
    double p = 1.5316641372163878e-5;
    p = p * f + 1.5469863553811034e-4;
    p = p * f + 1.33334218908232905e-3;
    p = p * f + 9.61802510219450188e-3;
    p = p * f + 5.55041097699292564e-2;
    p = p * f + 0.240226512166745433;
    p = p * f + 0.693147180534774636;
    p = p * f + 0.999999999959229764;
    uint64_t bits;
    std::memcpy(&bits, &shifted, 8);
    float found = static_cast<float>(p * as_double((bits << 52) + 0x3ff0000000000000u));
    // From 2^24 on all floats are even numbers.
    const int32_t n = static_cast<int32_t>(power < 16777216.0f ? power : 0.0f);
    const bool is_whole = power >= 16777216.0f || static_cast<float>(n) == power;
    found = x < 0.0f && size < as_float(0x7f800000u) && !is_whole ? as_float(0x7fc00000u) : found;
    const uint32_t turned = is_whole ? static_cast<uint32_t>(n & 1) << 31 : 0;
    found = as_float(as_bits(found) ^ (as_bits(x) & turned));
    return y == 0.0f || x == 1.0f ? 1.0f : found;
}

// x to the power of a half as C defines it: other than the root of a negative zero, or infinity, it is positive.
INLINE float root(float x) { return x == as_float(0xff800000u) ? -x : __builtin_sqrtf(x + 0.0f); }
