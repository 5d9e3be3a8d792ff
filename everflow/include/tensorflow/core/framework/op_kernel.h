// How an op is computed: a class with Compute(), registered for a device and types.
#ifndef TENSORFLOW_CORE_FRAMEWORK_OP_KERNEL_H_
#define TENSORFLOW_CORE_FRAMEWORK_OP_KERNEL_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/node_attrs.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/lib/core/threadpool.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/macros.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {

class OpKernelContext;

// What a kernel is made for: a node with its attributes and the types that follow from them.
struct KernelNode {
    typedef std::map<std::string, std::pair<int, int>> Ranges;

    // The resources of the session that the node belongs to.
    std::shared_ptr<ResourceMgr> resources;

    std::string op, name, device;
    AttrValues attrs;
    // The same as programs read it.
    NodeDef def;
    DataTypeVector inputs, outputs;
    Ranges input_ranges, output_ranges;
};

class OpKernelConstruction {
public:
    explicit OpKernelConstruction(std::shared_ptr<const KernelNode> node) : node_(std::move(node)) {}

    template <typename T>
    Status GetAttr(StringPiece name, T* value) const { return node_->attrs.get(name, value); }
    bool HasAttr(StringPiece name) const { return node_->attrs.has(name); }
    const AttrValues& attrs() const { return node_->attrs; }
    const std::string& name() const { return node_->name; }
    const NodeDef& def() const { return node_->def; }
    DeviceType device_type() const { return DeviceType(node_->device); }
    int num_inputs() const { return static_cast<int>(node_->inputs.size()); }
    int num_outputs() const { return static_cast<int>(node_->outputs.size()); }
    DataType input_type(int i) const { return node_->inputs[static_cast<size_t>(i)]; }
    DataType output_type(int i) const { return node_->outputs[static_cast<size_t>(i)]; }
    const DataTypeVector& input_types() const { return node_->inputs; }
    const DataTypeVector& output_types() const { return node_->outputs; }
    Status MatchSignature(const DataTypeVector& inputs, const DataTypeVector& outputs) const {
        if (inputs == node_->inputs && outputs == node_->outputs) return Status::OK();
        return errors::InvalidArgument("Signature mismatch of op ", node_->op);
    }
    Status allocate_temp(DataType type, const TensorShape& shape, Tensor* out) {
        *out = Tensor(type, shape);
        return Status::OK();
    }
    Status allocate_persistent(DataType type, const TensorShape& shape, Tensor* out, Tensor** pointer) {
        *out = Tensor(type, shape);
        if (pointer) *pointer = out;
        return Status::OK();
    }
    ResourceMgr* resource_manager() const { return node_->resources.get(); }
    int graph_def_version() const { return 134; }

    void SetStatus(const Status& status) { status_.Update(status); }
    const Status& status() const { return status_; }
    void CtxFailure(const Status& status) { SetStatus(status); }
    void CtxFailure(const char*, int, const Status& status) { SetStatus(status); }
    void CtxFailureWithWarning(const Status& status) { SetStatus(status); }
    void CtxFailureWithWarning(const char*, int, const Status& status) { SetStatus(status); }

    const KernelNode& node() const { return *node_; }
    const std::shared_ptr<const KernelNode>& shared_node() const { return node_; }

private:
    std::shared_ptr<const KernelNode> node_;
    Status status_;
};

class AsyncOpKernel;

class OpKernel {
public:
    explicit OpKernel(OpKernelConstruction* context) : node_(context->shared_node()) {}
    virtual ~OpKernel() {}

    virtual void Compute(OpKernelContext* context) = 0;
    virtual AsyncOpKernel* AsAsync() { return nullptr; }
    virtual bool IsExpensive() { return true; }

    const std::string& name() const { return node_->name; }
    const std::string& type_string() const { return node_->op; }
    const NodeDef& def() const { return node_->def; }
    int num_inputs() const { return static_cast<int>(node_->inputs.size()); }
    int num_outputs() const { return static_cast<int>(node_->outputs.size()); }
    DataType input_type(int i) const { return node_->inputs[static_cast<size_t>(i)]; }
    DataType output_type(int i) const { return node_->outputs[static_cast<size_t>(i)]; }
    const KernelNode& node() const { return *node_; }

private:
    std::shared_ptr<const KernelNode> node_;
    OpKernel(const OpKernel&) = delete;
    void operator=(const OpKernel&) = delete;
};

// A kernel that says when it is done; whoever runs it waits for that.
class AsyncOpKernel : public OpKernel {
public:
    typedef std::function<void()> DoneCallback;

    using OpKernel::OpKernel;
    virtual void ComputeAsync(OpKernelContext* context, DoneCallback done) = 0;
    void Compute(OpKernelContext* context) final;
    AsyncOpKernel* AsAsync() final { return this; }
};

class DeviceBase {
public:
    struct CpuWorkerThreads {
        int num_threads;
        thread::ThreadPool* workers;
    };
    const CpuWorkerThreads* tensorflow_cpu_worker_threads() const;
    const std::string& name() const;
    const Eigen::ThreadPoolDevice* eigen_cpu_device() const { return EigenDevice<Eigen::ThreadPoolDevice>(); }

private:
    // Made where Eigen is known: a template that stays hidden, so that each library has what it was compiled with.
    template <typename Device>
    __attribute__((visibility("hidden"))) const Device* EigenDevice() const {
#ifdef EVERFLOW_EIGEN_TENSOR_
        static Eigen::ThreadPool pool(tensorflow_cpu_worker_threads()->num_threads);
        static const Device device(&pool, tensorflow_cpu_worker_threads()->num_threads);
#else
        static const Device device{};
#endif
        return &device;
    }
};

// The tensors of an argument that is a list.
class OpInputList {
public:
    OpInputList() : context_(nullptr), start_(0), stop_(0) {}
    OpInputList(OpKernelContext* context, int start, int stop) : context_(context), start_(start), stop_(stop) {}
    int size() const { return stop_ - start_; }
    const Tensor& operator[](int i) const;

    class Iterator {
    public:
        Iterator(const OpInputList* list, int i) : list_(list), i_(i) {}
        const Tensor& operator*() const { return (*list_)[i_]; }
        Iterator& operator++() { return ++i_, *this; }
        bool operator!=(const Iterator& other) const { return i_ != other.i_; }

    private:
        const OpInputList* list_;
        int i_;
    };
    Iterator begin() const { return Iterator(this, 0); }
    Iterator end() const { return Iterator(this, size()); }

private:
    OpKernelContext* context_;
    int start_, stop_;
};

class OpOutputList {
public:
    OpOutputList() : context_(nullptr), start_(0), stop_(0) {}
    OpOutputList(OpKernelContext* context, int start, int stop) : context_(context), start_(start), stop_(stop) {}
    int size() const { return stop_ - start_; }
    Status allocate(int i, const TensorShape& shape, Tensor** output);
    void set(int i, const Tensor& tensor);
    Tensor* operator[](int i);
    DataType expected_output_dtype(int i) const;

private:
    OpKernelContext* context_;
    int start_, stop_;
};

class PersistentTensor {
public:
    PersistentTensor() {}
    explicit PersistentTensor(const Tensor& tensor) : tensor_(tensor) {}
    Tensor* AccessTensor(OpKernelConstruction*) { return &tensor_; }
    Tensor* AccessTensor(OpKernelContext*) { return &tensor_; }
    bool IsInitialized() const { return tensor_.IsInitialized(); }
    int64 NumElements() const { return tensor_.NumElements(); }

private:
    Tensor tensor_;
};

class CancellationManager;

// One run of a kernel: its inputs, and the outputs that it makes.
class OpKernelContext {
public:
    // Gives memory for an output; the tensor's owner knows whose it is.
    typedef std::function<Status(int, DataType, const TensorShape&, Tensor*)> Allocate;

    OpKernelContext(OpKernel* kernel, std::vector<Tensor> inputs, Allocate allocate)
        : kernel_(kernel), inputs_(std::move(inputs)), outputs_(kernel->node().outputs.size()), made_(outputs_.size()), allocate_(std::move(allocate)) {}

    OpKernel& op_kernel() const { return *kernel_; }
    int num_inputs() const { return static_cast<int>(inputs_.size()); }
    int num_outputs() const { return static_cast<int>(outputs_.size()); }
    DataType input_dtype(int i) const { return inputs_[static_cast<size_t>(i)].dtype(); }
    DataType expected_output_dtype(int i) const { return kernel_->output_type(i); }
    bool has_input(int i) const { return i < num_inputs(); }

    const Tensor& input(int i) const { return inputs_[static_cast<size_t>(i)]; }
    Status input(StringPiece name, const Tensor** tensor) const;
    Status input_list(StringPiece name, OpInputList* list);
    Status output_list(StringPiece name, OpOutputList* list);
    // The tensor of a variable, which may be written to.
    Tensor mutable_input(int i, bool) { return inputs_[static_cast<size_t>(i)]; }
    mutex* input_ref_mutex(int) { return &references_; }
    void forward_ref_input_to_ref_output(int input, int output) { set_output(output, inputs_[static_cast<size_t>(input)]); }
    bool ValidateInputsAreSameShape(OpKernel* op);

    Status allocate_output(int i, const TensorShape& shape, Tensor** output) TF_MUST_USE_RESULT;
    Status allocate_output(StringPiece name, const TensorShape& shape, Tensor** output) TF_MUST_USE_RESULT;
    Status allocate_temp(DataType type, const TensorShape& shape, Tensor* out) {
        *out = Tensor(type, shape);
        return Status::OK();
    }
    Status allocate_persistent(DataType type, const TensorShape& shape, PersistentTensor* out, Tensor** pointer) {
        *out = PersistentTensor(Tensor(type, shape));
        if (pointer) *pointer = out->AccessTensor(this);
        return Status::OK();
    }
    // Others may still need an input, so that outputs always have memory of their own.
    Status forward_input_or_allocate_output(gtl::ArraySlice<int>, int output, const TensorShape& shape, Tensor** tensor, int* forwarded = nullptr) {
        if (forwarded) *forwarded = -1;
        return allocate_output(output, shape, tensor);
    }
    Status forward_input_or_allocate_temp(gtl::ArraySlice<int>, DataType type, const TensorShape& shape, Tensor* out) {
        return allocate_temp(type, shape, out);
    }
    bool forward_input_to_output_with_shape(int, int, const TensorShape&, Tensor**) { return false; }
    void set_output(int i, const Tensor& tensor) { made_[static_cast<size_t>(i)] = true, outputs_[static_cast<size_t>(i)] = tensor; }
    Status set_output(StringPiece name, const Tensor& tensor);
    Tensor* mutable_output(int i) { return made_[static_cast<size_t>(i)] ? &outputs_[static_cast<size_t>(i)] : nullptr; }
    bool output_required(int) const { return true; }

    DeviceBase* device() const;
    ResourceMgr* resource_manager() const { return kernel_->node().resources.get(); }
    template <typename Device>
    const Device& eigen_device() const;
    const Eigen::ThreadPoolDevice& eigen_cpu_device() const { return *device()->eigen_cpu_device(); }
    CancellationManager* cancellation_manager() const { return nullptr; }
    Env* env() const { return Env::Default(); }
    int64 step_id() const { return 0; }

    void SetStatus(const Status& status) { status_.Update(status); }
    const Status& status() const { return status_; }
    void CtxFailure(const Status& status) { SetStatus(status); }
    void CtxFailure(const char*, int, const Status& status) { SetStatus(status); }
    void CtxFailureWithWarning(const Status& status) { SetStatus(status); }
    void CtxFailureWithWarning(const char*, int, const Status& status) { SetStatus(status); }

private:
    OpKernel* kernel_;
    std::vector<Tensor> inputs_, outputs_;
    std::vector<bool> made_;
    Allocate allocate_;
    mutex references_;
    Status status_;
};

template <>
inline const Eigen::ThreadPoolDevice& OpKernelContext::eigen_device() const { return eigen_cpu_device(); }
#if !defined(EVERFLOW_EIGEN_TENSOR_) || !defined(EIGEN_USE_GPU)
// Kernels for GPUs are compiled and registered, and not chosen yet.
template <>
inline const Eigen::GpuDevice& OpKernelContext::eigen_device() const {
    static const Eigen::GpuDevice device{};
    return device;
}
#endif

inline const Tensor& OpInputList::operator[](int i) const { return context_->input(start_ + i); }
inline Status OpOutputList::allocate(int i, const TensorShape& shape, Tensor** output) { return context_->allocate_output(start_ + i, shape, output); }
inline void OpOutputList::set(int i, const Tensor& tensor) { context_->set_output(start_ + i, tensor); }
inline Tensor* OpOutputList::operator[](int i) { return context_->mutable_output(start_ + i); }
inline DataType OpOutputList::expected_output_dtype(int i) const { return context_->expected_output_dtype(start_ + i); }

// -- resources

template <typename T>
ResourceHandle MakeResourceHandle(OpKernelContext* context, const std::string& container, const std::string& name) {
    ResourceHandle handle;
    handle.set_device(context->device()->name());
    handle.set_container(container.empty() ? context->resource_manager()->default_container() : container);
    handle.set_name(name);
    handle.set_maybe_type_name(typeid(T).name());
    return handle;
}

inline const ResourceHandle& HandleFromInput(OpKernelContext* context, int input) { return context->input(input).flat<ResourceHandle>()(0); }
inline Status HandleFromInput(OpKernelContext* context, StringPiece name, ResourceHandle* handle) {
    const Tensor* tensor = nullptr;
    TF_RETURN_IF_ERROR(context->input(name, &tensor));
    *handle = tensor->flat<ResourceHandle>()(0);
    return Status::OK();
}

// The resource, with a reference that the caller gives back.
template <typename T>
Status LookupResource(OpKernelContext* context, const ResourceHandle& handle, T** resource) {
    if (handle.maybe_type_name() != typeid(T).name()) {
        return errors::InvalidArgument("Trying to access resource ", handle.name(), " using the wrong type. Expected ", handle.maybe_type_name(),
                                       " got ", typeid(T).name());
    }
    return context->resource_manager()->Lookup(handle.container(), handle.name(), resource);
}
template <typename T>
Status CreateResource(OpKernelContext* context, const ResourceHandle& handle, T* resource) {
    return context->resource_manager()->Create(handle.container(), handle.name(), resource);
}
template <typename T>
Status LookupOrCreateResource(OpKernelContext* context, const ResourceHandle& handle, T** resource, std::function<Status(T**)> creator) {
    return context->resource_manager()->template LookupOrCreate<T>(handle.container(), handle.name(), resource, creator);
}
template <typename T>
Status DeleteResource(OpKernelContext* context, const ResourceHandle& handle) {
    return context->resource_manager()->template Delete<T>(handle.container(), handle.name());
}

// -- who computes which nodes

class KernelDefBuilder {
public:
    explicit KernelDefBuilder(const char* op) : op_(op) {}
    KernelDefBuilder& Device(const char* device) { return device_ = device, *this; }
    template <typename T>
    KernelDefBuilder& TypeConstraint(const char* attr) { return TypeConstraint(attr, DataTypeToEnum<T>::v()); }
    KernelDefBuilder& TypeConstraint(const char* attr, DataType type) { return types_[attr].assign(1, type), *this; }
    KernelDefBuilder& TypeConstraint(const char* attr, gtl::ArraySlice<DataType> types) {
        return types_[attr].assign(types.begin(), types.end()), *this;
    }
    KernelDefBuilder& HostMemory(const char*) { return *this; }
    KernelDefBuilder& Label(const char* label) { return label_ = label, *this; }
    KernelDefBuilder& Priority(int priority) { return priority_ = priority, *this; }
    const KernelDefBuilder* Build() const { return this; }

    const std::string& op() const { return op_; }
    const std::string& device() const { return device_; }
    const std::string& label() const { return label_; }
    int priority() const { return priority_; }
    const std::map<std::string, std::vector<DataType>>& types() const { return types_; }

private:
    std::string op_, device_, label_;
    int priority_ = 0;
    std::map<std::string, std::vector<DataType>> types_;
};

namespace register_kernel {

// `Name("Op")` begins the description in REGISTER_KERNEL_BUILDER.
typedef KernelDefBuilder Name;

}  // namespace register_kernel

namespace kernel_factory {

struct OpKernelRegistrar {
    OpKernelRegistrar(const KernelDefBuilder& description, const char* class_name, OpKernel* (*make)(OpKernelConstruction*));
};

}  // namespace kernel_factory
}  // namespace tensorflow

// Ends with a semicolon of its own, which lists such as TF_CALL_ALL_TYPES(REGISTER) need.
#define REGISTER_KERNEL_BUILDER(description, ...) EVERFLOW_REGISTER_KERNEL(__COUNTER__, description, __VA_ARGS__)
#define EVERFLOW_REGISTER_KERNEL(number, description, ...)                                                                  \
    static const ::tensorflow::kernel_factory::OpKernelRegistrar EVERFLOW_JOINED(everflow_kernel_, number) TF_ATTRIBUTE_UNUSED( \
        ::tensorflow::register_kernel::description, #__VA_ARGS__,                                                           \
        [](::tensorflow::OpKernelConstruction* context) -> ::tensorflow::OpKernel* { return new __VA_ARGS__(context); });

#define OP_REQUIRES(context, condition, status)                   \
    do {                                                          \
        if (TF_PREDICT_FALSE(!(condition))) {                     \
            (context)->CtxFailure(__FILE__, __LINE__, (status));  \
            return;                                               \
        }                                                         \
    } while (0)
#define OP_REQUIRES_OK(context, ...)                                          \
    do {                                                                      \
        const ::tensorflow::Status everflow_status_(__VA_ARGS__);             \
        if (TF_PREDICT_FALSE(!everflow_status_.ok())) {                       \
            (context)->CtxFailureWithWarning(__FILE__, __LINE__, everflow_status_); \
            return;                                                           \
        }                                                                     \
    } while (0)
#define OP_REQUIRES_ASYNC(context, condition, status, callback)  \
    do {                                                         \
        if (TF_PREDICT_FALSE(!(condition))) {                    \
            (context)->CtxFailure(__FILE__, __LINE__, (status)); \
            (callback)();                                        \
            return;                                              \
        }                                                        \
    } while (0)
#define OP_REQUIRES_OK_ASYNC(context, status, callback)                  \
    do {                                                                 \
        const ::tensorflow::Status everflow_status_(status);             \
        if (TF_PREDICT_FALSE(!everflow_status_.ok())) {                  \
            (context)->SetStatus(everflow_status_);                      \
            (callback)();                                                \
            return;                                                      \
        }                                                                \
    } while (0)

#endif
