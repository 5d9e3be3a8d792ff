// The name that gpu_kernel_helper.h had before.
#ifndef TENSORFLOW_CORE_UTIL_CUDA_KERNEL_HELPER_H_
#define TENSORFLOW_CORE_UTIL_CUDA_KERNEL_HELPER_H_

#include "tensorflow/core/util/gpu_kernel_helper.h"

#endif
