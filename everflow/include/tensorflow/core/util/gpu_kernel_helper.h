// What kernels for GPUs are written with: loops over a grid, launches, atomic sums. For nvcc, with -DGOOGLE_CUDA=1.
#ifndef TENSORFLOW_CORE_UTIL_GPU_KERNEL_HELPER_H_
#define TENSORFLOW_CORE_UTIL_GPU_KERNEL_HELPER_H_

#if GOOGLE_CUDA

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "tensorflow/core/framework/tensor_types.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/platform/types.h"

typedef cudaStream_t gpuStream_t;
typedef cudaError_t gpuError_t;
typedef cudaEvent_t gpuEvent_t;
#define gpuSuccess cudaSuccess

// All threads of a grid share the numbers below n.
#define GPU_1D_KERNEL_LOOP(i, n) for (int i : ::tensorflow::GpuGridRangeX<int>(n))
#define GPU_AXIS_KERNEL_LOOP(i, n, axis) for (int i : ::tensorflow::GpuGridRange##axis<int>(n))
#define CUDA_1D_KERNEL_LOOP(i, n) GPU_1D_KERNEL_LOOP(i, n)
#define CUDA_AXIS_KERNEL_LOOP(i, n, axis) GPU_AXIS_KERNEL_LOOP(i, n, axis)

namespace tensorflow {

// -- how a kernel is spread over the device

struct GpuLaunchConfig {
    // How much work there is, and how the threads that share it are laid out.
    int virtual_thread_count = -1;
    int thread_per_block = -1;
    int block_count = -1;
};
struct Gpu2DLaunchConfig {
    dim3 virtual_thread_count = dim3(0, 0, 0);
    dim3 thread_per_block = dim3(0, 0, 0);
    dim3 block_count = dim3(0, 0, 0);
};
typedef Gpu2DLaunchConfig Gpu3DLaunchConfig;
typedef GpuLaunchConfig CudaLaunchConfig;
typedef Gpu2DLaunchConfig Cuda2DLaunchConfig;
typedef Gpu3DLaunchConfig Cuda3DLaunchConfig;

namespace gpu_launch {

inline int Blocks(int work, int block) { return std::max((work + block - 1) / block, 1); }
// So many threads that all multiprocessors have something to do.
inline int Threads(const Eigen::GpuDevice& d) { return d.getNumGpuMultiProcessors() * d.maxGpuThreadsPerMultiProcessor(); }

}  // namespace gpu_launch

inline GpuLaunchConfig GetGpuLaunchConfig(int work_element_count, const Eigen::GpuDevice& d) {
    const int block = std::min(1024, d.maxGpuThreadsPerBlock());
    const int threads = std::min(gpu_launch::Threads(d), work_element_count);
    GpuLaunchConfig config;
    config.virtual_thread_count = work_element_count;
    config.thread_per_block = block;
    config.block_count = std::min(gpu_launch::Blocks(threads, block), std::max(d.getNumGpuMultiProcessors(), 1) * 32);
    return config;
}
// The same with a number of threads in each block that the kernel asks for.
inline GpuLaunchConfig GetGpuLaunchConfigFixedBlockSize(int work_element_count, const Eigen::GpuDevice& d, int fixed_block_size) {
    GpuLaunchConfig config;
    config.virtual_thread_count = work_element_count;
    config.thread_per_block = fixed_block_size;
    config.block_count = gpu_launch::Blocks(std::min(gpu_launch::Threads(d), work_element_count), fixed_block_size);
    return config;
}
inline Gpu2DLaunchConfig GetGpu2DLaunchConfig(int xdim, int ydim, const Eigen::GpuDevice& d) {
    Gpu2DLaunchConfig config;
    if (xdim <= 0 || ydim <= 0) return config;
    const int columns = std::min(xdim, 256), rows = std::max(256 / columns, 1);
    const int blocks = std::max(gpu_launch::Threads(d) / 256, 1);
    const int across = std::min(gpu_launch::Blocks(xdim, columns), blocks);
    config.virtual_thread_count = dim3(static_cast<unsigned>(xdim), static_cast<unsigned>(ydim), 1);
    config.thread_per_block = dim3(static_cast<unsigned>(columns), static_cast<unsigned>(rows), 1);
    const int down = std::min(std::max(blocks / across, 1), gpu_launch::Blocks(ydim, rows));
    config.block_count = dim3(static_cast<unsigned>(across), static_cast<unsigned>(down), 1);
    return config;
}
inline CudaLaunchConfig GetCudaLaunchConfig(int work_element_count, const Eigen::GpuDevice& d) { return GetGpuLaunchConfig(work_element_count, d); }
inline Cuda2DLaunchConfig GetCuda2DLaunchConfig(int xdim, int ydim, const Eigen::GpuDevice& d) { return GetGpu2DLaunchConfig(xdim, ydim, d); }

#ifdef __CUDACC__

// -- launches

template <typename... Parameters, typename... Arguments>
Status GpuLaunchKernel(void (*function)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, gpuStream_t stream, Arguments... arguments) {
    if (grid.x * grid.y * grid.z == 0 || block.x * block.y * block.z == 0) return Status::OK();
    function<<<grid, block, shared_bytes, stream>>>(arguments...);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? Status::OK() : errors::Internal(cudaGetErrorString(error));
}
template <typename... Parameters, typename... Arguments>
Status CudaLaunchKernel(void (*function)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, gpuStream_t stream, Arguments... arguments) {
    return GpuLaunchKernel(function, grid, block, shared_bytes, stream, arguments...);
}

// -- loops

namespace gpu_launch {

// The numbers from begin to end, step apart.
template <typename T>
class Range {
public:
    class iterator {
    public:
        __device__ iterator(T at, T step) : at_(at), step_(step) {}
        __device__ T operator*() const { return at_; }
        __device__ iterator& operator++() {
            at_ += step_;
            return *this;
        }
        // The last step may lead beyond the end.
        __device__ bool operator!=(const iterator& end) const { return at_ < end.at_; }

    private:
        T at_, step_;
    };

    __device__ Range(T begin, T step, T end) : begin_(begin), step_(step), end_(end) {}
    __device__ iterator begin() const { return iterator(begin_, step_); }
    __device__ iterator end() const { return iterator(end_, 0); }

private:
    T begin_, step_, end_;
};

}  // namespace gpu_launch

template <typename T>
__device__ gpu_launch::Range<T> GpuGridRangeX(T count) {
    return gpu_launch::Range<T>(static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x), static_cast<T>(gridDim.x * blockDim.x), count);
}
template <typename T>
__device__ gpu_launch::Range<T> GpuGridRangeY(T count) {
    return gpu_launch::Range<T>(static_cast<T>(blockIdx.y * blockDim.y + threadIdx.y), static_cast<T>(gridDim.y * blockDim.y), count);
}
template <typename T>
__device__ gpu_launch::Range<T> GpuGridRangeZ(T count) {
    return gpu_launch::Range<T>(static_cast<T>(blockIdx.z * blockDim.z + threadIdx.z), static_cast<T>(gridDim.z * blockDim.z), count);
}
template <typename T>
__device__ gpu_launch::Range<T> CudaGridRangeX(T count) {
    return GpuGridRangeX(count);
}
template <typename T>
__device__ gpu_launch::Range<T> CudaGridRangeY(T count) {
    return GpuGridRangeY(count);
}

// -- memory

// Reads what no thread of the kernel writes.
template <typename T>
__device__ T ldg(const T* address) {
    return __ldg(address);
}
template <typename T>
__device__ T GpuLdg(const T* address) {
    return __ldg(address);
}

template <typename T>
__global__ void SetZero(const int count, T* data) {
    GPU_1D_KERNEL_LOOP(i, count) data[i] = T(0);
}
template <typename T>
__global__ void SetToValue(const int count, T* data, T value) {
    GPU_1D_KERNEL_LOOP(i, count) data[i] = value;
}

// -- what several threads may do to one element; what was there before is returned

namespace gpu_launch {

// Tries again until nobody else has written in between.
template <typename T, typename Change>
__device__ T Exchange(T* address, Change change) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "elements of four or eight bytes");
    union Bits {
        T value;
        typename std::conditional<sizeof(T) == 4, unsigned int, unsigned long long>::type bits;
        __device__ Bits() : bits(0) {}
    };
    typedef decltype(Bits().bits) Word;
    Word* const word = reinterpret_cast<Word*>(address);
    Bits before, after;
    Word seen = *word;
    do {
        before.bits = seen;
        after.value = change(before.value);
        seen = atomicCAS(word, before.bits, after.bits);
    } while (seen != before.bits);
    return before.value;
}

}  // namespace gpu_launch

template <typename T>
__device__ T GpuAtomicAdd(T* address, T value) {
    return gpu_launch::Exchange(address, [value](T now) { return now + value; });
}
__device__ inline float GpuAtomicAdd(float* address, float value) { return atomicAdd(address, value); }
__device__ inline int GpuAtomicAdd(int* address, int value) { return atomicAdd(address, value); }
__device__ inline unsigned int GpuAtomicAdd(unsigned int* address, unsigned int value) { return atomicAdd(address, value); }
#if __CUDA_ARCH__ >= 600 || !defined(__CUDA_ARCH__)
__device__ inline double GpuAtomicAdd(double* address, double value) { return atomicAdd(address, value); }
#endif
template <typename T>
__device__ T GpuAtomicSub(T* address, T value) {
    return GpuAtomicAdd(address, -value);
}
template <typename T>
__device__ T GpuAtomicMax(T* address, T value) {
    return gpu_launch::Exchange(address, [value](T now) { return now < value ? value : now; });
}
template <typename T>
__device__ T GpuAtomicMin(T* address, T value) {
    return gpu_launch::Exchange(address, [value](T now) { return value < now ? value : now; });
}
template <typename T>
__device__ T GpuAtomicMul(T* address, T value) {
    return gpu_launch::Exchange(address, [value](T now) { return now * value; });
}
template <typename T>
__device__ T GpuAtomicDiv(T* address, T value) {
    return gpu_launch::Exchange(address, [value](T now) { return now / value; });
}
#define EVERFLOW_CUDA_ATOMIC(NAME)                        \
    template <typename T>                                 \
    __device__ T CudaAtomic##NAME(T* address, T value) {  \
        return GpuAtomic##NAME(address, value);           \
    }
EVERFLOW_CUDA_ATOMIC(Add)
EVERFLOW_CUDA_ATOMIC(Sub)
EVERFLOW_CUDA_ATOMIC(Max)
EVERFLOW_CUDA_ATOMIC(Min)
EVERFLOW_CUDA_ATOMIC(Mul)
EVERFLOW_CUDA_ATOMIC(Div)
#undef EVERFLOW_CUDA_ATOMIC

// -- what threads of a warp tell each other

static const unsigned kGpuWarpAll = 0xffffffff;
static const unsigned kCudaWarpAll = kGpuWarpAll;

template <typename T>
__device__ T GpuShuffleSync(unsigned mask, T value, int lane, int width = warpSize) {
    return __shfl_sync(mask, value, lane, width);
}
template <typename T>
__device__ T GpuShuffleDownSync(unsigned mask, T value, int delta, int width = warpSize) {
    return __shfl_down_sync(mask, value, static_cast<unsigned>(delta), width);
}
template <typename T>
__device__ T GpuShuffleUpSync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    return __shfl_up_sync(mask, value, delta, width);
}
template <typename T>
__device__ T GpuShuffleXorSync(unsigned mask, T value, int lanes, int width = warpSize) {
    return __shfl_xor_sync(mask, value, lanes, width);
}

#endif  // __CUDACC__

}  // namespace tensorflow

#endif  // GOOGLE_CUDA

#endif
