// Shapes: all sizes known, or some of them.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_SHAPE_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_SHAPE_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/lib/gtl/array_slice.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

class TensorShapeProto;

struct TensorShapeDim {
    explicit TensorShapeDim(int64 n) : size(n) {}
    int64 size;
};

class TensorShape {
public:
    TensorShape() {}
    TensorShape(std::initializer_list<int64> sizes) : sizes_(sizes) {}
    explicit TensorShape(gtl::ArraySlice<int64> sizes) : sizes_(sizes.begin(), sizes.end()) {}

    explicit TensorShape(const TensorShapeProto& proto);

    static bool IsValid() { return true; }
    // Whether all sizes are known.
    static bool IsValid(const TensorShapeProto& proto);
    void AsProto(TensorShapeProto* proto) const;

    int dims() const { return static_cast<int>(sizes_.size()); }
    int64 dim_size(int d) const { return sizes_[static_cast<size_t>(d)]; }
    const std::vector<int64>& dim_sizes() const { return sizes_; }
    int64 num_elements() const {
        int64 count = 1;
        for (int64 size : sizes_) count *= size;
        return count;
    }
    void AddDim(int64 size) { sizes_.push_back(size); }
    void AppendShape(const TensorShape& other) { sizes_.insert(sizes_.end(), other.sizes_.begin(), other.sizes_.end()); }
    void InsertDim(int d, int64 size) { sizes_.insert(sizes_.begin() + d, size); }
    void set_dim(int d, int64 size) { sizes_[static_cast<size_t>(d)] = size; }
    void RemoveDim(int d) { sizes_.erase(sizes_.begin() + d); }
    void RemoveLastDims(int n) { sizes_.resize(sizes_.size() - static_cast<size_t>(n)); }
    void Clear() { sizes_.clear(); }
    bool IsSameSize(const TensorShape& other) const { return sizes_ == other.sizes_; }
    bool operator==(const TensorShape& other) const { return sizes_ == other.sizes_; }
    bool operator!=(const TensorShape& other) const { return sizes_ != other.sizes_; }
    std::vector<int64>::const_iterator begin() const { return sizes_.begin(); }
    std::vector<int64>::const_iterator end() const { return sizes_.end(); }
    std::string DebugString() const { return Text(sizes_); }

    // "[2,3]", with a question mark for what is not known.
    static std::string Text(const std::vector<int64>& sizes) {
        std::string text = "[";
        for (size_t i = 0; i < sizes.size(); ++i) {
            if (i) text += ",";
            text += sizes[i] < 0 ? "?" : std::to_string(sizes[i]);
        }
        return text + "]";
    }

private:
    std::vector<int64> sizes_;
};

inline std::ostream& operator<<(std::ostream& out, const TensorShape& shape) { return out << shape.DebugString(); }

class PartialTensorShape {
public:
    PartialTensorShape() : known_(false) {}
    PartialTensorShape(std::initializer_list<int64> sizes) : known_(true), sizes_(sizes) {}
    explicit PartialTensorShape(gtl::ArraySlice<int64> sizes) : known_(true), sizes_(sizes.begin(), sizes.end()) {}
    explicit PartialTensorShape(const TensorShape& shape) : known_(true), sizes_(shape.begin(), shape.end()) {}
    explicit PartialTensorShape(const TensorShapeProto& proto);
    void AsProto(TensorShapeProto* proto) const;

    bool unknown_rank() const { return !known_; }
    int dims() const { return known_ ? static_cast<int>(sizes_.size()) : -1; }
    int64 dim_size(int d) const { return sizes_[static_cast<size_t>(d)]; }
    bool IsFullyDefined() const {
        for (int64 size : sizes_)
            if (size < 0) return false;
        return known_;
    }
    bool AsTensorShape(TensorShape* shape) const {
        if (!IsFullyDefined()) return false;
        *shape = TensorShape(gtl::ArraySlice<int64>(sizes_));
        return true;
    }
    bool IsCompatibleWith(const PartialTensorShape& other) const {
        if (!known_ || !other.known_) return true;
        if (sizes_.size() != other.sizes_.size()) return false;
        for (size_t i = 0; i < sizes_.size(); ++i)
            if (sizes_[i] >= 0 && other.sizes_[i] >= 0 && sizes_[i] != other.sizes_[i]) return false;
        return true;
    }
    bool IsCompatibleWith(const TensorShape& shape) const { return IsCompatibleWith(PartialTensorShape(shape)); }
    void AddDim(int64 size) { sizes_.push_back(size); }
    std::string DebugString() const { return known_ ? TensorShape::Text(sizes_) : "<unknown>"; }

private:
    bool known_;
    std::vector<int64> sizes_;
};

class TensorShapeUtils {
public:
    static bool IsScalar(const TensorShape& shape) { return shape.dims() == 0; }
    static bool IsVector(const TensorShape& shape) { return shape.dims() == 1; }
    static bool IsVectorOrHigher(const TensorShape& shape) { return shape.dims() >= 1; }
    static bool IsMatrix(const TensorShape& shape) { return shape.dims() == 2; }
    static bool IsMatrixOrHigher(const TensorShape& shape) { return shape.dims() >= 2; }
    static bool IsSquareMatrix(const TensorShape& shape) { return shape.dims() == 2 && shape.dim_size(0) == shape.dim_size(1); }

    template <typename T>
    static Status MakeShape(const T* sizes, int64 count, TensorShape* shape) {
        shape->Clear();
        for (int64 i = 0; i < count; ++i) {
            if (sizes[i] < 0) return errors::InvalidArgument("Dimension ", static_cast<int64>(sizes[i]), " must be >= 0");
            shape->AddDim(static_cast<int64>(sizes[i]));
        }
        return Status::OK();
    }
    template <typename T>
    static Status MakeShape(gtl::ArraySlice<T> sizes, TensorShape* shape) {
        return MakeShape(sizes.data(), static_cast<int64>(sizes.size()), shape);
    }
    static bool StartsWith(const TensorShape& shape, const TensorShape& prefix) {
        if (shape.dims() < prefix.dims()) return false;
        for (int i = 0; i < prefix.dims(); ++i)
            if (shape.dim_size(i) != prefix.dim_size(i)) return false;
        return true;
    }
    static bool EndsWith(const TensorShape& shape, const TensorShape& suffix) {
        const int before = shape.dims() - suffix.dims();
        for (int i = 0; before >= 0 && i < suffix.dims(); ++i)
            if (shape.dim_size(before + i) != suffix.dim_size(i)) return false;
        return before >= 0;
    }
};

}  // namespace tensorflow

#endif
