// Two ops whose own work is known: a loop over many numbers, which is timed where it runs, and next to nothing.
#include <chrono>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

static double seconds_in_loops = 0;

extern "C" double take_seconds() {
    const double taken = seconds_in_loops;
    seconds_in_loops = 0;
    return taken;
}

REGISTER_OP("TimedScale").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);

class TimedScaleOp : public OpKernel {
public:
    explicit TimedScaleOp(OpKernelConstruction* context) : OpKernel(context) {}
    void Compute(OpKernelContext* context) override {
        Tensor* made = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &made));
        const float* x = context->input(0).flat<float>().data();
        float* y = made->flat<float>().data();
        const int64 n = made->NumElements();
        const auto start = std::chrono::steady_clock::now();
        for (int64 i = 0; i < n; ++i) y[i] = 2 * x[i] + 1;
        seconds_in_loops += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
};
REGISTER_KERNEL_BUILDER(Name("TimedScale").Device(DEVICE_CPU), TimedScaleOp);

REGISTER_OP("PlusOne").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);

class PlusOneOp : public OpKernel {
public:
    explicit PlusOneOp(OpKernelConstruction* context) : OpKernel(context) {}
    void Compute(OpKernelContext* context) override {
        Tensor* made = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &made));
        made->flat<float>()(0) = context->input(0).flat<float>()(0) + 1;
    }
};
REGISTER_KERNEL_BUILDER(Name("PlusOne").Device(DEVICE_CPU), PlusOneOp);
