// What a shape function sees: the shapes of the inputs as far as they are known, and what it may say of the outputs.
#ifndef TENSORFLOW_CORE_FRAMEWORK_SHAPE_INFERENCE_H_
#define TENSORFLOW_CORE_FRAMEWORK_SHAPE_INFERENCE_H_

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/node_attrs.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/lib/core/errors.h"

namespace tensorflow {
namespace shape_inference {

class InferenceContext;

// A size; two that are not known are the same only if they are the same handle.
class DimensionHandle {
public:
    DimensionHandle() : size_(nullptr) {}
    bool SameHandle(DimensionHandle other) const { return size_ == other.size_; }

private:
    friend class InferenceContext;
    explicit DimensionHandle(const int64* size) : size_(size) {}
    const int64* size_;
};

// Either a size or a number: what functions that take sizes accept.
struct DimensionOrConstant {
    DimensionOrConstant(DimensionHandle handle) : dim(handle), val(-1) {}
    DimensionOrConstant(int64 value) : val(value) {}
    DimensionOrConstant(int value) : val(value) {}
    DimensionHandle dim;
    int64 val;
};

class ShapeHandle {
public:
    ShapeHandle() : shape_(nullptr) {}
    bool SameHandle(ShapeHandle other) const { return shape_ == other.shape_; }
    bool Handle() const { return shape_ != nullptr; }

private:
    friend class InferenceContext;
    struct Shape {
        bool known;
        std::vector<DimensionHandle> sizes;
    };
    explicit ShapeHandle(const Shape* shape) : shape_(shape) {}
    const Shape* shape_;
};

class InferenceContext {
public:
    static constexpr int64 kUnknownDim = -1;
    static constexpr int32 kUnknownRank = -1;
    // The inputs (or outputs) of each argument by its name: where they begin and end.
    typedef std::map<std::string, std::pair<int, int>> Ranges;

    InferenceContext(const AttrValues* attrs, const std::vector<PartialTensorShape>& inputs, const std::vector<const Tensor*>& tensors,
                     const Ranges& input_ranges, const Ranges& output_ranges, int outputs);

    int num_inputs() const { return static_cast<int>(inputs_.size()); }
    int num_outputs() const { return static_cast<int>(outputs_.size()); }
    ShapeHandle input(int64 i) const { return inputs_[static_cast<size_t>(i)]; }
    Status input(StringPiece name, std::vector<ShapeHandle>* shapes) const { return Named(input_ranges_, inputs_, name, shapes); }
    ShapeHandle output(int64 i) const { return outputs_[static_cast<size_t>(i)]; }
    Status output(StringPiece name, std::vector<ShapeHandle>* shapes) const { return Named(output_ranges_, outputs_, name, shapes); }
    void set_output(int i, ShapeHandle shape) { outputs_[static_cast<size_t>(i)] = shape; }
    Status set_output(StringPiece name, const std::vector<ShapeHandle>& shapes);
    // The value of an input, or nullptr where it is not known before running.
    const Tensor* input_tensor(int i) const { return tensors_[static_cast<size_t>(i)]; }

    template <typename T>
    Status GetAttr(StringPiece name, T* value) const { return attrs_->get(name, value); }
    bool HasAttr(StringPiece name) const { return attrs_->has(name); }

    bool RankKnown(ShapeHandle s) const { return s.shape_->known; }
    int32 Rank(ShapeHandle s) const { return s.shape_->known ? static_cast<int32>(s.shape_->sizes.size()) : kUnknownRank; }
    DimensionHandle Dim(ShapeHandle s, int64 index);
    static int64 Value(DimensionOrConstant size) { return size.dim.size_ ? *size.dim.size_ : size.val; }
    static bool ValueKnown(DimensionOrConstant size) { return Value(size) >= 0; }
    bool FullyDefined(ShapeHandle s) const;
    DimensionHandle NumElements(ShapeHandle s);
    std::string DebugString(ShapeHandle s) const;
    std::string DebugString(DimensionHandle d) const { return ValueKnown(d) ? std::to_string(Value(d)) : "?"; }

    DimensionHandle UnknownDim() { return MakeDim(kUnknownDim); }
    DimensionHandle MakeDim(DimensionOrConstant size);
    ShapeHandle UnknownShape() { return Keep(false, {}); }
    ShapeHandle UnknownShapeOfRank(int64 rank);
    ShapeHandle MakeShape(const std::vector<DimensionHandle>& sizes) { return Keep(true, sizes); }
    ShapeHandle MakeShape(std::initializer_list<DimensionOrConstant> sizes);
    ShapeHandle Scalar() { return Keep(true, {}); }
    ShapeHandle Vector(DimensionOrConstant size) { return MakeShape({size}); }
    ShapeHandle Matrix(DimensionOrConstant rows, DimensionOrConstant columns) { return MakeShape({rows, columns}); }
    Status MakeShapeFromPartialTensorShape(const PartialTensorShape& partial, ShapeHandle* out);
    Status MakeShapeFromTensorShape(const TensorShape& shape, ShapeHandle* out) {
        return MakeShapeFromPartialTensorShape(PartialTensorShape(shape), out);
    }
    // The shape that an input holds as numbers.
    Status MakeShapeFromShapeTensor(int input, ShapeHandle* out);
    Status MakeDimForScalarInput(int input, DimensionHandle* out);
    Status GetScalarFromTensor(const Tensor* tensor, int64* value);

    Status WithRank(ShapeHandle s, int64 rank, ShapeHandle* out) TF_MUST_USE_RESULT;
    Status WithRankAtLeast(ShapeHandle s, int64 rank, ShapeHandle* out) TF_MUST_USE_RESULT;
    Status WithRankAtMost(ShapeHandle s, int64 rank, ShapeHandle* out) TF_MUST_USE_RESULT;
    Status WithValue(DimensionHandle d, int64 value, DimensionHandle* out) TF_MUST_USE_RESULT;
    // What both say together; an error where they contradict each other.
    Status Merge(DimensionHandle a, DimensionHandle b, DimensionHandle* out) TF_MUST_USE_RESULT;
    Status Merge(ShapeHandle a, ShapeHandle b, ShapeHandle* out) TF_MUST_USE_RESULT;
    Status Subshape(ShapeHandle s, int64 start, ShapeHandle* out) TF_MUST_USE_RESULT;
    Status Subshape(ShapeHandle s, int64 start, int64 end, ShapeHandle* out) TF_MUST_USE_RESULT;
    Status Concatenate(ShapeHandle a, ShapeHandle b, ShapeHandle* out) TF_MUST_USE_RESULT;
    Status ReplaceDim(ShapeHandle s, int64 index, DimensionHandle size, ShapeHandle* out) TF_MUST_USE_RESULT;

    Status Add(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);
    Status Subtract(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);
    Status Multiply(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);
    Status Divide(DimensionHandle a, DimensionOrConstant b, bool evenly_divisible, DimensionHandle* out);
    Status Min(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);
    Status Max(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);

private:
    ShapeHandle Keep(bool known, const std::vector<DimensionHandle>& sizes);
    Status Named(const Ranges& ranges, const std::vector<ShapeHandle>& all, StringPiece name, std::vector<ShapeHandle>* shapes) const;

    const AttrValues* attrs_;
    std::vector<const Tensor*> tensors_;
    Ranges input_ranges_, output_ranges_;
    std::vector<ShapeHandle> inputs_, outputs_;
    // Handles point into these, which never move.
    std::deque<int64> sizes_;
    std::deque<ShapeHandle::Shape> shapes_;
    InferenceContext(const InferenceContext&) = delete;
    void operator=(const InferenceContext&) = delete;
};

}  // namespace shape_inference
}  // namespace tensorflow

#endif
