// Windows of two by two, as each kind of processor goes through them: included by pooling.cpp through each_processor.h.

#if defined(__GNUC__)
typedef int32_t Whole __attribute__((vector_size(LANES * sizeof(int32_t)), aligned(sizeof(int32_t)), may_alias));
typedef uint8_t Bytes __attribute__((vector_size(LANES), aligned(1), may_alias));

INLINE void store_places(uint8_t* to, Whole places) { *reinterpret_cast<Bytes*>(to) = __builtin_convertvector(places, Bytes); }
INLINE Whole load_places(const uint8_t* from) { return __builtin_convertvector(*reinterpret_cast<const Bytes*>(from), Whole); }
#else
typedef int32_t Whole;

INLINE void store_places(uint8_t* to, Whole place) { *to = static_cast<uint8_t>(place); }
INLINE Whole load_places(const uint8_t* from) { return *from; }
#endif

// Of equal ones the first counts; what is not a number is greater than all numbers.
INLINE void take_larger(Vector& found, Whole& place, Vector other, int32_t at) {
    const auto larger = (other > found) | (other != other);
    const Whole here = Whole{} + at;
    found = larger ? other : found;
    place = larger ? here : place;
}

void pool_row(const float* upper, const float* lower, size_t pixels, size_t channels, float* out, uint8_t* places) {
    for (size_t x = 0; x < pixels; ++x, upper += 2 * channels, lower += 2 * channels, out += channels, places += channels) {
        for (size_t c = 0; c < channels; c += LANES) {
            Vector found = load(upper + c);
            Whole place = {};
            take_larger(found, place, load(upper + channels + c), 1);
            take_larger(found, place, load(lower + c), 2);
            take_larger(found, place, load(lower + channels + c), 3);
            store(out + c, found);
            store_places(places + c, place);
        }
    }
}

void spread_row(const float* gradient, const uint8_t* places, size_t pixels, size_t channels, float* upper, float* lower) {
    const Vector zero = {};
    for (size_t x = 0; x < pixels; ++x, upper += 2 * channels, lower += 2 * channels, gradient += channels, places += channels) {
        for (size_t c = 0; c < channels; c += LANES) {
            const Vector given = load(gradient + c);
            const Whole place = load_places(places + c);
            store(upper + c, place == 0 ? given : zero);
            store(upper + channels + c, place == 1 ? given : zero);
            store(lower + c, place == 2 ? given : zero);
            store(lower + channels + c, place == 3 ? given : zero);
        }
    }
}

constexpr Halving HALVING = {pool_row, spread_row};
