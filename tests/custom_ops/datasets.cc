// Datasets for test_datasets.py: one that reads files, one that counts, one that is made of another, one that can't be saved.
#include <fstream>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/lib/io/path.h"

namespace pages {
namespace {

using namespace tensorflow;

// The lines of a file that is read whole, with their numbers.
class LinesOp : public DatasetOpKernel {
public:
    using DatasetOpKernel::DatasetOpKernel;

    void MakeDataset(OpKernelContext* context, DatasetBase** output) override {
        std::vector<std::string> names;
        OP_REQUIRES_OK(context, data::ParseVectorArgument<std::string>(context, "names", &names));
        OP_REQUIRES(context, !names.empty(), errors::InvalidArgument("no files to read"));
        *output = new Dataset(context, std::move(names));
    }

private:
    class Dataset : public DatasetBase {
    public:
        Dataset(OpKernelContext* context, std::vector<std::string> names) : DatasetBase(DatasetContext(context)), names_(std::move(names)) {}

        const DataTypeVector& output_dtypes() const override {
            static const DataTypeVector* const types = new DataTypeVector({DT_STRING, DT_INT64});
            return *types;
        }
        const std::vector<PartialTensorShape>& output_shapes() const override {
            static const std::vector<PartialTensorShape>* const shapes = new std::vector<PartialTensorShape>({{}, {1}});
            return *shapes;
        }
        std::string DebugString() const override { return "LinesOp::Dataset"; }

    protected:
        std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override {
            return std::unique_ptr<IteratorBase>(new Iterator(Iterator::Params{this, strings::StrCat(prefix, "::Lines")}));
        }
        Status AsGraphDefInternal(SerializationContext*, DatasetGraphDefBuilder* builder, Node** output) const override {
            Node* names = nullptr;
            TF_RETURN_IF_ERROR(builder->AddVector(names_, &names));
            return builder->AddDataset(this, {names}, output);
        }

    private:
        class Iterator : public DatasetIterator<Dataset> {
        public:
            explicit Iterator(const Params& params) : DatasetIterator<Dataset>(params) {}

            Status GetNextInternal(IteratorContext* context, std::vector<Tensor>* out, bool* end_of_sequence) override {
                mutex_lock lock(mu_);
                *end_of_sequence = false;
                for (;;) {
                    if (file_ >= dataset()->names_.size()) {
                        *end_of_sequence = true;
                        return Status::OK();
                    }
                    if (!is_open_) TF_RETURN_IF_ERROR(Open(context->env()));
                    const size_t stop = text_.find('\n', at_);
                    if (stop == std::string::npos) {
                        is_open_ = false, at_ = 0, ++file_;
                        continue;
                    }
                    Tensor line(context->allocator({}), DT_STRING, TensorShape({}));
                    line.scalar<tstring>()() = text_.substr(at_, stop - at_);
                    Tensor number(DT_INT64, TensorShape({1}));
                    number.vec<int64>()(0) = ++lines_;
                    at_ = stop + 1;
                    out->push_back(std::move(line));
                    out->push_back(std::move(number));
                    return Status::OK();
                }
            }

        protected:
            Status SaveInternal(IteratorStateWriter* writer) override {
                mutex_lock lock(mu_);
                TF_RETURN_IF_ERROR(writer->WriteScalar(full_name("file"), static_cast<int64>(file_)));
                TF_RETURN_IF_ERROR(writer->WriteScalar(full_name("at"), static_cast<int64>(at_)));
                TF_RETURN_IF_ERROR(writer->WriteScalar(full_name("name"), file_ < dataset()->names_.size() ? dataset()->names_[file_] : ""));
                Tensor lines(DT_INT64, TensorShape({1}));
                lines.vec<int64>()(0) = lines_;
                return writer->WriteTensor(full_name("lines"), lines);
            }
            Status RestoreInternal(IteratorContext* context, IteratorStateReader* reader) override {
                mutex_lock lock(mu_);
                int64 file = 0, at = 0;
                std::string name;
                Tensor lines;
                TF_RETURN_IF_ERROR(reader->ReadScalar(full_name("file"), &file));
                TF_RETURN_IF_ERROR(reader->ReadScalar(full_name("at"), &at));
                TF_RETURN_IF_ERROR(reader->ReadScalar(full_name("name"), &name));
                TF_RETURN_IF_ERROR(reader->ReadTensor(full_name("lines"), &lines));
                if (reader->Contains(full_name("nothing"))) return errors::Internal("there is no such key");
                file_ = static_cast<size_t>(file), is_open_ = false, lines_ = lines.vec<int64>()(0);
                if (file_ < dataset()->names_.size()) {
                    if (name != dataset()->names_[file_]) return errors::FailedPrecondition("another file was being read: ", name);
                    TF_RETURN_IF_ERROR(Open(context->env()));
                }
                at_ = static_cast<size_t>(at);
                return Status::OK();
            }

        private:
            Status Open(Env* env) {
                TF_RETURN_IF_ERROR(ReadFileToString(env, dataset()->names_[file_], &text_));
                if (text_.find('\0') != std::string::npos) {
                    const std::string name = dataset()->names_[file_++];
                    return errors::DataLoss(io::Basename(name), " holds no text");
                }
                is_open_ = true, at_ = 0;
                return Status::OK();
            }

            mutex mu_;
            size_t file_ GUARDED_BY(mu_) = 0, at_ GUARDED_BY(mu_) = 0;
            int64 lines_ GUARDED_BY(mu_) = 0;
            bool is_open_ GUARDED_BY(mu_) = false;
            std::string text_ GUARDED_BY(mu_);
        };

        const std::vector<std::string> names_;
    };
};

REGISTER_OP("LinesDataset").Input("names: string").Output("handle: variant").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);
REGISTER_KERNEL_BUILDER(Name("LinesDataset").Device(DEVICE_CPU), LinesOp);

// Each element of another dataset several times, with the turn as a further component.
class EchoOp : public UnaryDatasetOpKernel {
public:
    explicit EchoOp(OpKernelConstruction* context) : UnaryDatasetOpKernel(context) {
        OP_REQUIRES_OK(context, context->GetAttr("output_types", &types_));
        OP_REQUIRES_OK(context, context->GetAttr("output_shapes", &shapes_));
    }

protected:
    void MakeDataset(OpKernelContext* context, DatasetBase* input, DatasetBase** output) override {
        int64 times = 0;
        OP_REQUIRES_OK(context, data::ParseScalarArgument<int64>(context, "times", &times));
        OP_REQUIRES(context, times > 0, errors::InvalidArgument("times must be positive, got ", times));
        *output = new Dataset(context, input, times, types_, shapes_);
    }

private:
    class Dataset : public DatasetBase {
    public:
        Dataset(OpKernelContext* context, const DatasetBase* input, int64 times, const DataTypeVector& types, const std::vector<PartialTensorShape>& shapes)
            : DatasetBase(DatasetContext(context)), input_(input), times_(times), types_(types), shapes_(shapes) {
            input_->Ref();
        }
        ~Dataset() override { input_->Unref(); }
        const DataTypeVector& output_dtypes() const override { return types_; }
        const std::vector<PartialTensorShape>& output_shapes() const override { return shapes_; }
        std::string DebugString() const override { return "EchoOp::Dataset"; }
        int64 Cardinality() const override {
            const int64 n = input_->Cardinality();
            return n < 0 ? n : n * times_;
        }

    protected:
        std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override {
            return std::unique_ptr<IteratorBase>(new Iterator({this, strings::StrCat(prefix, "::Echo")}));
        }
        Status AsGraphDefInternal(SerializationContext* context, DatasetGraphDefBuilder* builder, Node** output) const override {
            Node *input = nullptr, *times = nullptr;
            AttrValue types;
            TF_RETURN_IF_ERROR(builder->AddInputDataset(context, input_, &input));
            TF_RETURN_IF_ERROR(builder->AddScalar(times_, &times));
            builder->BuildAttrValue(types_, &types);
            return builder->AddDataset(this, {{0, input}, {1, times}}, {}, {{"output_types", types}}, output);
        }

    private:
        class Iterator : public DatasetIterator<Dataset> {
        public:
            explicit Iterator(const Params& params) : DatasetIterator<Dataset>(params) {}
            Status Initialize(IteratorContext* context) override { return dataset()->input_->MakeIterator(context, prefix(), &input_); }
            Status GetNextInternal(IteratorContext* context, std::vector<Tensor>* out, bool* end_of_sequence) override {
                mutex_lock lock(mu_);
                *end_of_sequence = false;
                if (turn_ == 0) {
                    TF_RETURN_IF_ERROR(input_->GetNext(context, &element_, end_of_sequence));
                    if (*end_of_sequence) return Status::OK();
                }
                *out = element_;
                out->emplace_back(turn_);
                turn_ = (turn_ + 1) % dataset()->times_;
                return Status::OK();
            }

        protected:
            std::shared_ptr<data::model::Node> CreateNode(IteratorContext*, data::model::Node::Args args) const override {
                return data::model::MakeKnownRatioNode(std::move(args), 1);
            }
            Status SaveInternal(IteratorStateWriter* writer) override {
                mutex_lock lock(mu_);
                TF_RETURN_IF_ERROR(writer->WriteScalar(full_name("turn"), turn_));
                for (size_t i = 0; turn_ && i < element_.size(); ++i) {
                    TF_RETURN_IF_ERROR(writer->WriteTensor(full_name(strings::StrCat("element", i)), element_[i]));
                }
                return SaveInput(writer, input_);
            }
            Status RestoreInternal(IteratorContext* context, IteratorStateReader* reader) override {
                mutex_lock lock(mu_);
                TF_RETURN_IF_ERROR(reader->ReadScalar(full_name("turn"), &turn_));
                element_.resize(dataset()->types_.size() - 1);
                for (size_t i = 0; turn_ && i < element_.size(); ++i) {
                    TF_RETURN_IF_ERROR(reader->ReadTensor(full_name(strings::StrCat("element", i)), &element_[i]));
                }
                return RestoreInput(context, reader, input_);
            }

        private:
            mutex mu_;
            std::unique_ptr<IteratorBase> input_ GUARDED_BY(mu_);
            std::vector<Tensor> element_ GUARDED_BY(mu_);
            int64 turn_ GUARDED_BY(mu_) = 0;
        };

        const DatasetBase* const input_;
        const int64 times_;
        const DataTypeVector types_;
        const std::vector<PartialTensorShape> shapes_;
    };

    DataTypeVector types_;
    std::vector<PartialTensorShape> shapes_;
};

REGISTER_OP("EchoDataset")
    .Input("input_dataset: variant")
    .Input("times: int64")
    .Output("handle: variant")
    .Attr("output_types: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .SetShapeFn(shape_inference::ScalarShape);
REGISTER_KERNEL_BUILDER(Name("EchoDataset").Device(DEVICE_CPU), EchoOp);

// Squares without end, or with one of several mistakes.
class SquaresOp : public DatasetOpKernel {
public:
    explicit SquaresOp(OpKernelConstruction* context) : DatasetOpKernel(context) { OP_REQUIRES_OK(context, context->GetAttr("mistake", &mistake_)); }
    void MakeDataset(OpKernelContext* context, DatasetBase** output) override {
        if (mistake_ != "no dataset") *output = new Dataset(context, mistake_);
    }

private:
    struct Dataset : DatasetBase {
        Dataset(OpKernelContext* context, const std::string& mistake) : DatasetBase(DatasetContext(context)), mistake_(mistake) {}
        const DataTypeVector& output_dtypes() const override {
            static const DataTypeVector types = {DT_FLOAT};
            return types;
        }
        const std::vector<PartialTensorShape>& output_shapes() const override {
            static const std::vector<PartialTensorShape> shapes = {{2, 2}};
            return shapes;
        }
        int64 Cardinality() const override { return data::kInfiniteCardinality; }
        std::string DebugString() const override { return "SquaresOp::Dataset"; }
        std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override {
            return std::unique_ptr<IteratorBase>(new Iterator({this, prefix + "::Squares"}));
        }
        Status AsGraphDefInternal(SerializationContext*, DatasetGraphDefBuilder*, Node**) const override {
            return errors::Unimplemented(DebugString(), " does not support serialization");
        }
        struct Iterator : DatasetIterator<Dataset> {
            using DatasetIterator<Dataset>::DatasetIterator;
            Status GetNextInternal(IteratorContext*, std::vector<Tensor>* out, bool* end_of_sequence) override {
                *end_of_sequence = false;
                if (dataset()->mistake_ == "out of range") return errors::OutOfRange("no more");
                if (dataset()->mistake_ == "throws") throw std::runtime_error("thrown by an iterator");
                if (dataset()->mistake_ == "nothing") return Status::OK();
                Tensor squares(DT_FLOAT, TensorShape({2, 2}));
                for (int i = 0; i < 4; ++i, ++next_) squares.flat<float>()(i) = static_cast<float>(next_ * next_);
                out->push_back(squares);
                return Status::OK();
            }
            int64 next_ = 0;
        };
        const std::string mistake_;
    };
    std::string mistake_;
};

REGISTER_OP("SquaresDataset").Attr("mistake: string = ''").Output("handle: variant").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);
REGISTER_KERNEL_BUILDER(Name("SquaresDataset").Device(DEVICE_CPU), SquaresOp);

// A variant of one's own: a list of numbers that grows.
typedef std::vector<int64> Numbers;

REGISTER_OP("NumbersPush").Input("numbers: variant").Input("next: int64").Output("longer: variant").SetShapeFn(shape_inference::ScalarShape);
REGISTER_OP("NumbersNone").Output("numbers: variant").SetShapeFn(shape_inference::ScalarShape);
REGISTER_OP("NumbersAll").Input("numbers: variant").Output("all: int64");

struct NumbersNone : OpKernel {
    using OpKernel::OpKernel;
    void Compute(OpKernelContext* context) override {
        Tensor* numbers = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &numbers));
        numbers->scalar<Variant>()() = Numbers();
    }
};
struct NumbersPush : OpKernel {
    using OpKernel::OpKernel;
    void Compute(OpKernelContext* context) override {
        const Numbers* known = context->input(0).scalar<Variant>()().get<Numbers>();
        OP_REQUIRES(context, known, errors::InvalidArgument("the variant holds no numbers"));
        Numbers longer = *known;
        longer.push_back(context->input(1).scalar<int64>()());
        Tensor* numbers = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &numbers));
        numbers->scalar<Variant>()() = std::move(longer);
    }
};
struct NumbersAll : OpKernel {
    using OpKernel::OpKernel;
    void Compute(OpKernelContext* context) override {
        const Numbers* known = context->input(0).scalar<Variant>()().get<Numbers>();
        OP_REQUIRES(context, known, errors::InvalidArgument("the variant holds no numbers"));
        Tensor* all = nullptr;
        OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({static_cast<int64>(known->size())}), &all));
        std::copy(known->begin(), known->end(), all->flat<int64>().data());
    }
};
REGISTER_KERNEL_BUILDER(Name("NumbersNone").Device(DEVICE_CPU), NumbersNone);
REGISTER_KERNEL_BUILDER(Name("NumbersPush").Device(DEVICE_CPU), NumbersPush);
REGISTER_KERNEL_BUILDER(Name("NumbersAll").Device(DEVICE_CPU), NumbersAll);

}  // namespace
}  // namespace pages
