// Part of the kernels that transpose: included by them, within the namespace of each kind of processor.

#undef TURNS
#if defined(__GNUC__) && (defined(__clang__) || __GNUC__ >= 12)
#define TURNS
template <int... lanes>
struct Lanes {};
template <int count, int... lanes>
struct UpTo : UpTo<count - 1, count - 1, lanes...> {};
template <int... lanes>
struct UpTo<0, lanes...> {
    using type = Lanes<lanes...>;
};

// Two rows of a square exchange what is `step` beside the diagonal.
template <int step, int... lanes>
INLINE void exchange(Vector& upper, Vector& lower, Lanes<lanes...>) {
    const Vector a = upper, b = lower;
    upper = __builtin_shufflevector(a, b, (lanes & step ? int(LANES) + lanes - step : lanes)...);
    lower = __builtin_shufflevector(a, b, (lanes & step ? int(LANES) + lanes : lanes + step)...);
}

template <size_t step>
INLINE void turn_square(Vector (&square)[LANES]) {
#pragma GCC unroll 16
    for (size_t i = 0; i < LANES; ++i) {
        if (!(i & step)) exchange<int(step)>(square[i], square[i + step], typename UpTo<int(LANES)>::type());
    }
    if constexpr (step > 1) turn_square<step / 2>(square);
}
#endif
