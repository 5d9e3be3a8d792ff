// How tensors, statuses and exceptions cross the border between Python's side and C++'s.
#ifndef EVERFLOW_FRAMEWORK_CROSSING_H_
#define EVERFLOW_FRAMEWORK_CROSSING_H_

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "abi.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/lib/core/errors.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace tensorflow {

inline Tensor tensor_of(const EverflowTensor& from) {
    TensorShape shape;
    for (int32_t d = 0; d < from.rank; ++d) shape.AddDim(from.sizes[d]);
    // How many bytes there are is not asked for: nobody resizes this memory.
    return Tensor(static_cast<DataType>(from.type), shape, std::make_shared<TensorBuffer>(from.data, 0, from.release, from.owner), from.data);
}

// What an exception or a status says, in a buffer of the caller's.
inline int32_t said(const Status& status, char* message, int64_t size) {
    const std::string& text = status.error_message();
    const size_t count = std::min<size_t>(text.size(), static_cast<size_t>(size) - 1);
    std::memcpy(message, text.data(), count);
    message[count] = 0;
    return status.code();
}

// Runs what belongs to others; their exceptions become statuses.
template <typename Work>
Status guarded(const Work& work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return errors::ResourceExhausted("OOM when allocating a tensor");
    } catch (const std::exception& error) {
        return errors::Internal(error.what());
    } catch (...) {
        return errors::Internal("an exception that is none of std's");
    }
}

// A tensor as the other side takes it, as long as the tensor and its `sizes` live.
inline EverflowTensor crossing(const Tensor& tensor, std::vector<int64_t>* sizes) {
    sizes->assign(tensor.shape().begin(), tensor.shape().end());
    return {tensor.dtype(), static_cast<int32_t>(sizes->size()), sizes->data(), tensor.raw_data(), nullptr, tensor.buffer() ? tensor.buffer()->owner() : nullptr};
}

}  // namespace tensorflow

#endif
