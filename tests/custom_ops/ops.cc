// Ops for test_library.py, one for each thing that custom ops do.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/resource_op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/work_sharder.h"

using namespace tensorflow;
using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("TimesPlus")
    .Attr("T: {float, double, int32} = DT_FLOAT")
    .Attr("factor: float = 2.0")
    .Attr("steps: list(int) >= 0 = []")
    .Attr("mode: {'exact', 'rough'} = 'exact'")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(shape_inference::UnchangedShape)
    .Doc("Multiplies, and adds the steps.");

template <typename T>
class TimesPlus : public OpKernel {
public:
    explicit TimesPlus(OpKernelConstruction* context) : OpKernel(context) {
        OP_REQUIRES_OK(context, context->GetAttr("factor", &factor_));
        OP_REQUIRES_OK(context, context->GetAttr("steps", &steps_));
        OP_REQUIRES(context, factor_ >= 0, errors::InvalidArgument("factor must not be negative, got ", factor_));
    }
    void Compute(OpKernelContext* context) override {
        const Tensor& x = context->input(0);
        OP_REQUIRES(context, x.NumElements() != 13, errors::OutOfRange("13 numbers in ", x.shape().DebugString()));
        Tensor* y = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output("y", x.shape(), &y));
        const auto from = x.flat<T>();
        auto to = y->flat<T>();
        for (int64 i = 0; i < from.size(); ++i) {
            to(i) = from(i) * static_cast<T>(factor_);
            for (int64 step : steps_) to(i) += static_cast<T>(step);
        }
    }

private:
    float factor_;
    std::vector<int64> steps_;
};
#define REGISTER(type) REGISTER_KERNEL_BUILDER(Name("TimesPlus").Device(DEVICE_CPU).TypeConstraint<type>("T"), TimesPlus<type>);
TF_CALL_float(REGISTER) TF_CALL_double(REGISTER)

REGISTER_OP("RowsOf")
    .Input("parts: N * T")
    .Input("count: int32")
    .Output("rows: N * T")
    .Output("total: int64")
    .Attr("N: int >= 1")
    .Attr("T: numbertype")
    .SetShapeFn([](InferenceContext* c) {
        DimensionHandle count;
        TF_RETURN_IF_ERROR(c->MakeDimForScalarInput(c->num_inputs() - 1, &count));
        for (int i = 0; i + 1 < c->num_inputs(); ++i) {
            ShapeHandle matrix, rows;
            TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 2, &matrix));
            TF_RETURN_IF_ERROR(c->ReplaceDim(matrix, 0, count, &rows));
            c->set_output(i, rows);
        }
        c->set_output(c->num_outputs() - 1, c->Scalar());
        return Status::OK();
    });

// The first rows of each matrix.
class RowsOf : public OpKernel {
public:
    using OpKernel::OpKernel;
    void Compute(OpKernelContext* context) override {
        OpInputList parts;
        OpOutputList rows;
        const Tensor* count;
        OP_REQUIRES_OK(context, context->input_list("parts", &parts));
        OP_REQUIRES_OK(context, context->output_list("rows", &rows));
        OP_REQUIRES_OK(context, context->input("count", &count));
        const int64 n = count->scalar<int32>()();
        int64 total = 0;
        for (int i = 0; i < parts.size(); ++i) {
            OP_REQUIRES(context, n <= parts[i].dim_size(0), errors::InvalidArgument("part ", i, " has ", parts[i].dim_size(0), " rows only"));
            rows.set(i, parts[i].Slice(0, n));
            total += n;
        }
        Tensor sum(DT_INT64, TensorShape({}));
        sum.scalar<int64>()() = total;
        context->set_output(parts.size(), sum);
    }
};
REGISTER_KERNEL_BUILDER(Name("RowsOf").Device(DEVICE_CPU), RowsOf);

REGISTER_OP("Backwards").Input("texts: string").Output("turned: string").SetShapeFn(shape_inference::UnchangedShape);

class Backwards : public OpKernel {
public:
    using OpKernel::OpKernel;
    void Compute(OpKernelContext* context) override {
        Tensor* turned = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &turned));
        const auto from = context->input(0).flat<tstring>();
        auto to = turned->flat<tstring>();
        for (int64 i = 0; i < from.size(); ++i) to(i).assign(from(i).rbegin(), from(i).rend());
    }
};
REGISTER_KERNEL_BUILDER(Name("Backwards").Device(DEVICE_CPU), Backwards);

REGISTER_OP("LaterSum").Input("x: float").Output("sum: float").SetShapeFn(shape_inference::ScalarShape);

// Sums with the threads of the process, and says so from a thread of its own.
class LaterSum : public AsyncOpKernel {
public:
    using AsyncOpKernel::AsyncOpKernel;
    void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
        std::thread([context, done] {
            const auto x = context->input(0).flat<float>();
            OP_REQUIRES_ASYNC(context, x.size() > 0, errors::FailedPrecondition("nothing to sum"), done);
            std::atomic<int64> sum{0};
            auto workers = *context->device()->tensorflow_cpu_worker_threads();
            Shard(workers.num_threads, workers.workers, x.size(), 1000, [&](int64 begin, int64 end) {
                for (int64 i = begin; i < end; ++i) sum += static_cast<int64>(x(i));
            });
            Tensor* out = nullptr;
            OP_REQUIRES_OK_ASYNC(context, context->allocate_output(0, TensorShape({}), &out), done);
            out->scalar<float>()() = static_cast<float>(sum);
            done();
        }).detach();
    }
};
REGISTER_KERNEL_BUILDER(Name("LaterSum").Device(DEVICE_CPU), LaterSum);

struct Tally : public ResourceBase {
    explicit Tally(int64 start) : count(start) {}
    std::atomic<int64> count;
};

REGISTER_OP("TallyHandle")
    .Attr("start: int = 0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Output("handle: resource")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape);
REGISTER_OP("TallyAdd").Input("handle: resource").Input("by: int64").Output("count: int64").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);

class TallyHandle : public ResourceOpKernel<Tally> {
public:
    explicit TallyHandle(OpKernelConstruction* context) : ResourceOpKernel(context) { OP_REQUIRES_OK(context, context->GetAttr("start", &start_)); }

private:
    Status CreateResource(Tally** made) override {
        *made = new Tally(start_);
        return Status::OK();
    }
    int64 start_;
};
REGISTER_KERNEL_BUILDER(Name("TallyHandle").Device(DEVICE_CPU), TallyHandle);

class TallyAdd : public OpKernel {
public:
    using OpKernel::OpKernel;
    void Compute(OpKernelContext* context) override {
        Tally* tally = nullptr;
        OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, 0), &tally));
        core::ScopedUnref given_back(tally);
        Tensor* count = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &count));
        count->scalar<int64>()() = tally->count += context->input(1).scalar<int64>()();
    }
};
REGISTER_KERNEL_BUILDER(Name("TallyAdd").Device(DEVICE_CPU), TallyAdd);

REGISTER_OP("Faulty").Attr("how: string").Input("x: float").Output("y: float");

class Faulty : public OpKernel {
public:
    explicit Faulty(OpKernelConstruction* context) : OpKernel(context) { OP_REQUIRES_OK(context, context->GetAttr("how", &how_)); }
    void Compute(OpKernelContext* context) override {
        if (how_ == "throws") throw std::runtime_error("thrown by a kernel");
        if (how_ == "wrong type") context->input(0).flat<int32>();
        if (how_ == "wrong rank") context->input(0).matrix<float>();
        if (how_ == "too large") {
            Tensor* y = nullptr;
            OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({int64{1} << 40, int64{1} << 20}), &y));
        }
    }

private:
    std::string how_;
};
REGISTER_KERNEL_BUILDER(Name("Faulty").Device(DEVICE_CPU), Faulty);
