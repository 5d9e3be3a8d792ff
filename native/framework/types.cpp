// Types, tensors and what surrounds them.
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"

namespace tensorflow {
namespace {

struct Kind {
    const char* name;
    int bytes;
};

// By their numbers on the wire.
const Kind KINDS[] = {{"INVALID", 0},   {"float", 4},   {"double", 8},  {"int32", 4},    {"uint8", 1},      {"int16", 2}, {"int8", 1},     {"string", 0},
                      {"complex64", 8}, {"int64", 8},   {"bool", 1},    {"qint8", 1},    {"quint8", 1},     {"qint32", 4}, {"bfloat16", 2}, {"qint16", 2},
                      {"quint16", 2},   {"uint16", 2},  {"complex128", 16}, {"half", 2}, {"resource", 0},   {"variant", 0}, {"uint32", 4},  {"uint64", 8}};

const Kind& kind_of(DataType type) {
    const size_t number = static_cast<size_t>(BaseType(type));
    return KINDS[number < sizeof KINDS / sizeof *KINDS ? number : 0];
}

constexpr size_t ALIGNMENT = 64;

template <typename T>
std::shared_ptr<TensorBuffer> objects(size_t count) {
    T* made = new T[count];
    return std::make_shared<TensorBuffer>(made, count * sizeof(T), [](void* owner) { delete[] static_cast<T*>(owner); }, made);
}

std::shared_ptr<TensorBuffer> memory(DataType type, size_t count) {
    if (type == DT_STRING) return objects<std::string>(count);
    if (type == DT_RESOURCE) return objects<ResourceHandle>(count);
    if (type == DT_VARIANT) return objects<Variant>(count);
    const size_t bytes = count * static_cast<size_t>(DataTypeSize(type));
    void* made = std::aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
    if (!made) throw std::bad_alloc();
    std::memset(made, 0, bytes);
    return std::make_shared<TensorBuffer>(made, bytes, std::free, made);
}

size_t element_bytes(DataType type) {
    return type == DT_STRING     ? sizeof(std::string)
           : type == DT_RESOURCE ? sizeof(ResourceHandle)
           : type == DT_VARIANT  ? sizeof(Variant)
                                 : static_cast<size_t>(DataTypeSize(type));
}

}  // namespace

void* Allocator::AllocateRaw(size_t alignment, size_t bytes) { return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment); }
void Allocator::DeallocateRaw(void* memory) { std::free(memory); }

Allocator* cpu_allocator() {
    static Allocator all;
    return &all;
}

std::string DataTypeString(DataType type) { return std::string(kind_of(type).name) + (IsRefType(type) ? "_ref" : ""); }

int DataTypeSize(DataType type) { return kind_of(type).bytes; }

Tensor::Tensor(DataType type, const TensorShape& shape) : type_(type), shape_(shape), data_(nullptr) {
    buffer_ = memory(type, static_cast<size_t>(shape.num_elements()));
    data_ = buffer_->data();
}

size_t Tensor::TotalBytes() const { return static_cast<size_t>(NumElements()) * element_bytes(BaseType(type_)); }

Tensor Tensor::Slice(int64 start, int64 limit) const {
    TensorShape shape = shape_;
    const size_t row = dim_size(0) ? TotalBytes() / static_cast<size_t>(dim_size(0)) : 0;
    shape.set_dim(0, limit - start);
    return Tensor(type_, shape, buffer_, static_cast<char*>(data_) + row * static_cast<size_t>(start));
}

Tensor Tensor::SubSlice(int64 index) const {
    Tensor row = Slice(index, index + 1);
    row.shape_.RemoveDim(0);
    return row;
}

void Tensor::Refuse(const std::string& why) const {
    throw std::invalid_argument("A tensor of type " + DataTypeString(type_) + " and shape " + shape_.DebugString() + " " + why);
}

std::string Tensor::DebugString() const {
    return "Tensor<type: " + DataTypeString(type_) + " shape: " + shape_.DebugString() + " values: " + SummarizeValue(3) + ">";
}

std::string Tensor::SummarizeValue(int64 most) const {
    std::ostringstream out;
    const int64 count = NumElements();
    for (int64 i = 0; i < count && i < most; ++i) {
        if (i) out << ' ';
        switch (BaseType(type_)) {
            case DT_FLOAT: out << flat<float>()(i); break;
            case DT_DOUBLE: out << flat<double>()(i); break;
            case DT_INT32: out << flat<int32>()(i); break;
            case DT_INT64: out << flat<int64>()(i); break;
            case DT_UINT8: out << static_cast<int>(flat<uint8>()(i)); break;
            case DT_INT8: out << static_cast<int>(flat<int8>()(i)); break;
            case DT_INT16: out << flat<int16>()(i); break;
            case DT_UINT16: out << flat<uint16>()(i); break;
            case DT_BOOL: out << flat<bool>()(i); break;
            case DT_STRING: out << flat<std::string>()(i); break;
            default: out << '?';
        }
    }
    if (count > most) out << "...";
    return out.str();
}

Status ResourceMgr::DoCreate(const std::string& container, const std::string& type, const std::string& name, ResourceBase* resource) {
    mutex_lock lock(lock_);
    if (resources_.emplace(KeyOf(container, type, name), resource).second) return Status::OK();
    resource->Unref();
    return errors::AlreadyExists("Resource ", container, "/", name, "/", type);
}

Status ResourceMgr::DoLookup(const std::string& container, const std::string& type, const std::string& name, ResourceBase** resource) const {
    mutex_lock lock(lock_);
    const auto found = resources_.find(KeyOf(container, type, name));
    if (found == resources_.end()) return errors::NotFound("Resource ", container, "/", name, "/", type, " does not exist.");
    found->second->Ref();
    *resource = found->second;
    return Status::OK();
}

Status ResourceMgr::DoDelete(const std::string& container, const std::string& type, const std::string& name) {
    ResourceBase* resource = nullptr;
    {
        mutex_lock lock(lock_);
        const auto found = resources_.find(KeyOf(container, type, name));
        if (found == resources_.end()) return errors::NotFound("Resource ", container, "/", name, "/", type, " does not exist.");
        resource = found->second;
        resources_.erase(found);
    }
    resource->Unref();
    return Status::OK();
}

Status ResourceMgr::Cleanup(const std::string& container) {
    mutex_lock lock(lock_);
    for (auto at = resources_.begin(); at != resources_.end();) {
        if (std::get<0>(at->first) == container) {
            at->second->Unref();
            at = resources_.erase(at);
        } else {
            ++at;
        }
    }
    return Status::OK();
}

void ResourceMgr::Clear() {
    mutex_lock lock(lock_);
    for (const auto& each : resources_) each.second->Unref();
    resources_.clear();
}

}  // namespace tensorflow
