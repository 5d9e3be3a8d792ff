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

}  // extern "C"

#endif
