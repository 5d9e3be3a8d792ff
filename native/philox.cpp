#include "philox.h"

#include "processor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define EVERFLOW_AVX2 1
#include <immintrin.h>
#endif

namespace everflow {
namespace {

constexpr uint32_t kFirstFactor = 0xD2511F53u, kSecondFactor = 0xCD9E8D57u;
constexpr uint32_t kFirstWeyl = 0x9E3779B9u, kSecondWeyl = 0xBB67AE85u;
constexpr int kRounds = 10;

void one_sample(const Stream& stream, uint32_t* out) {
    uint32_t a = static_cast<uint32_t>(stream.low), b = static_cast<uint32_t>(stream.low >> 32);
    uint32_t c = static_cast<uint32_t>(stream.high), d = static_cast<uint32_t>(stream.high >> 32);
    uint32_t key0 = static_cast<uint32_t>(stream.key), key1 = static_cast<uint32_t>(stream.key >> 32);
    for (int round = 0; round < kRounds; ++round) {
        const uint64_t first = uint64_t{kFirstFactor} * a;
        const uint64_t second = uint64_t{kSecondFactor} * c;
        a = static_cast<uint32_t>(second >> 32) ^ b ^ key0;
        b = static_cast<uint32_t>(second);
        c = static_cast<uint32_t>(first >> 32) ^ d ^ key1;
        d = static_cast<uint32_t>(first);
        key0 += kFirstWeyl;
        key1 += kSecondWeyl;
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

#ifdef EVERFLOW_AVX2

constexpr size_t kVectors = 4, kLanes = 4 * kVectors;

// Sixteen samples at once, which must not cross a carry into the upper half of the position. Each word has a 64 bit
// lane of its own; the multiplication reads only the lane's lower half, so what gathers in the upper halves is harmless.
__attribute__((target("avx2"))) void lanes_of_samples(const Stream& stream, uint64_t stride, uint32_t* out) {
    const __m256i first_factor = _mm256_set1_epi64x(kFirstFactor), second_factor = _mm256_set1_epi64x(kSecondFactor);
    const auto steps = static_cast<long long>(stride);
    __m256i a[kVectors], b[kVectors], c[kVectors], d[kVectors];
    __m256i position = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(stream.low)),
                                        _mm256_set_epi64x(3 * steps, 2 * steps, steps, 0));
    for (size_t v = 0; v < kVectors; ++v) {
        a[v] = position;
        b[v] = _mm256_srli_epi64(position, 32);
        c[v] = _mm256_set1_epi64x(static_cast<long long>(stream.high));
        d[v] = _mm256_srli_epi64(c[v], 32);
        position = _mm256_add_epi64(position, _mm256_set1_epi64x(4 * steps));
    }
    uint32_t key0 = static_cast<uint32_t>(stream.key), key1 = static_cast<uint32_t>(stream.key >> 32);
    for (int round = 0; round < kRounds; ++round) {
        const __m256i keys0 = _mm256_set1_epi64x(key0), keys1 = _mm256_set1_epi64x(key1);
        for (size_t v = 0; v < kVectors; ++v) {
            const __m256i first = _mm256_mul_epu32(a[v], first_factor), second = _mm256_mul_epu32(c[v], second_factor);
            a[v] = _mm256_xor_si256(_mm256_srli_epi64(second, 32), _mm256_xor_si256(b[v], keys0));
            b[v] = second;
            c[v] = _mm256_xor_si256(_mm256_srli_epi64(first, 32), _mm256_xor_si256(d[v], keys1));
            d[v] = first;
        }
        key0 += kFirstWeyl;
        key1 += kSecondWeyl;
    }
    for (size_t v = 0; v < kVectors; ++v) {
        const __m256i ab = _mm256_blend_epi32(a[v], _mm256_slli_epi64(b[v], 32), 0xAA);
        const __m256i cd = _mm256_blend_epi32(c[v], _mm256_slli_epi64(d[v], 32), 0xAA);
        const __m256i even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);
        auto* const to = reinterpret_cast<__m256i*>(out + 16 * v);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    }
}

#endif

}  // namespace

void philox_samples(Stream stream, uint64_t stride, size_t count, uint32_t* out) {
    while (count > 0) {
        size_t done = 1;
#ifdef EVERFLOW_AVX2
        if (processor() >= Processor::avx2 && count >= kLanes && stream.after(kLanes * stride).high == stream.high) {
            lanes_of_samples(stream, stride, out);
            done = kLanes;
        } else
#endif
            one_sample(stream, out);
        stream = stream.after(done * stride);
        count -= done;
        out += 4 * done;
    }
}

}  // namespace everflow
