#include "hashes.h"

#include <cstring>
#include <utility>

#include "text.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// Words are little-endian in all three algorithms, as they are on the processors that we run on.
template <typename Word>
Word load(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

uint64_t word64(const char* from) { return load<uint64_t>(from); }
uint64_t right(uint64_t x, int n) { return x >> n | x << (64 - n); }
uint64_t left(uint64_t x, int n) { return x << n | x >> (64 - n); }
uint64_t folded(uint64_t x) { return x ^ x >> 47; }

constexpr uint64_t kFarm0 = 0xc3a5c85c97cb3127, kFarm1 = 0xb492b66fbe98f273, kFarm2 = 0x9ae16a3b2f90404f;

struct Pair {
    uint64_t first, second;
};

uint64_t farm_mixed(uint64_t u, uint64_t v, uint64_t factor) {
    const uint64_t a = folded((u ^ v) * factor);
    return folded((v ^ a) * factor) * factor;
}

uint64_t farm_up_to_16(const char* s, size_t n) {
    const uint64_t factor = kFarm2 + n * 2;
    if (n >= 8) {
        const uint64_t a = word64(s) + kFarm2, b = word64(s + n - 8);
        return farm_mixed(right(b, 37) * factor + a, (right(a, 25) + b) * factor, factor);
    }
    if (n >= 4) return farm_mixed(n + (uint64_t{load<uint32_t>(s)} << 3), load<uint32_t>(s + n - 4), factor);
    if (n == 0) return kFarm2;
    const auto byte = [s](size_t i) { return static_cast<uint8_t>(s[i]); };
    const uint32_t y = byte(0) + (uint32_t{byte(n / 2)} << 8);
    const uint32_t z = static_cast<uint32_t>(n) + (uint32_t{byte(n - 1)} << 2);
    return folded(y * kFarm2 ^ z * kFarm0) * kFarm2;
}

// The part that strings of 17 to 64 bytes share: from their first and last 16 bytes.
struct Ends {
    Ends(const char* s, size_t n, uint64_t first_factor, uint64_t factor) {
        a = word64(s) * first_factor;
        const uint64_t b = word64(s + 8), c = word64(s + n - 8) * factor, d = word64(s + n - 16) * kFarm2;
        y = right(a + b, 43) + right(c, 30) + d;
        z = a + right(b + kFarm2, 18) + c;
    }
    uint64_t a, y, z;
};

uint64_t farm_up_to_32(const char* s, size_t n) {
    const uint64_t factor = kFarm2 + n * 2;
    const Ends ends(s, n, kFarm1, factor);
    return farm_mixed(ends.y, ends.z, factor);
}

uint64_t farm_up_to_64(const char* s, size_t n) {
    const uint64_t factor = kFarm2 + n * 2;
    const Ends ends(s, n, kFarm2, factor);
    const uint64_t z = farm_mixed(ends.y, ends.z, factor);
    const uint64_t e = word64(s + 16) * factor, f = word64(s + 24);
    const uint64_t g = (ends.y + word64(s + n - 32)) * factor, h = (z + word64(s + n - 24)) * factor;
    return farm_mixed(right(e + f, 43) + right(g, 30) + h, e + right(f + ends.a, 18) + g, factor);
}

Pair farm_weak(const char* s, uint64_t a, uint64_t b) {
    const uint64_t w = word64(s), x = word64(s + 8), y = word64(s + 16), z = word64(s + 24);
    a += w;
    b = right(b + a + z, 21);
    const uint64_t before = a;
    a += x + y;
    b += right(a, 44);
    return {a + z, b + before};
}

// Long strings: 64 bytes at a time; the last 64 bytes are mixed in once more with another factor.
struct FarmState {
    uint64_t x, y, z;
    Pair v{0, 0}, w{0, 0};

    void take(const char* s, uint64_t factor, uint64_t weight) {
        x = right(x + y + v.first + word64(s + 8), 37) * factor;
        y = right(y + v.second + word64(s + 48), 42) * factor;
        x ^= w.second * weight;
        y += v.first * weight + word64(s + 40);
        z = right(z + w.first, 33) * factor;
        v = farm_weak(s, v.second * factor, x + w.first);
        w = farm_weak(s + 32, z + w.second, y + word64(s + 16));
        std::swap(z, x);
    }
};

uint64_t farm_long(const char* s, size_t n) {
    constexpr uint64_t seed = 81;
    const uint64_t y = seed * kFarm1 + 113;
    FarmState state{seed * kFarm2 + word64(s), y, folded(y * kFarm2 + 113) * kFarm2};
    const char* const last = s + n - 64;
    const size_t rest = (n - 1) % 64;
    for (const char* const end = s + (n - 1) / 64 * 64; s != end; s += 64) state.take(s, kFarm1, 1);
    const uint64_t factor = kFarm1 + ((state.z & 0xff) << 1);
    state.w.first += rest;
    state.v.first += state.w.first;
    state.w.first += state.v.first;
    state.take(last, factor, 9);
    return farm_mixed(farm_mixed(state.v.first, state.w.first, factor) + folded(state.y) * kFarm0 + state.z,
                      farm_mixed(state.v.second, state.w.second, factor) + state.x, factor);
}

// 128 bits: what a text of less than 128 bytes and a seed give, 16 bytes at a time.
Pair farm_seeded(const char* s, size_t n, Pair seed) {
    constexpr uint64_t factor = 0x9ddfea08eb382d69;
    const auto mixed = [](uint64_t u, uint64_t v) { return farm_mixed(u, v, factor); };
    uint64_t a = seed.first, b = seed.second, c, d;
    if (n <= 16) {
        a = folded(a * kFarm1) * kFarm1;
        c = b * kFarm1 + farm_up_to_16(s, n);
        d = folded(a + (n >= 8 ? word64(s) : c));
    } else {
        c = mixed(word64(s + n - 8) + kFarm1, a);
        d = mixed(b + n, c + word64(s + n - 16));
        a += d;
        for (; n > 16; s += 16, n -= 16) {
            a = (a ^ folded(word64(s) * kFarm1) * kFarm1) * kFarm1;
            b ^= a;
            c = (c ^ folded(word64(s + 8) * kFarm1) * kFarm1) * kFarm1;
            d ^= c;
        }
    }
    a = mixed(a, c);
    b = mixed(d, b);
    return {a ^ b, mixed(b, a)};
}

Pair farm_seeded_long(const char* s, size_t n, Pair seed) {
    constexpr uint64_t factor = 0x9ddfea08eb382d69;
    const auto mixed = [](uint64_t u, uint64_t v) { return farm_mixed(u, v, factor); };
    FarmState state{seed.first, seed.second, n * kFarm1};
    auto& [x, y, z, v, w] = state;
    v.first = right(y ^ kFarm1, 49) * kFarm1 + word64(s);
    v.second = right(v.first, 42) * kFarm1 + word64(s + 8);
    w.first = right(y + z, 35) * kFarm1 + x;
    w.second = right(x + word64(s + 88), 53) * kFarm1;
    for (; n >= 128; s += 128, n -= 128) {
        state.take(s, kFarm1, 1);
        state.take(s + 64, kFarm1, 1);
    }
    x += right(v.first + z, 49) * kFarm0;
    y = y * kFarm0 + right(w.second, 37);
    z = z * kFarm0 + right(w.first, 27);
    w.first *= 9;
    v.first *= kFarm0;
    // What is left, from its end, 32 bytes at a time; the last of them reach back into what was taken already.
    for (size_t done = 0; done < n;) {
        done += 32;
        y = right(x + y, 42) * kFarm0 + v.second;
        w.first += word64(s + n - done + 16);
        x = x * kFarm0 + w.first;
        z += w.second + word64(s + n - done);
        w.second += v.first;
        v = farm_weak(s + n - done, v.first + z, v.second);
        v.first *= kFarm0;
    }
    x = mixed(x, v.first);
    y = mixed(y + z, w.first);
    return {mixed(x + v.second, w.second) + y, mixed(x + w.second, y + v.second)};
}

Pair farm_fingerprint_128(std::string_view text) {
    const char* s = text.data();
    size_t n = text.size();
    Pair seed{kFarm0, kFarm1};
    if (n >= 16) {
        seed = {word64(s), word64(s + 8) + kFarm0};
        s += 16, n -= 16;
    }
    return n < 128 ? farm_seeded(s, n, seed) : farm_seeded_long(s, n, seed);
}

// The words of the last bytes, fewer than a word of them.
uint64_t tail(const char* s, size_t n) {
    uint64_t word = 0;
    std::memcpy(&word, s, n);
    return word;
}

struct SipState {
    uint64_t v0, v1, v2, v3;

    void round() {
        v0 += v1;
        v2 += v3;
        v1 = left(v1, 13) ^ v0;
        v3 = left(v3, 16) ^ v2;
        v0 = left(v0, 32);
        v2 += v1;
        v0 += v3;
        v1 = left(v1, 17) ^ v2;
        v3 = left(v3, 21) ^ v0;
        v2 = left(v2, 32);
    }

    void take(uint64_t word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
    }
};

using Hashes = nb::ndarray<int64_t, nb::c_contig, nb::device::cpu>;

// Writes hash(text) modulo the number of buckets for each text.
template <typename Hash>
void fill_buckets(nb::handle texts, const Hashes& out, uint64_t buckets, const Hash& hash) {
    const Views views = views_of(texts);
    if (views.size() != out.size()) throw nb::value_error("there must be a place for each hash");
    int64_t* const results = out.data();
    nb::gil_scoped_release unlocked;
    for (size_t i = 0; i < views.size(); ++i) results[i] = static_cast<int64_t>(hash(views[i]) % buckets);
}

}  // namespace

uint64_t farm_fingerprint(std::string_view text) {
    const size_t n = text.size();
    if (n <= 16) return farm_up_to_16(text.data(), n);
    if (n <= 32) return farm_up_to_32(text.data(), n);
    return n <= 64 ? farm_up_to_64(text.data(), n) : farm_long(text.data(), n);
}

uint64_t murmur_hash(std::string_view text) {
    constexpr uint64_t seed = 0xdecafcaffe, factor = 0xc6a4a7935bd1e995;
    
    uint64_t hash = seed ^ text.size() * factor;
    const char* s = text.data();
    const char* const end = s + text.size() / 8 * 8;
    for (; s != end; s += 8) hash = (hash ^ folded(word64(s) * factor) * factor) * factor;
    if (const size_t rest = text.size() % 8) hash = (hash ^ tail(s, rest)) * factor;
    return folded(folded(hash) * factor);
}

uint64_t sip_hash(std::string_view text, uint64_t key0, uint64_t key1) {
    SipState state{key0 ^ 0x736f6d6570736575, key1 ^ 0x646f72616e646f6d, key0 ^ 0x6c7967656e657261, key1 ^ 0x7465646279746573};
    const char* s = text.data();
    const char* const end = s + text.size() / 8 * 8;
    for (; s != end; s += 8) state.take(word64(s));
    state.take(tail(s, text.size() % 8) | static_cast<uint64_t>(text.size()) << 56);
    state.v2 ^= 0xff;
    for (int i = 0; i < 4; ++i) state.round();
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

void add_hashes(nb::module_& module) {
    module.def(
        "murmur_buckets",
        [](nb::handle texts, Hashes out, uint64_t buckets) { fill_buckets(texts, out, buckets, murmur_hash); },
        nb::arg("texts"), nb::arg("out").noconvert(), nb::arg("buckets"));
    module.def(
        "farm_buckets",
        [](nb::handle texts, Hashes out, uint64_t buckets) { fill_buckets(texts, out, buckets, farm_fingerprint); },
        nb::arg("texts"), nb::arg("out").noconvert(), nb::arg("buckets"));
    module.def(
        "hashes_as_floats",
        [](nb::handle texts, nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
            const Views views = views_of(texts);
            if (views.size() != out.size()) throw nb::value_error("there must be a place for each text");
            float* results = out.data();
            nb::gil_scoped_release unlocked;
            // The C++ library's own hash, as TensorFlow takes it: trees that it grew know texts by these numbers.
            for (const auto& view : views) *results++ = static_cast<float>(std::hash<std::string_view>()(view));
        },
        nb::arg("texts"), nb::arg("out").noconvert());
    module.def(
        "farm_fingerprints_128",
        [](nb::handle texts, Hashes out) {
            const Views views = views_of(texts);
            if (2 * views.size() != out.size()) throw nb::value_error("there must be two places for each text");
            int64_t* results = out.data();
            nb::gil_scoped_release unlocked;
            for (const auto& view : views) {
                const Pair both = farm_fingerprint_128(view);
                *results++ = static_cast<int64_t>(both.first);
                *results++ = static_cast<int64_t>(both.second);
            }
        },
        nb::arg("texts"), nb::arg("out").noconvert());
    module.def(
        "sip_buckets",
        [](nb::handle texts, Hashes out, uint64_t buckets, uint64_t key0, uint64_t key1) {
            fill_buckets(texts, out, buckets, [=](std::string_view text) { return sip_hash(text, key0, key1); });
        },
        nb::arg("texts"), nb::arg("out").noconvert(), nb::arg("buckets"), nb::arg("key0"), nb::arg("key1"));
    module.def("farm_fingerprint", [](nb::bytes text) { return farm_fingerprint({text.c_str(), text.size()}); }, nb::arg("text"));
    module.def(
        "farm_fingerprints",
        [](nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> rows,
           nb::ndarray<uint64_t, nb::c_contig, nb::device::cpu> out) {
            const size_t size = rows.shape(1);
            const auto* const bytes = reinterpret_cast<const char*>(rows.data());
            uint64_t* const results = out.data();
            const size_t count = std::min(rows.shape(0), out.size());
            nb::gil_scoped_release unlocked;
            for (size_t i = 0; i < count; ++i) results[i] = farm_fingerprint({bytes + i * size, size});
        },
        nb::arg("rows").noconvert(), nb::arg("out").noconvert());
}

}  // namespace everflow
