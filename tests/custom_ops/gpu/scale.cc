#include "scale.h"

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;
typedef Eigen::ThreadPoolDevice CPUDevice;
typedef Eigen::GpuDevice GPUDevice;

REGISTER_OP("ScaleByTwo").Attr("T: {float, int32, double}").Input("x: T").Output("y: T").SetShapeFn([](shape_inference::InferenceContext* c) {
    c->set_output(0, c->input(0));
    return Status::OK();
});

template <typename T>
struct Scale<CPUDevice, T> {
    void operator()(const CPUDevice&, int size, const T* in, T* out) {
        for (int i = 0; i < size; ++i) out[i] = 2 * in[i];
    }
};

template <typename Device, typename T>
class ScaleOp : public OpKernel {
public:
    explicit ScaleOp(OpKernelConstruction* context) : OpKernel(context) {}
    void Compute(OpKernelContext* context) override {
        const Tensor& x = context->input(0);
        Tensor* y = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
        Scale<Device, T>()(context->eigen_device<Device>(), static_cast<int>(x.NumElements()), x.flat<T>().data(), y->flat<T>().data());
    }
};

#define CPU(T) REGISTER_KERNEL_BUILDER(Name("ScaleByTwo").Device(DEVICE_CPU).TypeConstraint<T>("T"), ScaleOp<CPUDevice, T>);
CPU(float);
CPU(int32);

#ifdef GOOGLE_CUDA
#define GPU(T)                                   \
    extern template struct Scale<GPUDevice, T>;  \
    REGISTER_KERNEL_BUILDER(Name("ScaleByTwo").Device(DEVICE_GPU).TypeConstraint<T>("T"), ScaleOp<GPUDevice, T>);
GPU(float);
GPU(double);
#endif
