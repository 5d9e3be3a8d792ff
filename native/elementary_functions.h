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
