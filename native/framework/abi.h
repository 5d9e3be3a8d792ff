// How Everflow talks to libtensorflow_framework, and through it to libraries of custom ops: plain functions and structs. Python calls most
// of them through ctypes; kernels are run by custom_ops.cpp, which is part of the extension module.
#ifndef EVERFLOW_FRAMEWORK_ABI_H_
#define EVERFLOW_FRAMEWORK_ABI_H_

#include <cstdint>

extern "C" {

struct EverflowTensor {
    int32_t type;
    int32_t rank;
    const int64_t* sizes;
    // Numbers, or std::strings, or ResourceHandles.
    void* data;
    // Called with `owner` when nobody needs the memory any more; may be null.
    void (*release)(void*);
    void* owner;
};

// Memory for an output of a call; false where there is none. `sizes` lasts as long as the call.
typedef bool (*EverflowAllocate)(void* call, int32_t output, EverflowTensor* tensor);
// An output: in memory that came from `allocate` or with an input (`owner` tells), or in other memory, which lasts until the end of this call.
typedef void (*EverflowDeliver)(void* call, int32_t output, const EverflowTensor* tensor);

struct EverflowCall {
    void* call;
    EverflowAllocate allocate;
    EverflowDeliver deliver;
};

// Runs a kernel; the code of its status, whose words `failed` is called with.
typedef int32_t (*EverflowCompute)(void* kernel, const EverflowTensor* inputs, int32_t count, const EverflowCall* call,
                                   void (*failed)(void* call, const char* message));

// Where the words of an error go.
typedef void (*EverflowFailed)(void* call, const char* message);
// A tensor under a name, or with a number; it lasts until the end of this call.
typedef void (*EverflowTake)(void* call, const char* name, int32_t number, const EverflowTensor* tensor);

// Iterators of C++'s, as Python reads them. All return the code of a status.
struct EverflowIterators {
    // `reader` is handed to what this iterator reads of Python's.
    int32_t (*open)(void* dataset, const char* prefix, void* reader, void** iterator, void* call, EverflowFailed failed);
    int32_t (*next)(void* iterator, bool* end, void* call, EverflowTake take, EverflowFailed failed);
    int32_t (*save)(void* iterator, void* call, EverflowTake take, EverflowFailed failed);
    int32_t (*restore)(void* iterator, const char* const* names, const EverflowTensor* tensors, int32_t count, void* call, EverflowFailed failed);
    void (*release)(void* iterator);
};

// Streams of Python's, as C++ reads them.
struct EverflowStreams {
    int32_t (*open)(void* stream, void* reader, void** cursor, void* call, EverflowFailed failed);
    int32_t (*next)(void* cursor, const int32_t* types, int32_t count, bool* end, void* call, EverflowTake take, EverflowFailed failed);
    // The position as a text.
    int32_t (*save)(void* cursor, void* call, void (*take)(void* call, const char* text, int64_t size), EverflowFailed failed);
    int32_t (*restore)(void* cursor, const char* text, int64_t size, void* call, EverflowFailed failed);
    int64_t (*count)(void* stream);
    void (*release)(void* stream_or_cursor);
};

}  // extern "C"

#endif
