// What surrounds declarations.
#ifndef TENSORFLOW_CORE_PLATFORM_MACROS_H_
#define TENSORFLOW_CORE_PLATFORM_MACROS_H_

#define TF_DISALLOW_COPY_AND_ASSIGN(Type) \
    Type(const Type&) = delete;           \
    void operator=(const Type&) = delete

#if defined(__GNUC__) || defined(__clang__)
#define TF_PREDICT_FALSE(condition) (__builtin_expect(!!(condition), 0))
#define TF_PREDICT_TRUE(condition) (__builtin_expect(!!(condition), 1))
#define TF_MUST_USE_RESULT __attribute__((warn_unused_result))
#define TF_ATTRIBUTE_ALWAYS_INLINE __attribute__((always_inline))
#define TF_ATTRIBUTE_NOINLINE __attribute__((noinline))
#define TF_ATTRIBUTE_UNUSED __attribute__((unused))
#define TF_ATTRIBUTE_USED __attribute__((used))
#else
#define TF_PREDICT_FALSE(condition) (condition)
#define TF_PREDICT_TRUE(condition) (condition)
#define TF_MUST_USE_RESULT
#define TF_ATTRIBUTE_ALWAYS_INLINE
#define TF_ATTRIBUTE_NOINLINE
#define TF_ATTRIBUTE_UNUSED
#define TF_ATTRIBUTE_USED
#endif

// The version of these headers: a library that was compiled with others is not loaded, as it asks for a symbol that is not there.
#define EVERFLOW_ABI everflow_framework_abi_3
extern "C" const char EVERFLOW_ABI;
namespace {
const char* const everflow_compiled_for TF_ATTRIBUTE_USED = &EVERFLOW_ABI;
}

#define EVERFLOW_JOINED_(a, b) a##b
#define EVERFLOW_JOINED(a, b) EVERFLOW_JOINED_(a, b)

#endif
