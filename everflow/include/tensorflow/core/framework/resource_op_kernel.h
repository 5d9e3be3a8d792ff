// A kernel that makes a resource at its first run and hands out its handle.
#ifndef TENSORFLOW_CORE_FRAMEWORK_RESOURCE_OP_KERNEL_H_
#define TENSORFLOW_CORE_FRAMEWORK_RESOURCE_OP_KERNEL_H_

#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow {

template <typename T>
class ResourceOpKernel : public OpKernel {
public:
    explicit ResourceOpKernel(OpKernelConstruction* context) : OpKernel(context) {}

    // What nobody shares goes with the kernel.
    ~ResourceOpKernel() override {
        if (resource_) resource_->Unref();
        if (resource_ && cinfo_.resource_is_private_to_kernel()) {
            cinfo_.resource_manager()->template Delete<T>(cinfo_.container(), cinfo_.name()).IgnoreError();
        }
    }

    void Compute(OpKernelContext* context) override {
        mutex_lock lock(mu_);
        if (!resource_) {
            ResourceMgr* manager = context->resource_manager();
            OP_REQUIRES_OK(context, cinfo_.Init(manager, *this, true));
            T* found = nullptr;
            OP_REQUIRES_OK(context, manager->template LookupOrCreate<T>(cinfo_.container(), cinfo_.name(), &found,
                                                                        [this](T** made) { return CreateResource(made); }));
            const Status fits = VerifyResource(found);
            if (!fits.ok()) found->Unref();
            OP_REQUIRES_OK(context, fits);
            resource_ = found;
        }
        Tensor* handle = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &handle));
        handle->scalar<ResourceHandle>()() = MakeResourceHandle<T>(context, cinfo_.container(), cinfo_.name());
    }

protected:
    T* get_resource() { return resource_; }
    mutex mu_;
    ContainerInfo cinfo_;

private:
    virtual Status CreateResource(T** resource) = 0;
    // Whether a resource of that name that was there before is what this node asks for.
    virtual Status VerifyResource(T*) { return Status::OK(); }

    T* resource_ = nullptr;
};

}  // namespace tensorflow

#endif
