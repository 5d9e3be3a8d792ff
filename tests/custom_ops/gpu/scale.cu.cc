#if GOOGLE_CUDA
#define EIGEN_USE_GPU
#include "scale.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/gpu_kernel_helper.h"

using namespace tensorflow;
typedef Eigen::GpuDevice GPUDevice;

template <typename T>
__global__ void ScaleKernel(const int size, const T* in, T* out) {
    GPU_1D_KERNEL_LOOP(i, size) { out[i] = 2 * __ldg(in + i); }
}
template <typename T>
__global__ void SumKernel(const int size, const T* in, T* out, T* most) {
    for (int i : CudaGridRangeX(size)) {
        CudaAtomicAdd(out, ldg(in + i));
        GpuAtomicMax(most, in[i]);
        GpuAtomicAdd(out, GpuShuffleDownSync(kGpuWarpAll, in[i], 1));
    }
}

template <typename T>
struct Scale<GPUDevice, T> {
    void operator()(const GPUDevice& device, int size, const T* in, T* out) {
        GpuLaunchConfig config = GetGpuLaunchConfig(size, device);
        TF_CHECK_OK(GpuLaunchKernel(ScaleKernel<T>, config.block_count, config.thread_per_block, 0, device.stream(), size, in, out));
        Gpu2DLaunchConfig two = GetGpu2DLaunchConfig(size, size, device);
        SumKernel<T><<<two.block_count, two.thread_per_block, 0, device.stream()>>>(size, in, out, out);
    }
};
template struct Scale<GPUDevice, float>;
template struct Scale<GPUDevice, double>;
#endif
