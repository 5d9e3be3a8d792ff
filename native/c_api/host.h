// How functions of the C API find what they do: in Python, in whose interpreter the program runs, or which runs in the program.
#ifndef EVERFLOW_C_API_HOST_H_
#define EVERFLOW_C_API_HOST_H_

#include <cstddef>

#include "tensorflow/c/c_api.h"

namespace everflow {

// The address of the function that everflow.c_api has under a name. A program that Everflow can't be found for ends here, with a sentence.
void* found(const char* name);

template <typename Function>
Function* function(const char* name) {
    return reinterpret_cast<Function*>(found(name));
}

// Has a buffer hold a copy of bytes.
void fill(TF_Buffer* buffer, const void* bytes, size_t length);

}  // namespace everflow

// The body of a function that finds its other half, of the same name, at its first call.
#define FORWARD(NAME, ...)                                              \
    static auto* const in_python = everflow::function<decltype(NAME)>(#NAME); \
    return in_python(__VA_ARGS__)

#endif
