// Compiles the file that KERNELS names once for each kind of processor, in a namespace of its own. CHOSEN(name) is the version of one of
// its constants for the processor at hand.
//
// Such a file includes nothing and calls nothing of std: a function of std that was compiled for one kind of processor could become,
// by the linker's choice, the one that all callers get. Its own functions stay within the translation unit.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "processor.h"

// SIDE_BY_SIDE before a loop says that no turn needs what another one wrote.
#if defined(__clang__)
#define INLINE inline __attribute__((always_inline))
#define SIDE_BY_SIDE _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INLINE inline __attribute__((always_inline))
#define SIDE_BY_SIDE _Pragma("GCC ivdep")
#else
#define INLINE inline
#define SIDE_BY_SIDE
#endif

// Multiplying and adding may be one instruction in kernels, unless EXACT says that all processors must give the same digits; comparisons
// of NaN need no traps: else selections are not vectorised.
#if defined(__clang__) && !defined(EXACT)
#pragma clang fp contract(fast)
#elif defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#if defined(EXACT)
#pragma GCC optimize("no-trapping-math")
#else
#pragma GCC optimize("fp-contract=fast", "no-trapping-math")
#endif
#endif

#define KIND baseline
#if !defined(__GNUC__)
#define KIND_LANES 1
#else
#define KIND_LANES 4
#endif
#if defined(__aarch64__)
#define KIND_REGISTERS 32
#else
#define KIND_REGISTERS 16
#endif
#include "kernels_of_kind.h"

#if defined(__GNUC__) && defined(__x86_64__)

#define KIND avx2
#define KIND_LANES 8
#define KIND_REGISTERS 16
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#include "kernels_of_kind.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#define KIND avx512
#define KIND_LANES 16
#define KIND_REGISTERS 32
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")
#endif
#include "kernels_of_kind.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#define CHOSEN(name) chosen(baseline::name, avx2::name, avx512::name)
#else
#define CHOSEN(name) baseline::name
#endif

#if defined(__clang__) && !defined(EXACT)
#pragma clang fp contract(off)
#elif defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
