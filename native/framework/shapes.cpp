// What shape functions ask of their context, and those that many ops share.
#include <algorithm>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace shape_inference {

constexpr int64 InferenceContext::kUnknownDim;
constexpr int32 InferenceContext::kUnknownRank;

InferenceContext::InferenceContext(const AttrValues* attrs, const std::vector<PartialTensorShape>& inputs,
                                   const std::vector<const Tensor*>& tensors, const Ranges& input_ranges, const Ranges& output_ranges, int outputs)
    : attrs_(attrs), tensors_(tensors), input_ranges_(input_ranges), output_ranges_(output_ranges) {
    for (const PartialTensorShape& input : inputs) {
        ShapeHandle shape;
        MakeShapeFromPartialTensorShape(input, &shape).IgnoreError();
        inputs_.push_back(shape);
    }
    for (int i = 0; i < outputs; ++i) outputs_.push_back(UnknownShape());
}

ShapeHandle InferenceContext::Keep(bool known, const std::vector<DimensionHandle>& sizes) {
    shapes_.push_back({known, sizes});
    return ShapeHandle(&shapes_.back());
}

Status InferenceContext::Named(const Ranges& ranges, const std::vector<ShapeHandle>& all, StringPiece name, std::vector<ShapeHandle>* shapes) const {
    const auto range = ranges.find(std::string(name));
    if (range == ranges.end()) return errors::InvalidArgument("Unknown name: ", name);
    shapes->assign(all.begin() + range->second.first, all.begin() + range->second.second);
    return Status::OK();
}

Status InferenceContext::set_output(StringPiece name, const std::vector<ShapeHandle>& shapes) {
    const auto range = output_ranges_.find(std::string(name));
    if (range == output_ranges_.end()) return errors::InvalidArgument("Unknown output name: ", name);
    if (range->second.second - range->second.first != static_cast<int>(shapes.size())) {
        return errors::InvalidArgument("Must have exactly ", shapes.size(), " shapes.");
    }
    std::copy(shapes.begin(), shapes.end(), outputs_.begin() + range->second.first);
    return Status::OK();
}

DimensionHandle InferenceContext::MakeDim(DimensionOrConstant size) {
    if (size.dim.size_) return size.dim;
    sizes_.push_back(size.val);
    return DimensionHandle(&sizes_.back());
}

DimensionHandle InferenceContext::Dim(ShapeHandle s, int64 index) {
    if (!RankKnown(s)) return UnknownDim();
    return s.shape_->sizes[static_cast<size_t>(index < 0 ? index + Rank(s) : index)];
}

bool InferenceContext::FullyDefined(ShapeHandle s) const {
    return RankKnown(s) && std::all_of(s.shape_->sizes.begin(), s.shape_->sizes.end(), [](DimensionHandle d) { return ValueKnown(d); });
}

DimensionHandle InferenceContext::NumElements(ShapeHandle s) {
    if (!FullyDefined(s)) return UnknownDim();
    int64 count = 1;
    for (DimensionHandle d : s.shape_->sizes) count *= Value(d);
    return MakeDim(count);
}

std::string InferenceContext::DebugString(ShapeHandle s) const {
    if (!RankKnown(s)) return "?";
    std::vector<int64> sizes;
    for (DimensionHandle d : s.shape_->sizes) sizes.push_back(Value(d));
    return TensorShape::Text(sizes);
}

ShapeHandle InferenceContext::UnknownShapeOfRank(int64 rank) {
    std::vector<DimensionHandle> sizes;
    for (int64 d = 0; d < rank; ++d) sizes.push_back(UnknownDim());
    return MakeShape(sizes);
}

ShapeHandle InferenceContext::MakeShape(std::initializer_list<DimensionOrConstant> sizes) {
    std::vector<DimensionHandle> handles;
    for (const DimensionOrConstant& size : sizes) handles.push_back(MakeDim(size));
    return MakeShape(handles);
}

Status InferenceContext::MakeShapeFromPartialTensorShape(const PartialTensorShape& partial, ShapeHandle* out) {
    if (partial.unknown_rank()) {
        *out = UnknownShape();
        return Status::OK();
    }
    std::vector<DimensionHandle> sizes;
    for (int d = 0; d < partial.dims(); ++d) sizes.push_back(MakeDim(partial.dim_size(d)));
    *out = MakeShape(sizes);
    return Status::OK();
}

Status InferenceContext::MakeShapeFromShapeTensor(int index, ShapeHandle* out) {
    ShapeHandle holder;
    TF_RETURN_IF_ERROR(WithRankAtMost(input(index), 1, &holder));
    const Tensor* tensor = input_tensor(index);
    if (!tensor) {
        // As many dimensions as the input has numbers.
        const DimensionHandle rank = RankKnown(holder) && Rank(holder) == 1 ? Dim(holder, 0) : UnknownDim();
        *out = ValueKnown(rank) ? UnknownShapeOfRank(Value(rank)) : UnknownShape();
        return Status::OK();
    }
    std::vector<int64> sizes;
    for (int64 i = 0; i < tensor->NumElements(); ++i) {
        sizes.push_back(tensor->dtype() == DT_INT32 ? tensor->flat<int32>()(i) : tensor->flat<int64>()(i));
        if (sizes.back() < -1) return errors::InvalidArgument("Invalid value in tensor used for shape: ", sizes.back());
    }
    if (tensor->dims() == 0) {
        if (sizes[0] != -1) return errors::InvalidArgument("Input tensor must be rank 1, or if its rank 0 it must have value -1");
        *out = UnknownShape();
        return Status::OK();
    }
    return MakeShapeFromPartialTensorShape(PartialTensorShape(gtl::ArraySlice<int64>(sizes)), out);
}

Status InferenceContext::GetScalarFromTensor(const Tensor* tensor, int64* value) {
    if (tensor->dims() != 0) return errors::InvalidArgument("Input must be scalar but has rank ", tensor->dims());
    if (tensor->dtype() != DT_INT32 && tensor->dtype() != DT_INT64) return errors::InvalidArgument("Scalar input must be int32 or int64.");
    *value = tensor->dtype() == DT_INT32 ? tensor->scalar<int32>()() : tensor->scalar<int64>()();
    return Status::OK();
}

Status InferenceContext::MakeDimForScalarInput(int index, DimensionHandle* out) {
    const Tensor* tensor = input_tensor(index);
    int64 value = kUnknownDim;
    if (tensor) {
        TF_RETURN_IF_ERROR(GetScalarFromTensor(tensor, &value));
        if (value < 0) return errors::InvalidArgument("Dimension size, given by scalar input ", index, ", must be non-negative but is ", value);
    }
    *out = MakeDim(value);
    return Status::OK();
}

Status InferenceContext::WithRank(ShapeHandle s, int64 rank, ShapeHandle* out) {
    if (!RankKnown(s)) {
        *out = UnknownShapeOfRank(rank);
    } else if (Rank(s) == rank) {
        *out = s;
    } else {
        *out = ShapeHandle();
        return errors::InvalidArgument("Shape must be rank ", rank, " but is rank ", Rank(s));
    }
    return Status::OK();
}

Status InferenceContext::WithRankAtLeast(ShapeHandle s, int64 rank, ShapeHandle* out) {
    *out = s;
    if (!RankKnown(s) || Rank(s) >= rank) return Status::OK();
    return errors::InvalidArgument("Shape must be at least rank ", rank, " but is rank ", Rank(s));
}

Status InferenceContext::WithRankAtMost(ShapeHandle s, int64 rank, ShapeHandle* out) {
    *out = s;
    if (!RankKnown(s) || Rank(s) <= rank) return Status::OK();
    return errors::InvalidArgument("Shape must be at most rank ", rank, " but is rank ", Rank(s));
}

Status InferenceContext::WithValue(DimensionHandle d, int64 value, DimensionHandle* out) {
    *out = ValueKnown(d) ? d : MakeDim(value);
    if (Value(*out) == value) return Status::OK();
    return errors::InvalidArgument("Dimension must be ", value, " but is ", Value(d));
}

Status InferenceContext::Merge(DimensionHandle a, DimensionHandle b, DimensionHandle* out) {
    *out = ValueKnown(a) ? a : b;
    if (!ValueKnown(a) || !ValueKnown(b) || Value(a) == Value(b)) return Status::OK();
    return errors::InvalidArgument("Dimensions must be equal, but are ", Value(a), " and ", Value(b));
}

Status InferenceContext::Merge(ShapeHandle a, ShapeHandle b, ShapeHandle* out) {
    *out = RankKnown(a) ? a : b;
    if (!RankKnown(a) || !RankKnown(b) || a.SameHandle(b)) return Status::OK();
    if (Rank(a) != Rank(b)) return errors::InvalidArgument("Shapes must be equal rank, but are ", Rank(a), " and ", Rank(b));
    std::vector<DimensionHandle> sizes(static_cast<size_t>(Rank(a)));
    for (size_t d = 0; d < sizes.size(); ++d) {
        if (!Merge(a.shape_->sizes[d], b.shape_->sizes[d], &sizes[d]).ok()) {
            return errors::InvalidArgument("Dimension ", d, " in both shapes must be equal, but are ", DebugString(a.shape_->sizes[d]), " and ",
                                           DebugString(b.shape_->sizes[d]), ". Shapes are ", DebugString(a), " and ", DebugString(b), ".");
        }
    }
    *out = MakeShape(sizes);
    return Status::OK();
}

Status InferenceContext::Subshape(ShapeHandle s, int64 start, ShapeHandle* out) { return Subshape(s, start, kint64max, out); }

Status InferenceContext::Subshape(ShapeHandle s, int64 start, int64 end, ShapeHandle* out) {
    if (!RankKnown(s)) {
        *out = start == 0 && end == kint64max ? s : UnknownShape();
        return Status::OK();
    }
    const int64 rank = Rank(s);
    const int64 first = start < 0 ? start + rank : std::min(start, rank), last = end < 0 ? end + rank : std::min(end, rank);
    if (first < 0 || last < 0 || first > last) {
        return errors::InvalidArgument("Subshape must have computed start <= end, but is ", first, " and ", last, " (computed from start ", start,
                                       " and end ", end, " over shape with rank ", rank, ")");
    }
    *out = MakeShape(std::vector<DimensionHandle>(s.shape_->sizes.begin() + first, s.shape_->sizes.begin() + last));
    return Status::OK();
}

Status InferenceContext::Concatenate(ShapeHandle a, ShapeHandle b, ShapeHandle* out) {
    if (!RankKnown(a) || !RankKnown(b)) {
        *out = UnknownShape();
        return Status::OK();
    }
    std::vector<DimensionHandle> sizes = a.shape_->sizes;
    sizes.insert(sizes.end(), b.shape_->sizes.begin(), b.shape_->sizes.end());
    *out = MakeShape(sizes);
    return Status::OK();
}

Status InferenceContext::ReplaceDim(ShapeHandle s, int64 index, DimensionHandle size, ShapeHandle* out) {
    if (!RankKnown(s)) {
        *out = UnknownShape();
        return Status::OK();
    }
    const int64 at = index < 0 ? index + Rank(s) : index;
    if (at < 0 || at >= Rank(s)) return errors::InvalidArgument("Out of range dim_index ", index, " for shape with ", Rank(s), " dimensions");
    std::vector<DimensionHandle> sizes = s.shape_->sizes;
    sizes[static_cast<size_t>(at)] = size;
    *out = MakeShape(sizes);
    return Status::OK();
}

Status InferenceContext::Add(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    *out = Value(b) == 0 ? a : ValueKnown(a) && ValueKnown(b) ? MakeDim(Value(a) + Value(b)) : Value(a) == 0 ? MakeDim(b) : UnknownDim();
    return Status::OK();
}

Status InferenceContext::Subtract(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    if (ValueKnown(a) && ValueKnown(b) && Value(a) < Value(b)) {
        return errors::InvalidArgument("Negative dimension size caused by subtracting ", Value(b), " from ", Value(a));
    }
    *out = Value(b) == 0 ? a : ValueKnown(a) && ValueKnown(b) ? MakeDim(Value(a) - Value(b)) : UnknownDim();
    return Status::OK();
}

Status InferenceContext::Multiply(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    *out = Value(b) == 1 ? a : Value(a) == 1 ? MakeDim(b) : Value(a) == 0 || Value(b) == 0 ? MakeDim(0)
         : ValueKnown(a) && ValueKnown(b) ? MakeDim(Value(a) * Value(b)) : UnknownDim();
    return Status::OK();
}

Status InferenceContext::Divide(DimensionHandle a, DimensionOrConstant b, bool evenly_divisible, DimensionHandle* out) {
    *out = UnknownDim();
    if (Value(b) == 1) *out = a;
    if (Value(b) == 1 || !ValueKnown(a) || !ValueKnown(b)) return Status::OK();
    if (Value(b) == 0) return errors::InvalidArgument("Divisor must be positive but is 0");
    if (evenly_divisible && Value(a) % Value(b)) {
        return errors::InvalidArgument("Dimension size must be evenly divisible by ", Value(b), " but is ", Value(a));
    }
    *out = MakeDim(Value(a) / Value(b));
    return Status::OK();
}

Status InferenceContext::Min(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    *out = ValueKnown(a) && ValueKnown(b) ? MakeDim(std::min(Value(a), Value(b))) : Value(a) == 0 || Value(b) == 0 ? MakeDim(0) : UnknownDim();
    return Status::OK();
}

Status InferenceContext::Max(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    *out = ValueKnown(a) && ValueKnown(b) ? MakeDim(std::max(Value(a), Value(b))) : UnknownDim();
    return Status::OK();
}

Status UnknownShape(InferenceContext* c) {
    for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->UnknownShape());
    return Status::OK();
}

Status NoOutputs(InferenceContext*) { return Status::OK(); }

Status ScalarShape(InferenceContext* c) {
    c->set_output(0, c->Scalar());
    return Status::OK();
}

Status UnchangedShape(InferenceContext* c) {
    c->set_output(0, c->input(0));
    return Status::OK();
}

Status UnchangedShapeWithRank(InferenceContext* c, int32 rank) {
    ShapeHandle out;
    TF_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &out));
    c->set_output(0, out);
    return Status::OK();
}

Status UnchangedShapeWithRankAtLeast(InferenceContext* c, int32 rank) {
    ShapeHandle out;
    TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), rank, &out));
    c->set_output(0, out);
    return Status::OK();
}

Status MergeBothInputsShapeFn(InferenceContext* c) {
    ShapeHandle out = c->input(0);
    for (int i = 1; i < c->num_inputs(); ++i) TF_RETURN_IF_ERROR(c->Merge(out, c->input(i), &out));
    c->set_output(0, out);
    return Status::OK();
}

Status BroadcastBinaryOpShapeFn(InferenceContext* c) {
    const ShapeHandle a = c->input(0), b = c->input(1);
    if (!c->RankKnown(a) || !c->RankKnown(b)) return UnknownShape(c);
    const int32 rank = std::max(c->Rank(a), c->Rank(b));
    std::vector<DimensionHandle> sizes;
    for (int32 d = -rank; d < 0; ++d) {
        const DimensionHandle x = -d > c->Rank(a) ? c->MakeDim(1) : c->Dim(a, d), y = -d > c->Rank(b) ? c->MakeDim(1) : c->Dim(b, d);
        DimensionHandle size = c->UnknownDim();
        if (c->Value(x) == 1) {
            size = y;
        } else if (c->Value(y) == 1) {
            size = x;
        } else if (c->Value(x) > 1 || c->Value(y) > 1 || x.SameHandle(y)) {
            TF_RETURN_IF_ERROR(c->Merge(x, y, &size));
        }
        sizes.push_back(size);
    }
    c->set_output(0, c->MakeShape(sizes));
    return Status::OK();
}

Status MatMulShape(InferenceContext* c) {
    ShapeHandle a, b;
    bool turn_a = false, turn_b = false;
    TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &a));
    TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &b));
    TF_RETURN_IF_ERROR(c->GetAttr("transpose_a", &turn_a));
    TF_RETURN_IF_ERROR(c->GetAttr("transpose_b", &turn_b));
    DimensionHandle inner;
    TF_RETURN_IF_ERROR(c->Merge(c->Dim(a, turn_a ? 0 : 1), c->Dim(b, turn_b ? 1 : 0), &inner));
    c->set_output(0, c->Matrix(c->Dim(a, turn_a ? 1 : 0), c->Dim(b, turn_b ? 0 : 1)));
    return Status::OK();
}

Status ExplicitShape(InferenceContext* c) {
    PartialTensorShape shape;
    ShapeHandle out;
    TF_RETURN_IF_ERROR(c->GetAttr("shape", &shape));
    TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shape, &out));
    c->set_output(0, out);
    return Status::OK();
}

}  // namespace shape_inference
}  // namespace tensorflow
