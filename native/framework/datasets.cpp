// Datasets of C++'s for Python, and Python's for C++.
#include "tensorflow/core/framework/dataset.h"

#include "abi.h"
#include "crossing.h"

namespace tensorflow {
namespace data {
namespace {

// What a variant holds that is a dataset.
class HeldDataset {
public:
    // Takes over a reference.
    explicit HeldDataset(DatasetBase* dataset) : dataset_(dataset) {}
    HeldDataset(const HeldDataset& other) : dataset_(other.dataset_) { dataset_->Ref(); }
    ~HeldDataset() { dataset_->Unref(); }
    void operator=(const HeldDataset&) = delete;
    DatasetBase* get() const { return dataset_; }

private:
    DatasetBase* dataset_;
};

const EverflowStreams*& streams() {
    static const EverflowStreams* all = nullptr;
    return all;
}

void keep_words(void* call, const char* message) { *static_cast<std::string*>(call) = message; }

Status status_of(int32_t code, const std::string& message) { return Status(static_cast<error::Code>(code), message); }

// A dataset of Python's.
class OuterDataset : public DatasetBase {
public:
    OuterDataset(void* stream, DataTypeVector types, std::vector<PartialTensorShape> shapes)
        : DatasetBase(DatasetContext(DatasetContext::Params{"Python", "Python"})), stream_(stream), types_(std::move(types)), shapes_(std::move(shapes)) {}
    ~OuterDataset() override { streams()->release(stream_); }

    const DataTypeVector& output_dtypes() const override { return types_; }
    const std::vector<PartialTensorShape>& output_shapes() const override { return shapes_; }
    int64 Cardinality() const override { return streams()->count(stream_); }
    std::string DebugString() const override { return "a dataset of Python's"; }

protected:
    class Iterator : public DatasetIterator<OuterDataset> {
    public:
        using DatasetIterator<OuterDataset>::DatasetIterator;
        ~Iterator() override {
            if (cursor_) streams()->release(cursor_);
        }
        Status Initialize(IteratorContext* context) override {
            std::string words;
            const int32_t code = streams()->open(dataset()->stream_, context->params().reader, &cursor_, &words, keep_words);
            return status_of(code, words);
        }

    protected:
        Status GetNextInternal(IteratorContext*, std::vector<Tensor>* out, bool* end_of_sequence) override {
            struct Call {
                std::string words;
                std::vector<Tensor>* out;
            } call{"", out};
            const std::vector<int32_t> types(dataset()->types_.begin(), dataset()->types_.end());
            const int32_t code = streams()->next(
                cursor_, types.data(), static_cast<int32_t>(types.size()), end_of_sequence, &call,
                [](void* to, const char*, int32_t, const EverflowTensor* tensor) { static_cast<Call*>(to)->out->push_back(tensor_of(*tensor)); },
                [](void* to, const char* message) { static_cast<Call*>(to)->words = message; });
            return status_of(code, call.words);
        }
        Status SaveInternal(IteratorStateWriter* writer) override {
            struct Call {
                std::string words, text;
            } call;
            const int32_t code = streams()->save(
                cursor_, &call, [](void* to, const char* text, int64_t size) { static_cast<Call*>(to)->text.assign(text, static_cast<size_t>(size)); },
                [](void* to, const char* message) { static_cast<Call*>(to)->words = message; });
            TF_RETURN_IF_ERROR(status_of(code, call.words));
            return writer->WriteScalar(full_name("position"), call.text);
        }
        Status RestoreInternal(IteratorContext*, IteratorStateReader* reader) override {
            std::string text, words;
            TF_RETURN_IF_ERROR(reader->ReadScalar(full_name("position"), &text));
            const int32_t code = streams()->restore(cursor_, text.data(), static_cast<int64_t>(text.size()), &words, keep_words);
            return status_of(code, words);
        }

    private:
        void* cursor_ = nullptr;
    };

    std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override {
        return std::unique_ptr<IteratorBase>(new Iterator(Iterator::Params{this, prefix + "::Python"}));
    }
    Status AsGraphDefInternal(SerializationContext*, DatasetGraphDefBuilder* builder, Node** node) const override {
        return builder->AddDataset(this, {}, node);
    }

private:
    void* stream_;
    const DataTypeVector types_;
    const std::vector<PartialTensorShape> shapes_;
};

struct OpenIterator {
    std::unique_ptr<IteratorBase> iterator;
    IteratorContext context;
    DatasetBase* dataset;
};

IteratorContext context_of(void* reader) {
    IteratorContext::Params params;
    params.runner = [](std::function<void()> work) { Env::Default()->SchedClosure(std::move(work)); };
    params.reader = reader;
    return IteratorContext(std::move(params));
}

// Hands each part of a position on.
class Writer : public IteratorStateWriter {
public:
    Writer(void* call, EverflowTake take) : call_(call), take_(take) {}
    Status WriteScalar(StringPiece key, const int64 value) override { return WriteTensor(key, Tensor(value)); }
    Status WriteScalar(StringPiece key, const std::string& value) override { return WriteTensor(key, Tensor(value)); }
    Status WriteTensor(StringPiece key, const Tensor& value) override {
        std::vector<int64_t> sizes;
        const EverflowTensor tensor = crossing(value, &sizes);
        take_(call_, std::string(key).c_str(), 0, &tensor);
        return Status::OK();
    }

private:
    void* call_;
    EverflowTake take_;
};

class Reader : public IteratorStateReader {
public:
    explicit Reader(std::map<std::string, Tensor> parts) : parts_(std::move(parts)) {}
    Status ReadScalar(StringPiece key, int64* value) override { return Read(key, value); }
    Status ReadScalar(StringPiece key, std::string* value) override { return Read(key, value); }
    Status ReadTensor(StringPiece key, Tensor* value) override {
        const auto found = parts_.find(std::string(key));
        if (found == parts_.end()) return errors::NotFound("Key not found: ", key);
        *value = found->second;
        return Status::OK();
    }
    bool Contains(StringPiece key) override { return parts_.count(std::string(key)) != 0; }

private:
    template <typename T>
    Status Read(StringPiece key, T* value) {
        Tensor tensor;
        TF_RETURN_IF_ERROR(ReadTensor(key, &tensor));
        if (tensor.dtype() != DataTypeToEnum<T>::v() || tensor.NumElements() != 1) return errors::InvalidArgument("another kind of value is saved as ", key);
        *value = tensor.flat<T>()(0);
        return Status::OK();
    }
    std::map<std::string, Tensor> parts_;
};

int32_t answered(const Status& status, void* call, EverflowFailed failed) {
    if (!status.ok()) failed(call, status.error_message().c_str());
    return status.code();
}

int32_t iterator_open(void* dataset, const char* prefix, void* reader, void** iterator, void* call, EverflowFailed failed) {
    *iterator = nullptr;
    DatasetBase* of = static_cast<DatasetBase*>(dataset);
    const Status status = guarded([&]() -> Status {
        std::unique_ptr<OpenIterator> made(new OpenIterator{nullptr, context_of(reader), of});
        TF_RETURN_IF_ERROR(of->MakeIterator(&made->context, prefix, &made->iterator));
        of->Ref();
        *iterator = made.release();
        return Status::OK();
    });
    return answered(status, call, failed);
}

int32_t iterator_next(void* iterator, bool* end, void* call, EverflowTake take, EverflowFailed failed) {
    OpenIterator& of = *static_cast<OpenIterator*>(iterator);
    const Status status = guarded([&]() -> Status {
        std::vector<Tensor> element;
        *end = false;
        TF_RETURN_IF_ERROR(of.iterator->GetNext(&of.context, &element, end));
        if (*end) return Status::OK();
        for (size_t i = 0; i < element.size(); ++i) {
            std::vector<int64_t> sizes;
            const EverflowTensor tensor = crossing(element[i], &sizes);
            take(call, "", static_cast<int32_t>(i), &tensor);
        }
        return Status::OK();
    });
    return answered(status, call, failed);
}

int32_t iterator_save(void* iterator, void* call, EverflowTake take, EverflowFailed failed) {
    OpenIterator& of = *static_cast<OpenIterator*>(iterator);
    const Status status = guarded([&]() -> Status {
        SerializationContext context({});
        TF_RETURN_IF_ERROR(of.dataset->Describe(&context));
        Writer writer(call, take);
        return of.iterator->Save(&context, &writer);
    });
    return answered(status, call, failed);
}

int32_t iterator_restore(void* iterator, const char* const* names, const EverflowTensor* tensors, int32_t count, void* call, EverflowFailed failed) {
    OpenIterator& of = *static_cast<OpenIterator*>(iterator);
    const Status status = guarded([&]() -> Status {
        std::map<std::string, Tensor> parts;
        for (int32_t i = 0; i < count; ++i) parts.emplace(names[i], tensor_of(tensors[i]));
        Reader reader(std::move(parts));
        return of.iterator->Restore(&of.context, &reader);
    });
    return answered(status, call, failed);
}

void iterator_release(void* iterator) {
    OpenIterator* of = static_cast<OpenIterator*>(iterator);
    of->iterator.reset();
    of->dataset->Unref();
    delete of;
}

}  // namespace

Status DatasetBase::MakeIterator(IteratorContext* context, const std::string& prefix, std::unique_ptr<IteratorBase>* iterator) const {
    *iterator = MakeIteratorInternal(prefix);
    return (*iterator)->Initialize(context);
}

Status DatasetBase::MakeIteratorFromCheckpoint(IteratorContext* context, const std::string& prefix, IteratorStateReader* reader,
                                               std::unique_ptr<IteratorBase>* iterator) const {
    TF_RETURN_IF_ERROR(MakeIterator(context, prefix, iterator));
    return (*iterator)->RestoreInternal(context, reader);
}

Status DatasetBase::Describe(SerializationContext* context) const {
    TF_RETURN_IF_ERROR(CheckExternalState());
    std::vector<std::unique_ptr<Node>> nodes;
    DatasetGraphDefBuilder builder(&nodes);
    Node* node = nullptr;
    TF_RETURN_IF_ERROR(AsGraphDefInternal(context, &builder, &node));
    return node ? Status::OK() : errors::Internal("the node of ", DebugString(), " was not made");
}

Status DatasetBase::DatasetGraphDefBuilder::Add(const std::string& op, std::vector<Node*> inputs, std::vector<Tensor> values, Node** output) {
    for (const Node* input : inputs) {
        if (!input) return errors::Internal("an input of ", op, " was not made");
    }
    nodes_->emplace_back(new Node(op, std::move(inputs), std::move(values)));
    *output = nodes_->back().get();
    return Status::OK();
}

Status DatasetBase::DatasetGraphDefBuilder::AddDatasetOrTensor(SerializationContext* context, const Tensor& value, Node** output) {
    if (value.dtype() != DT_VARIANT) return AddTensor(value, output);
    DatasetBase* dataset = nullptr;
    TF_RETURN_IF_ERROR(GetDatasetFromVariantTensor(value, &dataset));
    return AddInputDataset(context, dataset, output);
}

Status DatasetBase::DatasetGraphDefBuilder::AddDataset(const DatasetBase* dataset, const std::vector<Node*>& inputs,
                                                       const std::vector<std::pair<StringPiece, AttrValue>>&, Node** output) {
    return Add(dataset->type_string(), inputs, {}, output);
}

Status DatasetBase::DatasetGraphDefBuilder::AddDataset(const DatasetBase* dataset, const std::vector<std::pair<size_t, Node*>>& inputs,
                                                       const std::vector<std::pair<size_t, gtl::ArraySlice<Node*>>>& list_inputs,
                                                       const std::vector<std::pair<StringPiece, AttrValue>>&, Node** output) {
    std::vector<Node*> all;
    for (const auto& input : inputs) all.push_back(input.second);
    for (const auto& list : list_inputs) all.insert(all.end(), list.second.begin(), list.second.end());
    return Add(dataset->type_string(), std::move(all), {}, output);
}

Status DatasetBaseIterator::GetNext(IteratorContext* context, std::vector<Tensor>* out_tensors, bool* end_of_sequence) {
    out_tensors->clear();
    const Status status = GetNextInternal(context, out_tensors, end_of_sequence);
    if (errors::IsOutOfRange(status)) {
        return errors::Internal("Iterator \"", prefix(), "\" returned OutOfRange without setting `*end_of_sequence`. This indicates that an error may have occurred. Original message: ",
                                status.error_message());
    }
    if (status.ok() && !*end_of_sequence && out_tensors->size() != output_dtypes().size()) {
        return errors::Internal("Iterator \"", prefix(), "\" gave ", out_tensors->size(), " tensors, and was to give ", output_dtypes().size());
    }
    return status;
}

Status GetDatasetFromVariantTensor(const Tensor& tensor, DatasetBase** dataset) {
    if (tensor.dtype() != DT_VARIANT || !TensorShapeUtils::IsScalar(tensor.shape())) {
        return errors::InvalidArgument("Dataset tensor must be a scalar of dtype DT_VARIANT.");
    }
    const HeldDataset* held = tensor.scalar<Variant>()().get<HeldDataset>();
    if (!held) return errors::InvalidArgument("Tensor must be a Dataset object.");
    *dataset = held->get();
    return Status::OK();
}

Status StoreDatasetInVariantTensor(DatasetBase* dataset, Tensor* tensor) {
    if (tensor->dtype() != DT_VARIANT || !TensorShapeUtils::IsScalar(tensor->shape())) {
        return errors::InvalidArgument("Dataset tensor must be a scalar of dtype DT_VARIANT.");
    }
    tensor->scalar<Variant>()() = HeldDataset(dataset);
    return Status::OK();
}

void DatasetOpKernel::Compute(OpKernelContext* context) {
    DatasetBase* dataset = nullptr;
    MakeDataset(context, &dataset);
    if (!context->status().ok()) return;
    OP_REQUIRES(context, dataset != nullptr, errors::Internal(name(), " made no dataset"));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &output));
    OP_REQUIRES_OK(context, StoreDatasetInVariantTensor(dataset, output));
}

void UnaryDatasetOpKernel::MakeDataset(OpKernelContext* context, DatasetBase** output) {
    DatasetBase* input = nullptr;
    OP_REQUIRES_OK(context, GetDatasetFromVariantTensor(context->input(0), &input));
    MakeDataset(context, input, output);
}

void BinaryDatasetOpKernel::MakeDataset(OpKernelContext* context, DatasetBase** output) {
    DatasetBase *input = nullptr, *another = nullptr;
    OP_REQUIRES_OK(context, GetDatasetFromVariantTensor(context->input(0), &input));
    OP_REQUIRES_OK(context, GetDatasetFromVariantTensor(context->input(1), &another));
    MakeDataset(context, input, another, output);
}

}  // namespace data
}  // namespace tensorflow

using namespace tensorflow;

EXPORTED const EverflowIterators* everflow_iterators() {
    static const EverflowIterators all = {data::iterator_open, data::iterator_next, data::iterator_save, data::iterator_restore, data::iterator_release};
    return &all;
}

EXPORTED void everflow_use_streams(const EverflowStreams* all) { data::streams() = all; }

// -- variants

EXPORTED void* everflow_variants_new(int64_t count) { return new Variant[static_cast<size_t>(count)]; }

EXPORTED void* everflow_variants_copy(const void* from, int64_t count) {
    auto* made = new Variant[static_cast<size_t>(count)];
    std::copy_n(static_cast<const Variant*>(from), count, made);
    return made;
}

EXPORTED void everflow_variants_free(void* variants) { delete[] static_cast<Variant*>(variants); }

// The dataset that a variant holds, with a reference for the caller; null where it holds something else.
EXPORTED void* everflow_variant_dataset(void* variants, int64_t index) {
    const auto* held = static_cast<Variant*>(variants)[index].get<data::HeldDataset>();
    if (!held) return nullptr;
    held->get()->Ref();
    return held->get();
}

EXPORTED void everflow_variant_put(void* variants, int64_t index, void* dataset) {
    static_cast<DatasetBase*>(dataset)->Ref();
    static_cast<Variant*>(variants)[index] = data::HeldDataset(static_cast<DatasetBase*>(dataset));
}

// -- datasets

// A dataset of Python's; takes over a reference to it. Each shape is its rank and its sizes.
EXPORTED void* everflow_dataset_outer(void* stream, const int32_t* types, int32_t count, const int64_t* shapes) {
    DataTypeVector given;
    std::vector<PartialTensorShape> known;
    for (int32_t i = 0; i < count; ++i) {
        given.push_back(static_cast<DataType>(types[i]));
        const int64_t rank = *shapes++;
        const std::vector<int64> sizes(shapes, shapes + std::max<int64_t>(rank, 0));
        known.push_back(rank < 0 ? PartialTensorShape() : PartialTensorShape(gtl::ArraySlice<int64>(sizes)));
        shapes += sizes.size();
    }
    return new data::OuterDataset(stream, std::move(given), std::move(known));
}

EXPORTED void everflow_dataset_free(void* dataset) { static_cast<DatasetBase*>(dataset)->Unref(); }

// Of each component, the type and the shape.
EXPORTED void everflow_dataset_spec(void* dataset, void (*take)(int32_t type, int32_t rank, const int64_t* sizes)) {
    const DatasetBase* of = static_cast<DatasetBase*>(dataset);
    for (size_t i = 0; i < of->output_dtypes().size(); ++i) {
        std::vector<int64_t> sizes;
        const PartialTensorShape shape = i < of->output_shapes().size() ? of->output_shapes()[i] : PartialTensorShape();
        for (int d = 0; d < shape.dims(); ++d) sizes.push_back(shape.dim_size(d));
        take(of->output_dtypes()[i], shape.dims(), sizes.data());
    }
}

EXPORTED int64_t everflow_dataset_count(void* dataset) { return static_cast<DatasetBase*>(dataset)->Cardinality(); }

// Whether the dataset can be written down.
EXPORTED int32_t everflow_dataset_describe(void* dataset, char* message, int64_t size) {
    const Status status = guarded([&]() -> Status {
        data::SerializationContext context({});
        return static_cast<DatasetBase*>(dataset)->Describe(&context);
    });
    return said(status, message, size);
}
