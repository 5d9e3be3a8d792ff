// What needs no interpreter: versions, statuses, buffers, tensors, strings.
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "host.h"
#include "tensorflow/c/c_api.h"

struct TF_Status {
    TF_Code code = TF_OK;
    std::string message;
};

// everflow/c_api/boundary.py reads and writes the first five.
struct TF_Tensor {
    TF_DataType type;
    int num_dims;
    const int64_t* dims;
    void* data;
    size_t bytes;
    void (*deallocator)(void* data, size_t len, void* arg);
    void* deallocator_arg;
    std::vector<int64_t> kept_dims;
    // Whose memory this is, where it is another tensor's.
    int* shared;
};

namespace {

constexpr size_t ALIGNMENT = 64;

void freed(void* data, size_t, void*) { std::free(data); }
void freed_buffer(void* data, size_t) { std::free(data); }

TF_Tensor* made(TF_DataType type, const int64_t* dims, int num_dims, void* data, size_t bytes, void (*deallocator)(void*, size_t, void*), void* arg) {
    auto* tensor = new TF_Tensor{type, num_dims, nullptr, data, bytes, deallocator, arg, {}, new int(1)};
    tensor->kept_dims.assign(dims, dims + num_dims);
    tensor->dims = tensor->kept_dims.data();
    return tensor;
}

void let_go(TF_Tensor* tensor) {
    if (__atomic_sub_fetch(tensor->shared, 1, __ATOMIC_ACQ_REL) == 0) {
        if (tensor->deallocator) tensor->deallocator(tensor->data, tensor->bytes, tensor->deallocator_arg);
        delete tensor->shared;
    }
}

// How a length is written before a string: seven bits at a time, the lowest first.
size_t written_length(size_t length, char* to) {
    size_t count = 0;
    for (;; length >>= 7) {
        const bool more = length >= 128;
        if (to) to[count] = static_cast<char>((length & 127) | (more ? 128 : 0));
        ++count;
        if (!more) return count;
    }
}

}  // namespace

const char* TF_Version() { return "1.15.5"; }

size_t TF_DataTypeSize(TF_DataType type) {
    static const unsigned char BYTES[] = {0, 4, 8, 4, 1, 2, 1, 0, 8, 8, 1, 1, 1, 4, 2, 2, 2, 2, 16, 2, 0, 0, 4, 8};
    const auto number = static_cast<size_t>(type);
    return number < sizeof BYTES ? BYTES[number] : 0;
}

TF_Status* TF_NewStatus() { return new TF_Status; }
void TF_DeleteStatus(TF_Status* s) { delete s; }
void TF_SetStatus(TF_Status* s, TF_Code code, const char* msg) {
    s->code = code;
    s->message = code == TF_OK ? "" : msg;
}
TF_Code TF_GetCode(const TF_Status* s) { return s->code; }
const char* TF_Message(const TF_Status* s) { return s->message.c_str(); }

TF_Buffer* TF_NewBuffer() { return new TF_Buffer{nullptr, 0, nullptr}; }
TF_Buffer* TF_NewBufferFromString(const void* proto, size_t proto_len) {
    TF_Buffer* buffer = TF_NewBuffer();
    everflow::fill(buffer, proto, proto_len);
    return buffer;
}
void TF_DeleteBuffer(TF_Buffer* buffer) {
    if (!buffer) return;
    if (buffer->data_deallocator) buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
    delete buffer;
}
TF_Buffer TF_GetBuffer(TF_Buffer* buffer) { return *buffer; }

namespace everflow {

void fill(TF_Buffer* buffer, const void* bytes, size_t length) {
    if (buffer->data_deallocator) buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
    void* copy = std::malloc(length + 1);
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, bytes, length);
    *buffer = {copy, length, freed_buffer};
}

}  // namespace everflow

TF_Tensor* TF_NewTensor(TF_DataType type, const int64_t* dims, int num_dims, void* data, size_t len, void (*deallocator)(void*, size_t, void*), void* deallocator_arg) {
    return made(type, dims, num_dims, data, len, deallocator, deallocator_arg);
}

TF_Tensor* TF_AllocateTensor(TF_DataType type, const int64_t* dims, int num_dims, size_t len) {
    void* data = std::aligned_alloc(ALIGNMENT, (len + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
    return data ? made(type, dims, num_dims, data, len, freed, nullptr) : nullptr;
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor*) { return nullptr; }

void TF_DeleteTensor(TF_Tensor* tensor) {
    if (!tensor) return;
    let_go(tensor);
    delete tensor;
}

TF_DataType TF_TensorType(const TF_Tensor* tensor) { return tensor->type; }
int TF_NumDims(const TF_Tensor* tensor) { return tensor->num_dims; }
int64_t TF_Dim(const TF_Tensor* tensor, int dim_index) { return tensor->dims[dim_index]; }
size_t TF_TensorByteSize(const TF_Tensor* tensor) { return tensor->bytes; }
void* TF_TensorData(const TF_Tensor* tensor) { return tensor->data; }

int64_t TF_TensorElementCount(const TF_Tensor* tensor) {
    int64_t count = 1;
    for (const int64_t size : tensor->kept_dims) count *= size;
    return count;
}

void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to, const int64_t* new_dims, int num_new_dims, TF_Status* status) {
    TF_SetStatus(status, TF_OK, "");
    size_t bytes = TF_DataTypeSize(type);
    for (int d = 0; d < num_new_dims; ++d) bytes *= static_cast<size_t>(new_dims[d]);
    if (bytes != from->bytes || !TF_DataTypeSize(type) || !TF_DataTypeSize(from->type)) {
        TF_SetStatus(status, TF_INVALID_ARGUMENT, "input tensor is not compatible with desired bitcast");
        return;
    }
    __atomic_add_fetch(from->shared, 1, __ATOMIC_ACQ_REL);
    let_go(to);
    const std::vector<int64_t> dims(new_dims, new_dims + num_new_dims);
    *to = {type, num_new_dims, nullptr, from->data, from->bytes, from->deallocator, from->deallocator_arg, dims, from->shared};
    to->dims = to->kept_dims.data();
}

size_t TF_StringEncodedSize(size_t len) { return written_length(len, nullptr) + len; }

size_t TF_StringEncode(const char* src, size_t src_len, char* dst, size_t dst_len, TF_Status* status) {
    const size_t size = TF_StringEncodedSize(src_len);
    if (dst_len < size) {
        TF_SetStatus(status, TF_INVALID_ARGUMENT, ("dst_len (" + std::to_string(dst_len) + ") too small to encode a " + std::to_string(src_len) + "-byte string").c_str());
        return 0;
    }
    std::memcpy(dst + written_length(src_len, dst), src, src_len);
    TF_SetStatus(status, TF_OK, "");
    return size;
}

size_t TF_StringDecode(const char* src, size_t src_len, const char** dst, size_t* dst_len, TF_Status* status) {
    uint64_t length = 0;
    size_t at = 0;
    bool ended = false;
    for (unsigned shift = 0; !ended && at < src_len && shift < 64; shift += 7, ++at) {
        const auto byte = static_cast<unsigned char>(src[at]);
        length |= static_cast<uint64_t>(byte & 127) << shift;
        ended = byte < 128;
    }
    if (!ended || length > src_len - at) {
        TF_SetStatus(status, TF_INVALID_ARGUMENT, "invalid string encoding or truncated src buffer");
        return 0;
    }
    *dst = src + at, *dst_len = length;
    TF_SetStatus(status, TF_OK, "");
    return at + length;
}

void TF_DeletePRunHandle(const char* handle) { std::free(const_cast<char*>(handle)); }

// For everflow/c_api, which reaches these through ctypes.
extern "C" TF_CAPI_EXPORT void everflow_fill_buffer(TF_Buffer* buffer, const void* bytes, size_t length) { everflow::fill(buffer, bytes, length); }
extern "C" TF_CAPI_EXPORT char* everflow_copied_text(const char* text) { return strdup(text); }
