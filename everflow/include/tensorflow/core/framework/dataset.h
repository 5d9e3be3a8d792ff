// Datasets: an op makes a dataset, a dataset makes iterators, and an iterator gives elements, one after the other.
#ifndef TENSORFLOW_CORE_FRAMEWORK_DATASET_H_
#define TENSORFLOW_CORE_FRAMEWORK_DATASET_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/model.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/lib/core/refcount.h"
#include "tensorflow/core/platform/env.h"

namespace tensorflow {

// What is written of a dataset: an op with its inputs, or the value of a constant.
class Node {
public:
    Node(const std::string& op, std::vector<Node*> inputs, std::vector<Tensor> values)
        : op_(op), inputs_(std::move(inputs)), values_(std::move(values)) {}
    const std::string& type_string() const { return op_; }
    const std::vector<Node*>& inputs() const { return inputs_; }
    const std::vector<Tensor>& values() const { return values_; }

private:
    std::string op_;
    std::vector<Node*> inputs_;
    std::vector<Tensor> values_;
};

namespace data {

const int64 kInfiniteCardinality = -1;
const int64 kUnknownCardinality = -2;

class DatasetBase;

// Where an iterator keeps its position: numbers, texts and tensors under names.
class IteratorStateWriter {
public:
    virtual ~IteratorStateWriter() {}
    virtual Status WriteScalar(StringPiece key, const int64 value) = 0;
    virtual Status WriteScalar(StringPiece key, const std::string& value) = 0;
    virtual Status WriteTensor(StringPiece key, const Tensor& value) = 0;
};

class IteratorStateReader {
public:
    virtual ~IteratorStateReader() {}
    virtual Status ReadScalar(StringPiece key, int64* value) = 0;
    virtual Status ReadScalar(StringPiece key, std::string* value) = 0;
    virtual Status ReadTensor(StringPiece key, Tensor* value) = 0;
    virtual bool Contains(StringPiece key) = 0;
};

// What writing a dataset down, or an iterator's position, is told.
class SerializationContext {
public:
    struct Params {
        std::vector<std::pair<std::string, Tensor>>* input_list = nullptr;
        bool check_external_state = true;
        bool fail_if_unimplemented = true;
        bool serialize_data_tensors = true;
    };
    explicit SerializationContext(Params params) : params_(params) {}
    std::vector<std::pair<std::string, Tensor>>* input_list() { return params_.input_list; }
    bool check_external_state() const { return params_.check_external_state; }
    bool fail_if_unimplemented() const { return params_.fail_if_unimplemented; }
    bool serialize_data_tensors() const { return params_.serialize_data_tensors; }

private:
    Params params_;
    TF_DISALLOW_COPY_AND_ASSIGN(SerializationContext);
};

// What an iterator may use.
class IteratorContext {
public:
    struct Params {
        Env* env = Env::Default();
        std::function<void(std::function<void()>)> runner;
        // Whatever the reader outside of C++ wants to find again.
        void* reader = nullptr;
    };
    explicit IteratorContext(Params params) : params_(std::move(params)) {}
    explicit IteratorContext(IteratorContext* other) : params_(other->params_) {}

    Env* env() const { return params_.env; }
    Allocator* allocator(AllocatorAttributes) const { return cpu_allocator(); }
    // Runs something in the background.
    std::function<void(std::function<void()>)>* runner() { return &params_.runner; }
    std::unique_ptr<Thread> StartThread(const std::string& name, std::function<void()> work) {
        return std::unique_ptr<Thread>(env()->StartThread({}, name, std::move(work)));
    }
    const Params& params() const { return params_; }

private:
    Params params_;
};

// A position in a dataset.
class IteratorBase {
public:
    virtual ~IteratorBase() {}

    virtual Status GetNext(IteratorContext* context, std::vector<Tensor>* out_tensors, bool* end_of_sequence) = 0;
    Status GetNext(IteratorContext&& context, std::vector<Tensor>* out_tensors, bool* end_of_sequence) {
        return GetNext(&context, out_tensors, end_of_sequence);
    }
    virtual const DataTypeVector& output_dtypes() const = 0;
    virtual const std::vector<PartialTensorShape>& output_shapes() const = 0;
    virtual const std::string& prefix() const = 0;
    virtual Status Initialize(IteratorContext*) { return Status::OK(); }

    Status Save(SerializationContext*, IteratorStateWriter* writer) { return SaveInternal(writer); }
    Status Restore(IteratorContext* context, IteratorStateReader* reader) { return RestoreInternal(context, reader); }

protected:
    virtual std::shared_ptr<model::Node> CreateNode(IteratorContext*, model::Node::Args args) const { return model::MakeUnknownNode(std::move(args)); }
    // The position of an iterator that this one reads.
    Status SaveInput(IteratorStateWriter* writer, const std::unique_ptr<IteratorBase>& input) { return input->SaveInternal(writer); }
    Status RestoreInput(IteratorContext* context, IteratorStateReader* reader, const std::unique_ptr<IteratorBase>& input) {
        return input->RestoreInternal(context, reader);
    }
    virtual Status SaveInternal(IteratorStateWriter*) { return errors::Unimplemented("SaveInternal"); }
    virtual Status RestoreInternal(IteratorContext*, IteratorStateReader*) { return errors::Unimplemented("RestoreInternal"); }

private:
    friend class DatasetBase;
};

// Where a dataset comes from: the node of its op.
class DatasetContext {
public:
    struct Params {
        std::string type_string, node_name;
    };
    explicit DatasetContext(Params params) : params_(std::move(params)) {}
    explicit DatasetContext(OpKernelContext* context) : params_{context->op_kernel().type_string(), context->op_kernel().name()} {}
    const std::string& type_string() const { return params_.type_string; }
    const std::string& node_name() const { return params_.node_name; }

private:
    Params params_;
};

class DatasetBase : public core::RefCounted {
public:
    explicit DatasetBase(DatasetContext&& context) : type_string_(context.type_string()), node_name_(context.node_name()) {}

    const std::string& type_string() const { return type_string_; }
    const std::string& node_name() const { return node_name_; }

    // A new iterator at the start.
    Status MakeIterator(IteratorContext* context, const std::string& prefix, std::unique_ptr<IteratorBase>* iterator) const;
    Status MakeIterator(IteratorContext&& context, const std::string& prefix, std::unique_ptr<IteratorBase>* iterator) const {
        return MakeIterator(&context, prefix, iterator);
    }
    Status MakeIteratorFromCheckpoint(IteratorContext* context, const std::string& prefix, IteratorStateReader* reader,
                                      std::unique_ptr<IteratorBase>* iterator) const;

    virtual const DataTypeVector& output_dtypes() const = 0;
    virtual const std::vector<PartialTensorShape>& output_shapes() const = 0;
    virtual int64 AllocatedBytes() const { return 0; }
    virtual int64 TotalBytes() const { return 0; }
    virtual int64 Cardinality() const { return kUnknownCardinality; }
    virtual std::string DebugString() const = 0;
    virtual bool IsStateful() const { return false; }
    virtual Status CheckExternalState() const { return Status::OK(); }

    // Builds the nodes that a dataset is written down as; pipelines are written down with the ops that made them, so that what counts
    // is whether this succeeds.
    class DatasetGraphDefBuilder;
    Status Describe(SerializationContext* context) const;

protected:
    virtual std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const = 0;
    virtual Status AsGraphDefInternal(SerializationContext* context, DatasetGraphDefBuilder* builder, Node** node) const = 0;

private:
    const std::string type_string_, node_name_;
};

class DatasetBase::DatasetGraphDefBuilder {
public:
    explicit DatasetGraphDefBuilder(std::vector<std::unique_ptr<Node>>* nodes) : nodes_(nodes) {}

    template <typename T>
    Status AddScalar(const T& value, Node** output) {
        Tensor tensor(DataTypeToEnum<T>::v(), TensorShape({}));
        tensor.scalar<T>()() = value;
        return AddTensor(tensor, output);
    }
    Status AddScalar(const char* value, Node** output) { return AddScalar(std::string(value), output); }
    template <typename T>
    Status AddVector(const std::vector<T>& values, Node** output) {
        Tensor tensor(DataTypeToEnum<T>::v(), TensorShape({static_cast<int64>(values.size())}));
        for (size_t i = 0; i < values.size(); ++i) tensor.flat<T>()(static_cast<Eigen::DenseIndex>(i)) = values[i];
        return AddTensor(tensor, output);
    }
    Status AddTensor(const Tensor& value, Node** output) { return Add("Const", {}, {value}, output); }
    Status AddDatasetOrTensor(SerializationContext* context, const Tensor& value, Node** output);
    Status AddInputDataset(SerializationContext* context, const DatasetBase* dataset, Node** output) {
        return dataset->AsGraphDefInternal(context, this, output);
    }
    Status AddDataset(const DatasetBase* dataset, const std::vector<Node*>& inputs, Node** output) { return AddDataset(dataset, inputs, {}, output); }
    Status AddDataset(const DatasetBase* dataset, const std::vector<Node*>& inputs, const std::vector<std::pair<StringPiece, AttrValue>>& attrs, Node** output);
    Status AddDataset(const DatasetBase* dataset, const std::vector<std::pair<size_t, Node*>>& inputs,
                      const std::vector<std::pair<size_t, gtl::ArraySlice<Node*>>>& list_inputs,
                      const std::vector<std::pair<StringPiece, AttrValue>>& attrs, Node** output);
    template <typename T>
    void BuildAttrValue(const T& value, AttrValue* attr) {
        SetAttrValue(value, attr);
    }

private:
    Status Add(const std::string& op, std::vector<Node*> inputs, std::vector<Tensor> values, Node** output);

    std::vector<std::unique_ptr<Node>>* nodes_;
};

// An iterator that knows its dataset, and checks nothing but the end.
class DatasetBaseIterator : public IteratorBase {
public:
    struct BaseParams {
        // Kept alive as long as the iterator.
        const DatasetBase* dataset;
        std::string prefix;
    };
    explicit DatasetBaseIterator(const BaseParams& params) : base_(params) { base_.dataset->Ref(); }
    ~DatasetBaseIterator() override { base_.dataset->Unref(); }

    const DataTypeVector& output_dtypes() const override { return base_.dataset->output_dtypes(); }
    const std::vector<PartialTensorShape>& output_shapes() const override { return base_.dataset->output_shapes(); }
    const std::string& prefix() const override { return base_.prefix; }
    using IteratorBase::GetNext;
    Status GetNext(IteratorContext* context, std::vector<Tensor>* out_tensors, bool* end_of_sequence) final;

protected:
    virtual Status GetNextInternal(IteratorContext* context, std::vector<Tensor>* out_tensors, bool* end_of_sequence) = 0;
    // A name for a part of the position that no other iterator has.
    std::string full_name(const std::string& name) const { return base_.prefix + ":" + name; }
    bool collect_resource_usage(IteratorContext*) { return false; }
    void RecordElement(IteratorContext*) {}
    void RecordStart(IteratorContext*) {}
    void RecordStop(IteratorContext*) {}

private:
    const BaseParams base_;
};

template <class DatasetType>
class DatasetIterator : public DatasetBaseIterator {
public:
    struct Params {
        const DatasetType* dataset;
        std::string prefix;
    };
    explicit DatasetIterator(const Params& params) : DatasetBaseIterator({params.dataset, params.prefix}), dataset_(params.dataset) {}
    const DatasetType* dataset() const { return dataset_; }

private:
    const DatasetType* const dataset_;
};

template <typename T>
Status ParseScalarArgument(OpKernelContext* context, StringPiece name, T* output) {
    const Tensor* tensor = nullptr;
    TF_RETURN_IF_ERROR(context->input(name, &tensor));
    if (!TensorShapeUtils::IsScalar(tensor->shape())) return errors::InvalidArgument(name, " must be a scalar");
    *output = tensor->scalar<T>()();
    return Status::OK();
}

template <typename T>
Status ParseVectorArgument(OpKernelContext* context, StringPiece name, std::vector<T>* output) {
    const Tensor* tensor = nullptr;
    TF_RETURN_IF_ERROR(context->input(name, &tensor));
    if (!TensorShapeUtils::IsVector(tensor->shape())) return errors::InvalidArgument(name, " must be a vector");
    const auto values = tensor->vec<T>();
    output->assign(values.data(), values.data() + values.size());
    return Status::OK();
}

// A variant's dataset, without a reference of the caller's.
Status GetDatasetFromVariantTensor(const Tensor& tensor, DatasetBase** dataset);
// Takes over the caller's reference.
Status StoreDatasetInVariantTensor(DatasetBase* dataset, Tensor* tensor);

// An op that makes a dataset.
class DatasetOpKernel : public OpKernel {
public:
    explicit DatasetOpKernel(OpKernelConstruction* context) : OpKernel(context) {}
    void Compute(OpKernelContext* context) final;

protected:
    // Gives a dataset with a reference that the caller gets.
    virtual void MakeDataset(OpKernelContext* context, DatasetBase** output) = 0;
};

// An op that makes a dataset of another one.
class UnaryDatasetOpKernel : public DatasetOpKernel {
public:
    explicit UnaryDatasetOpKernel(OpKernelConstruction* context) : DatasetOpKernel(context) {}

protected:
    void MakeDataset(OpKernelContext* context, DatasetBase** output) final;
    virtual void MakeDataset(OpKernelContext* context, DatasetBase* input, DatasetBase** output) = 0;
};

class BinaryDatasetOpKernel : public DatasetOpKernel {
public:
    explicit BinaryDatasetOpKernel(OpKernelConstruction* context) : DatasetOpKernel(context) {}

protected:
    void MakeDataset(OpKernelContext* context, DatasetBase** output) final;
    virtual void MakeDataset(OpKernelContext* context, DatasetBase* input, DatasetBase* another_input, DatasetBase** output) = 0;
};

}  // namespace data

using data::BinaryDatasetOpKernel;
using data::DatasetBase;
using data::DatasetContext;
using data::DatasetIterator;
using data::DatasetOpKernel;
using data::IteratorBase;
using data::IteratorContext;
using data::IteratorStateReader;
using data::IteratorStateWriter;
using data::SerializationContext;
using data::UnaryDatasetOpKernel;

}  // namespace tensorflow

#endif
