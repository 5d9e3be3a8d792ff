// A tensor: elements in memory that may be shared, and a shape.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_H_

#include <memory>
#include <string>

#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/tensor_types.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/logging.h"

namespace tensorflow {

class TensorProto;

// Memory, and how it is given back: whoever made it says so.
class TensorBuffer {
public:
    TensorBuffer(void* data, size_t bytes, void (*release)(void*), void* owner) : data_(data), bytes_(bytes), release_(release), owner_(owner) {}
    ~TensorBuffer() {
        if (release_) release_(owner_);
    }
    void* data() const { return data_; }
    size_t size() const { return bytes_; }
    // What the memory belongs to, outside of C++.
    void* owner() const { return owner_; }

private:
    void* data_;
    size_t bytes_;
    void (*release_)(void*);
    void* owner_;
    TensorBuffer(const TensorBuffer&) = delete;
    void operator=(const TensorBuffer&) = delete;
};

class Tensor {
public:
    Tensor() : type_(DT_FLOAT), data_(nullptr) { shape_.AddDim(0); }
    explicit Tensor(DataType type) : type_(type), data_(nullptr) { shape_.AddDim(0); }
    // In memory of its own, which holds zeros or empty strings.
    Tensor(DataType type, const TensorShape& shape);
    Tensor(Allocator*, DataType type, const TensorShape& shape) : Tensor(type, shape) {}
    // Scalars.
    explicit Tensor(float value) : Tensor(DT_FLOAT, TensorShape()) { scalar<float>()() = value; }
    explicit Tensor(double value) : Tensor(DT_DOUBLE, TensorShape()) { scalar<double>()() = value; }
    explicit Tensor(int32 value) : Tensor(DT_INT32, TensorShape()) { scalar<int32>()() = value; }
    explicit Tensor(int64 value) : Tensor(DT_INT64, TensorShape()) { scalar<int64>()() = value; }
    explicit Tensor(bool value) : Tensor(DT_BOOL, TensorShape()) { scalar<bool>()() = value; }
    explicit Tensor(const std::string& value) : Tensor(DT_STRING, TensorShape()) { scalar<std::string>()() = value; }
    explicit Tensor(const char* value) : Tensor(std::string(value)) {}
    Tensor(DataType type, const TensorShape& shape, std::shared_ptr<TensorBuffer> buffer, void* data)
        : type_(type), shape_(shape), buffer_(std::move(buffer)), data_(data) {}

    DataType dtype() const { return type_; }
    const TensorShape& shape() const { return shape_; }
    int dims() const { return shape_.dims(); }
    int64 dim_size(int d) const { return shape_.dim_size(d); }
    int64 NumElements() const { return shape_.num_elements(); }
    bool IsSameSize(const Tensor& other) const { return shape_ == other.shape_; }
    bool SharesBufferWith(const Tensor& other) const { return buffer_ && buffer_ == other.buffer_; }
    bool IsInitialized() const { return buffer_ != nullptr || NumElements() == 0; }
    bool IsAligned() const { return reinterpret_cast<uintptr_t>(data_) % 16 == 0; }
    size_t TotalBytes() const;
    size_t AllocatedBytes() const { return TotalBytes(); }
    StringPiece tensor_data() const { return StringPiece(static_cast<const char*>(data_), TotalBytes()); }
    // The same elements by another shape; false where their numbers differ.
    bool CopyFrom(const Tensor& other, const TensorShape& shape) {
        if (other.NumElements() != shape.num_elements()) return false;
        *this = Tensor(other.type_, shape, other.buffer_, other.data_);
        return true;
    }
    // Rows `start` to `limit`, in the same memory.
    Tensor Slice(int64 start, int64 limit) const;
    Tensor SubSlice(int64 index) const;
    // From a message, and into one: as lists of values, or as bytes. False where a message makes no tensor.
    bool FromProto(const TensorProto& proto) TF_MUST_USE_RESULT;
    bool FromProto(Allocator*, const TensorProto& proto) TF_MUST_USE_RESULT { return FromProto(proto); }
    void AsProtoField(TensorProto* proto) const;
    void AsProtoTensorContent(TensorProto* proto) const;
    std::string DebugString() const;
    std::string SummarizeValue(int64 max_entries) const;

    template <typename T>
    typename TTypes<T>::Flat flat() { return Shaped<T, 1>(Given<1>({NumElements()})); }
    template <typename T>
    typename TTypes<T>::ConstFlat flat() const { return Shaped<const T, 1>(Given<1>({NumElements()})); }
    template <typename T>
    typename TTypes<T>::Flat unaligned_flat() { return flat<T>(); }
    template <typename T>
    typename TTypes<T>::ConstFlat unaligned_flat() const { return flat<T>(); }
    template <typename T>
    typename TTypes<T>::Vec vec() { return tensor<T, 1>(); }
    template <typename T>
    typename TTypes<T>::ConstVec vec() const { return tensor<T, 1>(); }
    template <typename T>
    typename TTypes<T>::Matrix matrix() { return tensor<T, 2>(); }
    template <typename T>
    typename TTypes<T>::ConstMatrix matrix() const { return tensor<T, 2>(); }
    template <typename T>
    typename TTypes<T>::Scalar scalar() {
        Check<T>(NumElements() == 1);
        return typename TTypes<T>::Scalar(static_cast<T*>(data_));
    }
    template <typename T>
    typename TTypes<T>::ConstScalar scalar() const {
        Check<T>(NumElements() == 1);
        return typename TTypes<T>::ConstScalar(static_cast<const T*>(data_));
    }
    template <typename T, size_t NDIMS>
    typename TTypes<T, static_cast<int>(NDIMS)>::Tensor tensor() { return Shaped<T, NDIMS>(Sizes<NDIMS>()); }
    template <typename T, size_t NDIMS>
    typename TTypes<T, static_cast<int>(NDIMS)>::ConstTensor tensor() const { return Shaped<const T, NDIMS>(Sizes<NDIMS>()); }
    template <typename T, size_t NDIMS>
    typename TTypes<T, static_cast<int>(NDIMS)>::Tensor shaped(gtl::ArraySlice<int64> sizes) { return Shaped<T, NDIMS>(Given<NDIMS>(sizes)); }
    template <typename T, size_t NDIMS>
    typename TTypes<T, static_cast<int>(NDIMS)>::ConstTensor shaped(gtl::ArraySlice<int64> sizes) const {
        return Shaped<const T, NDIMS>(Given<NDIMS>(sizes));
    }
    // The last dimension stays, and all before it become one.
    template <typename T>
    typename TTypes<T>::Matrix flat_inner_dims() { return shaped<T, 2>(Inner()); }
    template <typename T>
    typename TTypes<T>::ConstMatrix flat_inner_dims() const { return shaped<T, 2>(Inner()); }
    // The first dimension stays, and all behind it become one.
    template <typename T>
    typename TTypes<T>::Matrix flat_outer_dims() { return shaped<T, 2>(Outer()); }
    template <typename T>
    typename TTypes<T>::ConstMatrix flat_outer_dims() const { return shaped<T, 2>(Outer()); }

    void* raw_data() const { return data_; }
    const std::shared_ptr<TensorBuffer>& buffer() const { return buffer_; }

private:
    typedef Eigen::DenseIndex Index;

    // Ends the kernel that asks for elements which are not there, with an error that names the tensor.
    [[noreturn]] void Refuse(const std::string& why) const;

    template <typename T>
    void Check(bool fits) const {
        const DataType asked = DataTypeToEnum<typename std::remove_const<T>::type>::v();
        if (BaseType(type_) != asked) Refuse("has elements of type " + DataTypeString(type_) + ", not " + DataTypeString(asked));
        if (!fits) Refuse("has another number of elements than is asked for");
    }
    template <size_t N>
    Eigen::array<Index, N> Sizes() const {
        if (static_cast<size_t>(dims()) != N) Refuse("does not have " + std::to_string(N) + " dimensions");
        Eigen::array<Index, N> found{};
        for (size_t d = 0; d < N; ++d) found[d] = static_cast<Index>(shape_.dim_size(static_cast<int>(d)));
        return found;
    }
    template <size_t N>
    Eigen::array<Index, N> Given(gtl::ArraySlice<int64> sizes) const {
        if (sizes.size() != N) Refuse("is asked for with " + std::to_string(sizes.size()) + " sizes for " + std::to_string(N) + " dimensions");
        Eigen::array<Index, N> found{};
        for (size_t d = 0; d < N; ++d) found[d] = static_cast<Index>(sizes[d]);
        return found;
    }
    template <typename T, size_t N>
    typename TTypes<T, static_cast<int>(N)>::Tensor Shaped(const Eigen::array<Index, N>& sizes) const {
        int64 count = 1;
        for (size_t d = 0; d < N; ++d) count *= sizes[d];
        Check<T>(count == NumElements());
        return typename TTypes<T, static_cast<int>(N)>::Tensor(static_cast<T*>(data_), sizes);
    }
    std::vector<int64> Inner() const {
        const int64 last = dims() ? dim_size(dims() - 1) : 1;
        return {last ? NumElements() / last : 0, last};
    }
    std::vector<int64> Outer() const {
        const int64 first = dims() ? dim_size(0) : 1;
        return {first, first ? NumElements() / first : 0};
    }

    DataType type_;
    TensorShape shape_;
    std::shared_ptr<TensorBuffer> buffer_;
    void* data_;
};

}  // namespace tensorflow

#endif
