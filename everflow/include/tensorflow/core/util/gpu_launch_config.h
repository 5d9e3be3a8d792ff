// How kernels are spread over a GPU: part of gpu_kernel_helper.h.
#ifndef TENSORFLOW_CORE_UTIL_GPU_LAUNCH_CONFIG_H_
#define TENSORFLOW_CORE_UTIL_GPU_LAUNCH_CONFIG_H_

#include "tensorflow/core/util/gpu_kernel_helper.h"

#endif
