// The ops and kernels that libraries register when they are loaded, and how kernels are made and run.
#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <stdexcept>

#include "abi.h"
#include "crossing.h"
#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/lib/core/blocking_counter.h"

namespace tensorflow {
namespace {

struct RegisteredKernel {
    KernelDefBuilder description;
    std::string class_name;
    OpKernel* (*make)(OpKernelConstruction*);
};

// Registered by constructors of static objects, in the order of their libraries.
struct Registry {
    mutex lock;
    std::deque<OpRegistration> ops;
    std::deque<RegisteredKernel> kernels;
};

Registry& registry() {
    static Registry* const all = new Registry;
    return *all;
}

bool takes(const KernelDefBuilder& kernel, const KernelNode& node) {
    std::string label;
    if (node.attrs.has("_kernel")) node.attrs.get("_kernel", &label).IgnoreError();
    if (kernel.op() != node.op || kernel.device() != node.device || kernel.label() != label) return false;
    for (const auto& constraint : kernel.types()) {
        const NodeAttr* attr = node.attrs.find(constraint.first);
        if (!attr) return false;
        for (DataType type : attr->types) {
            if (std::find(constraint.second.begin(), constraint.second.end(), type) == constraint.second.end()) return false;
        }
    }
    return true;
}

Status find_kernel(const KernelNode& node, const RegisteredKernel** found) {
    mutex_lock lock(registry().lock);
    *found = nullptr;
    bool tie = false;
    std::string others;
    for (const RegisteredKernel& kernel : registry().kernels) {
        if (kernel.description.op() == node.op) {
            others += "  device='" + kernel.description.device() + "'";
            for (const auto& constraint : kernel.description.types()) {
                for (DataType type : constraint.second) others += "; " + constraint.first + " in [DT_" + DataTypeString(type) + "]";
            }
            others += "\n";
        }
        if (!takes(kernel.description, node)) continue;
        const int better = *found ? kernel.description.priority() - (*found)->description.priority() : 1;
        tie = better == 0 || (tie && better < 0);
        if (better > 0) *found = &kernel;
    }
    if (tie) return errors::InvalidArgument("Multiple OpKernel registrations match NodeDef '", node.name, "' (op ", node.op, ")");
    if (*found) return Status::OK();
    return errors::NotFound("No OpKernel was registered to support Op '", node.op, "' used by {{node ", node.name,
                            "}} with these attrs.\nRegistered kernels:\n", others.empty() ? "  <no registered kernels>\n" : others);
}

template <typename T>
void describe(const std::vector<T>& values, bool is_list, AttrValue* into) {
    if (is_list) {
        SetAttrValue(values, into);
    } else if (!values.empty()) {
        SetAttrValue(static_cast<T>(values[0]), into);
    }
}

void describe(const NodeAttr& attr, AttrValue* into) {
    if (attr.is_list) into->mutable_list();
    if (attr.is_function) {
        for (const std::string& name : attr.texts) (attr.is_list ? into->mutable_list()->add_func() : into->mutable_func())->set_name(name);
    } else if (!attr.texts.empty()) {
        describe(attr.texts, attr.is_list, into);
    } else if (attr.is_bool) {
        describe(std::vector<bool>(attr.integers.begin(), attr.integers.end()), attr.is_list, into);
    } else if (!attr.integers.empty()) {
        describe(attr.integers, attr.is_list, into);
    } else if (!attr.floats.empty()) {
        describe(std::vector<float>(attr.floats.begin(), attr.floats.end()), attr.is_list, into);
    } else if (!attr.types.empty()) {
        describe(attr.types, attr.is_list, into);
    } else if (!attr.shapes.empty()) {
        describe(attr.shapes, attr.is_list, into);
    } else {
        describe(attr.tensors, attr.is_list, into);
    }
}

// Fills in the NodeDef.
void describe(KernelNode* node) {
    node->def.set_name(node->name);
    node->def.set_op(node->op);
    node->def.set_device("/device:" + node->device + ":0");
    for (const auto& attr : node->attrs.all()) describe(attr.second, &(*node->def.mutable_attr())[attr.first]);
}

Status range_of(const KernelNode::Ranges& ranges, StringPiece name, const char* what, int* start, int* stop) {
    const auto found = ranges.find(std::string(name));
    if (found == ranges.end()) return errors::InvalidArgument("Unknown ", what, " name: ", name);
    *start = found->second.first, *stop = found->second.second;
    return Status::OK();
}

Status single(const KernelNode::Ranges& ranges, StringPiece name, const char* what, int* at) {
    int stop = 0;
    TF_RETURN_IF_ERROR(range_of(ranges, name, what, at, &stop));
    if (stop == *at + 1) return Status::OK();
    return errors::InvalidArgument("OpKernel used list-valued ", what, " name '", name, "' when single-valued ", what, " was expected");
}

}  // namespace

OpRegistry* OpRegistry::Global() {
    static OpRegistry all;
    return &all;
}

std::string OpRegistry::DebugString(bool include_internal) const {
    mutex_lock lock(registry().lock);
    std::string text;
    for (const OpRegistration& op : registry().ops) {
        if (op.name[0] == '_' && !include_internal) continue;
        text += "Op<name=" + op.name + "; signature=";
        const char* between = "";
        for (const std::string& input : op.inputs) text += between + input, between = ", ";
        text += " -> ", between = "";
        for (const std::string& output : op.outputs) text += between + output, between = ", ";
        for (const std::string& attr : op.attrs) text += "; attr=" + attr;
        text += op.is_stateful ? "; is_stateful=true>\n" : ">\n";
    }
    return text;
}

namespace register_op {

OpDefBuilderReceiver::OpDefBuilderReceiver(const OpDefBuilderWrapper& wrapper) {
    mutex_lock lock(registry().lock);
    registry().ops.push_back(wrapper.op());
}

}  // namespace register_op

namespace kernel_factory {

OpKernelRegistrar::OpKernelRegistrar(const KernelDefBuilder& description, const char* class_name, OpKernel* (*make)(OpKernelConstruction*)) {
    mutex_lock lock(registry().lock);
    registry().kernels.push_back({description, class_name, make});
}

}  // namespace kernel_factory

void AsyncOpKernel::Compute(OpKernelContext* context) {
    BlockingCounter done(1);
    ComputeAsync(context, [&done] { done.DecrementCount(); });
    done.Wait();
}

const std::string& DeviceBase::name() const {
    static const std::string cpu = "/job:localhost/replica:0/task:0/device:CPU:0";
    return cpu;
}

DeviceBase* OpKernelContext::device() const {
    static DeviceBase cpu;
    return &cpu;
}

Status OpKernelContext::input(StringPiece name, const Tensor** tensor) const {
    int at = 0;
    TF_RETURN_IF_ERROR(single(kernel_->node().input_ranges, name, "input", &at));
    *tensor = &input(at);
    return Status::OK();
}

Status OpKernelContext::input_list(StringPiece name, OpInputList* list) {
    int start = 0, stop = 0;
    TF_RETURN_IF_ERROR(range_of(kernel_->node().input_ranges, name, "input", &start, &stop));
    *list = OpInputList(this, start, stop);
    return Status::OK();
}

Status OpKernelContext::output_list(StringPiece name, OpOutputList* list) {
    int start = 0, stop = 0;
    TF_RETURN_IF_ERROR(range_of(kernel_->node().output_ranges, name, "output", &start, &stop));
    *list = OpOutputList(this, start, stop);
    return Status::OK();
}

bool OpKernelContext::ValidateInputsAreSameShape(OpKernel*) {
    for (size_t i = 1; i < inputs_.size(); ++i) {
        if (inputs_[i].shape() == inputs_[0].shape()) continue;
        SetStatus(errors::InvalidArgument("Inputs to operation ", kernel_->name(), " of type ", kernel_->type_string(),
                                          " must have the same size and shape.  Input 0: ", inputs_[0].shape(), " != input ", i, ": ", inputs_[i].shape()));
        return false;
    }
    return true;
}

Status OpKernelContext::allocate_output(int i, const TensorShape& shape, Tensor** output) {
    if (i < 0 || i >= num_outputs()) return errors::Internal("allocate_output with bad index=", i, " kernel=", kernel_->name());
    for (int64 size : shape) {
        if (size < 0) return errors::InvalidArgument("output ", i, " of ", kernel_->name(), " can't have the shape ", shape);
    }
    const size_t at = static_cast<size_t>(i);
    const DataType type = expected_output_dtype(i);
    if (type == DT_STRING || type == DT_RESOURCE || type == DT_VARIANT) {
        outputs_[at] = Tensor(type, shape);
    } else {
        TF_RETURN_IF_ERROR(allocate_(i, type, shape, &outputs_[at]));
    }
    made_[at] = true;
    *output = &outputs_[at];
    return Status::OK();
}

Status OpKernelContext::allocate_output(StringPiece name, const TensorShape& shape, Tensor** output) {
    int at = 0;
    TF_RETURN_IF_ERROR(single(kernel_->node().output_ranges, name, "output", &at));
    return allocate_output(at, shape, output);
}

Status OpKernelContext::set_output(StringPiece name, const Tensor& tensor) {
    int at = 0;
    TF_RETURN_IF_ERROR(single(kernel_->node().output_ranges, name, "output", &at));
    set_output(at, tensor);
    return Status::OK();
}

}  // namespace tensorflow

using namespace tensorflow;

// Libraries ask for the version of the headers that they were compiled with by the name of this symbol.
EXPORTED const char EVERFLOW_ABI = 0;

EXPORTED int64_t everflow_op_count() {
    mutex_lock lock(registry().lock);
    return static_cast<int64_t>(registry().ops.size());
}

// Takes back what was registered after the first `ops` and `kernels`: their library was refused.
EXPORTED void everflow_forget(int64_t ops, int64_t kernels) {
    mutex_lock lock(registry().lock);
    registry().ops.resize(static_cast<size_t>(ops));
    while (registry().kernels.size() > static_cast<size_t>(kernels)) registry().kernels.pop_back();
}

EXPORTED int64_t everflow_kernel_count() {
    mutex_lock lock(registry().lock);
    return static_cast<int64_t>(registry().kernels.size());
}

// The words of an op: fields end with the character 30, parts of a field with 31.
EXPORTED void everflow_op_words(int64_t op, void (*take)(const char*, int64_t)) {
    mutex_lock lock(registry().lock);
    const OpRegistration& of = registry().ops[static_cast<size_t>(op)];
    std::string words;
    const auto list = [&words](const std::vector<std::string>& parts) {
        for (const std::string& part : parts) words += part + '\x1f';
        words += '\x1e';
    };
    list({of.name});
    list({of.doc});
    list(of.attrs);
    list(of.inputs);
    list(of.outputs);
    std::vector<std::string> flags;
    if (of.is_commutative) flags.push_back("is_commutative");
    if (of.is_aggregate) flags.push_back("is_aggregate");
    if (of.is_stateful) flags.push_back("is_stateful");
    if (of.allows_uninitialized_input) flags.push_back("allows_uninitialized_input");
    if (of.shape_function) flags.push_back("has_shape_function");
    list(flags);
    take(words.data(), static_cast<int64_t>(words.size()));
}

// -- nodes

EXPORTED void* everflow_node_new(const char* op, const char* name, const char* device) {
    auto* node = new std::shared_ptr<KernelNode>(new KernelNode);
    (*node)->op = op, (*node)->name = name, (*node)->device = device;
    return node;
}

EXPORTED void everflow_node_free(void* node) { delete static_cast<std::shared_ptr<KernelNode>*>(node); }

EXPORTED void everflow_node_attr(void* node, const char* name, bool is_list, bool is_bool, bool is_function) {
    NodeAttr& attr = (*static_cast<std::shared_ptr<KernelNode>*>(node))->attrs.add(name);
    attr.is_list = is_list, attr.is_bool = is_bool, attr.is_function = is_function;
}

EXPORTED void everflow_attr_integer(void* node, const char* name, int64_t value) {
    (*static_cast<std::shared_ptr<KernelNode>*>(node))->attrs.add(name).integers.push_back(value);
}

EXPORTED void everflow_attr_float(void* node, const char* name, double value) {
    (*static_cast<std::shared_ptr<KernelNode>*>(node))->attrs.add(name).floats.push_back(value);
}

EXPORTED void everflow_attr_text(void* node, const char* name, const char* text, int64_t size) {
    (*static_cast<std::shared_ptr<KernelNode>*>(node))->attrs.add(name).texts.emplace_back(text, static_cast<size_t>(size));
}

EXPORTED void everflow_attr_type(void* node, const char* name, int32_t type) {
    (*static_cast<std::shared_ptr<KernelNode>*>(node))->attrs.add(name).types.push_back(static_cast<DataType>(type));
}

// A negative rank: nothing is known.
EXPORTED void everflow_attr_shape(void* node, const char* name, const int64_t* sizes, int32_t rank) {
    const std::vector<int64> known(sizes, sizes + std::max(rank, 0));
    (*static_cast<std::shared_ptr<KernelNode>*>(node))->attrs.add(name).shapes.push_back(
        rank < 0 ? PartialTensorShape() : PartialTensorShape(gtl::ArraySlice<int64>(known)));
}

EXPORTED void everflow_attr_tensor(void* node, const char* name, const EverflowTensor* tensor) {
    const Tensor given = tensor_of(*tensor);
    Tensor kept(given.dtype(), given.shape());
    std::memcpy(kept.raw_data(), given.raw_data(), kept.TotalBytes());
    (*static_cast<std::shared_ptr<KernelNode>*>(node))->attrs.add(name).tensors.push_back(kept);
}

// One argument after the other: its name and the types of its tensors.
EXPORTED void everflow_node_argument(void* node, bool output, const char* name, const int32_t* types, int32_t count) {
    KernelNode& of = **static_cast<std::shared_ptr<KernelNode>*>(node);
    DataTypeVector& all = output ? of.outputs : of.inputs;
    const int start = static_cast<int>(all.size());
    for (int32_t i = 0; i < count; ++i) all.push_back(static_cast<DataType>(types[i]));
    (output ? of.output_ranges : of.input_ranges)[name] = {start, start + count};
}

// -- shapes

// Inputs without data are not known but for their shapes, in which -1 is a size that is not known; nor is a rank of -1. Of each output,
// `found` gets the rank and the sizes.
EXPORTED int32_t everflow_infer(int64_t op, void* node, const EverflowTensor* inputs, int64_t* found, int64_t room, char* message, int64_t size) {
    const KernelNode& of = **static_cast<std::shared_ptr<KernelNode>*>(node);
    OpShapeInferenceFn shape_function;
    {
        mutex_lock lock(registry().lock);
        shape_function = registry().ops[static_cast<size_t>(op)].shape_function;
    }
    const Status status = guarded([&]() -> Status {
        std::vector<PartialTensorShape> shapes;
        std::vector<Tensor> values(of.inputs.size());
        std::vector<const Tensor*> tensors;
        for (size_t i = 0; i < of.inputs.size(); ++i) {
            const std::vector<int64> sizes(inputs[i].sizes, inputs[i].sizes + std::max(inputs[i].rank, 0));
            shapes.push_back(inputs[i].rank < 0 ? PartialTensorShape() : PartialTensorShape(gtl::ArraySlice<int64>(sizes)));
            if (inputs[i].data) values[i] = tensor_of(inputs[i]);
            tensors.push_back(inputs[i].data ? &values[i] : nullptr);
        }
        shape_inference::InferenceContext context(&of.attrs, shapes, tensors, of.input_ranges, of.output_ranges, static_cast<int>(of.outputs.size()));
        TF_RETURN_IF_ERROR(shape_function(&context));
        int64_t* at = found;
        for (int i = 0; i < context.num_outputs(); ++i) {
            const auto shape = context.output(i);
            const int32 rank = context.Rank(shape);
            if (at + 1 + rank > found + room) return errors::Internal("too many dimensions");
            *at++ = rank;
            for (int32 d = 0; d < rank; ++d) *at++ = context.Value(context.Dim(shape, d));
        }
        return Status::OK();
    });
    return said(status, message, size);
}

// -- kernels

EXPORTED int32_t everflow_kernel_new(void* node, void* resources, void** made, char* message, int64_t size) {
    *made = nullptr;
    const std::shared_ptr<KernelNode> of = *static_cast<std::shared_ptr<KernelNode>*>(node);
    of->resources = *static_cast<std::shared_ptr<ResourceMgr>*>(resources);
    describe(of.get());
    const Status status = guarded([&]() -> Status {
        const RegisteredKernel* found = nullptr;
        TF_RETURN_IF_ERROR(find_kernel(*of, &found));
        OpKernelConstruction construction(of);
        std::unique_ptr<OpKernel> kernel(found->make(&construction));
        TF_RETURN_IF_ERROR(construction.status());
        *made = kernel.release();
        return Status::OK();
    });
    return said(status, message, size);
}

EXPORTED void everflow_kernel_free(void* kernel) { delete static_cast<OpKernel*>(kernel); }

EXPORTED int32_t everflow_compute(void* kernel_address, const EverflowTensor* inputs, int32_t count, const EverflowCall* call,
                                  void (*failed)(void*, const char*)) {
    OpKernel* kernel = static_cast<OpKernel*>(kernel_address);
    const Status status = guarded([&]() -> Status {
        std::vector<Tensor> values;
        values.reserve(static_cast<size_t>(count));
        for (int32_t i = 0; i < count; ++i) values.push_back(tensor_of(inputs[i]));
        const auto allocate = [call](int output, DataType type, const TensorShape& shape, Tensor* tensor) -> Status {
            const std::vector<int64_t> sizes(shape.begin(), shape.end());
            EverflowTensor made = {type, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, nullptr, nullptr};
            if (!call->allocate(call->call, output, &made)) return errors::ResourceExhausted("OOM when allocating tensor with shape", shape);
            *tensor = tensor_of(made);
            return Status::OK();
        };
        OpKernelContext context(kernel, std::move(values), allocate);
        kernel->Compute(&context);
        TF_RETURN_IF_ERROR(context.status());
        for (int i = 0; i < context.num_outputs(); ++i) {
            const Tensor* tensor = context.mutable_output(i);
            if (!tensor) return errors::Internal("Missing ", i, "-th output from {{node ", kernel->name(), "}}");
            if (BaseType(tensor->dtype()) != BaseType(kernel->output_type(i))) {
                return errors::Internal("output ", i, " of ", kernel->name(), " is of type ", DataTypeString(tensor->dtype()), ", not ",
                                        DataTypeString(kernel->output_type(i)));
            }
            std::vector<int64_t> sizes;
            const EverflowTensor made = crossing(*tensor, &sizes);
            call->deliver(call->call, i, &made);
        }
        return Status::OK();
    });
    if (!status.ok()) failed(call->call, status.error_message().c_str());
    return status.code();
}

// -- resources

EXPORTED void* everflow_resources_copy(const void* from, int64_t count) {
    auto* made = new ResourceHandle[static_cast<size_t>(count)];
    std::copy_n(static_cast<const ResourceHandle*>(from), count, made);
    return made;
}

EXPORTED void everflow_resources_free(void* resources) { delete[] static_cast<ResourceHandle*>(resources); }

// What one session keeps; its kernels keep it, too.
EXPORTED void* everflow_manager_new(const char* default_container) { return new std::shared_ptr<ResourceMgr>(new ResourceMgr(default_container)); }

EXPORTED void everflow_manager_free(void* manager) { delete static_cast<std::shared_ptr<ResourceMgr>*>(manager); }

// Empties a container, or all of them.
EXPORTED void everflow_manager_clear(void* manager, const char* container) {
    ResourceMgr& of = **static_cast<std::shared_ptr<ResourceMgr>*>(manager);
    if (container) {
        of.Cleanup(container).IgnoreError();
    } else {
        of.Clear();
    }
}
