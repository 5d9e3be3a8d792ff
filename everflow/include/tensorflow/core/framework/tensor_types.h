// Tensors as C++ sees their elements: x(i, j), x.size(), x.dimension(0), x.data().
//
// Where Eigen is installed, these are its TensorMaps, which compute with whole tensors; else (or with -DEVERFLOW_NO_EIGEN) views of our
// own, which compile in no time.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_TYPES_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_TYPES_H_

#include <array>
#include <cstddef>
#include <type_traits>

#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/types.h"

// What nvcc compiles has views too: its kernels compute with plain pointers.
#if !defined(EVERFLOW_NO_EIGEN) && !defined(__CUDACC__) && defined(__has_include)
#if __has_include(<unsupported/Eigen/CXX11/Tensor>) || __has_include(<eigen3/unsupported/Eigen/CXX11/Tensor>)
#include "third_party/eigen3/unsupported/Eigen/CXX11/Tensor"
#endif
#endif

#ifndef EVERFLOW_EIGEN_TENSOR_

namespace Eigen {

typedef std::ptrdiff_t Index;
typedef std::ptrdiff_t DenseIndex;
template <typename T, size_t N>
using array = std::array<T, N>;

// How many threads an expression may use; here, only a name.
struct ThreadPoolDevice {
    int numThreads() const { return 1; }
};

}  // namespace Eigen

#endif

#if !defined(EVERFLOW_EIGEN_TENSOR_) || !defined(EIGEN_USE_GPU)

struct CUstream_st;

namespace Eigen {

// A GPU as kernels for it see it: the stream that they are put on, and what it has.
struct GpuDevice {
    CUstream_st* stream() const { return stream_; }
#ifdef __CUDACC__
    int getNumGpuMultiProcessors() const { return Has(cudaDevAttrMultiProcessorCount); }
    int maxGpuThreadsPerBlock() const { return Has(cudaDevAttrMaxThreadsPerBlock); }
    int maxGpuThreadsPerMultiProcessor() const { return Has(cudaDevAttrMaxThreadsPerMultiProcessor); }
    int sharedMemPerBlock() const { return Has(cudaDevAttrMaxSharedMemoryPerBlock); }
    int getNumCudaMultiProcessors() const { return getNumGpuMultiProcessors(); }
    int maxCudaThreadsPerBlock() const { return maxGpuThreadsPerBlock(); }
    int maxCudaThreadsPerMultiProcessor() const { return maxGpuThreadsPerMultiProcessor(); }
    void memset(void* data, int value, size_t bytes) const { cudaMemsetAsync(data, value, bytes, stream_); }
    void memcpy(void* to, const void* from, size_t bytes) const { cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_); }
    void memcpyHostToDevice(void* to, const void* from, size_t bytes) const { cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_); }
    void memcpyDeviceToHost(void* to, const void* from, size_t bytes) const { cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_); }
    void synchronize() const { cudaStreamSynchronize(stream_); }
    bool ok() const { return cudaStreamQuery(stream_) == cudaSuccess; }

private:
    static int Has(cudaDeviceAttr what) {
        int device = 0, found = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&found, what, device);
        return found;
    }
#endif

public:
    CUstream_st* stream_ = nullptr;
};

}  // namespace Eigen

#endif

#ifndef EVERFLOW_EIGEN_TENSOR_

namespace tensorflow {
namespace views {

// Elements of N dimensions, the last one side by side.
template <typename T, int N>
class View {
public:
    typedef Eigen::DenseIndex Index;
    typedef typename std::remove_const<T>::type Scalar;
    static constexpr int NumDimensions = N;

    View(T* data, const std::array<Index, static_cast<size_t>(N)>& sizes) : data_(data), sizes_(sizes) {}
    // Elements that may be written may be read.
    template <typename Other, typename = typename std::enable_if<std::is_convertible<Other*, T*>::value>::type>
    View(const View<Other, N>& other) : data_(other.data()), sizes_(other.dimensions()) {}

    T* data() const { return data_; }
    Index size() const {
        Index count = 1;
        for (Index size : sizes_) count *= size;
        return count;
    }
    Index dimension(size_t d) const { return sizes_[d]; }
    const std::array<Index, static_cast<size_t>(N)>& dimensions() const { return sizes_; }
    int rank() const { return N; }

    template <typename... Indices>
    T& operator()(Indices... indices) const {
        static_assert(sizeof...(Indices) == static_cast<size_t>(N), "one index for each dimension");
        return data_[At(0, 0, indices...)];
    }
    T& operator[](Index i) const { return data_[i]; }

    const View& setConstant(const Scalar& value) const {
        for (Index i = 0, n = size(); i < n; ++i) data_[i] = value;
        return *this;
    }
    const View& setZero() const { return setConstant(Scalar()); }

private:
    Index At(size_t, Index at) const { return at; }
    template <typename First, typename... Rest>
    Index At(size_t d, Index at, First first, Rest... rest) const {
        return At(d + 1, at * sizes_[d] + static_cast<Index>(first), rest...);
    }

    T* data_;
    std::array<Index, static_cast<size_t>(N)> sizes_;
};

template <typename T>
class View<T, 0> {
public:
    typedef Eigen::DenseIndex Index;
    explicit View(T* data) : data_(data) {}
    T* data() const { return data_; }
    Index size() const { return 1; }
    T& operator()() const { return *data_; }

private:
    T* data_;
};

}  // namespace views

template <typename T, int NDIMS = 1, typename IndexType = Eigen::DenseIndex>
struct TTypes {
    typedef views::View<T, NDIMS> Tensor;
    typedef views::View<const T, NDIMS> ConstTensor;
    typedef Tensor UnalignedTensor;
    typedef ConstTensor UnalignedConstTensor;
    typedef views::View<T, 0> Scalar;
    typedef views::View<const T, 0> ConstScalar;
    typedef views::View<T, 1> Flat;
    typedef views::View<const T, 1> ConstFlat;
    typedef Flat UnalignedFlat;
    typedef ConstFlat UnalignedConstFlat;
    typedef views::View<T, 1> Vec;
    typedef views::View<const T, 1> ConstVec;
    typedef views::View<T, 2> Matrix;
    typedef views::View<const T, 2> ConstMatrix;
};

}  // namespace tensorflow

#else

namespace tensorflow {

template <>
struct DataTypeToEnum<Eigen::half> {
    static DataType v() { return DT_HALF; }
    static constexpr DataType value = DT_HALF;
};

template <typename T, int NDIMS = 1, typename IndexType = Eigen::DenseIndex>
struct TTypes {
    template <typename E, int N>
    using Map = Eigen::TensorMap<Eigen::Tensor<E, N, Eigen::RowMajor, IndexType>>;

    typedef Map<T, NDIMS> Tensor;
    typedef Map<const T, NDIMS> ConstTensor;
    typedef Tensor UnalignedTensor;
    typedef ConstTensor UnalignedConstTensor;
    typedef Eigen::TensorMap<Eigen::TensorFixedSize<T, Eigen::Sizes<>, Eigen::RowMajor, IndexType>> Scalar;
    typedef Eigen::TensorMap<Eigen::TensorFixedSize<const T, Eigen::Sizes<>, Eigen::RowMajor, IndexType>> ConstScalar;
    typedef Map<T, 1> Flat;
    typedef Map<const T, 1> ConstFlat;
    typedef Flat UnalignedFlat;
    typedef ConstFlat UnalignedConstFlat;
    typedef Map<T, 1> Vec;
    typedef Map<const T, 1> ConstVec;
    typedef Map<T, 2> Matrix;
    typedef Map<const T, 2> ConstMatrix;
};

}  // namespace tensorflow

#endif
#endif
