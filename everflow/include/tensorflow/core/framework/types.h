// The types of a tensor's elements, and how C++ calls them.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TYPES_H_
#define TENSORFLOW_CORE_FRAMEWORK_TYPES_H_

#include <string>
#include <vector>

#include "tensorflow/core/framework/numeric_types.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/lib/gtl/array_slice.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

const int kDataTypeRefOffset = 100;

typedef gtl::InlinedVector<DataType> DataTypeVector;
typedef gtl::ArraySlice<DataType> DataTypeSlice;

enum MemoryType { DEVICE_MEMORY = 0, HOST_MEMORY = 1 };

class ResourceHandle;
class Variant;

inline bool IsRefType(DataType type) { return type > kDataTypeRefOffset; }
inline DataType MakeRefType(DataType type) { return static_cast<DataType>(type + kDataTypeRefOffset); }
inline DataType RemoveRefType(DataType type) { return IsRefType(type) ? static_cast<DataType>(type - kDataTypeRefOffset) : type; }
inline DataType BaseType(DataType type) { return RemoveRefType(type); }

// The name that Python has for a type, such as "float".
std::string DataTypeString(DataType type);
// How many bytes an element takes; 0 for what is no plain number.
int DataTypeSize(DataType type);

template <typename T>
struct DataTypeToEnum {
    static_assert(sizeof(T) == 0, "No tensor has elements of this type.");
};
template <DataType TYPE>
struct EnumToDataType {};

#define EVERFLOW_TYPE(T, ENUM)                        \
    template <>                                       \
    struct DataTypeToEnum<T> {                        \
        static DataType v() { return ENUM; }          \
        static constexpr DataType value = ENUM;       \
    };                                                \
    template <>                                       \
    struct EnumToDataType<ENUM> {                     \
        typedef T Type;                               \
    };
EVERFLOW_TYPE(float, DT_FLOAT)
EVERFLOW_TYPE(double, DT_DOUBLE)
EVERFLOW_TYPE(int32, DT_INT32)
EVERFLOW_TYPE(uint8, DT_UINT8)
EVERFLOW_TYPE(int16, DT_INT16)
EVERFLOW_TYPE(int8, DT_INT8)
EVERFLOW_TYPE(std::string, DT_STRING)
EVERFLOW_TYPE(complex64, DT_COMPLEX64)
EVERFLOW_TYPE(int64, DT_INT64)
EVERFLOW_TYPE(bool, DT_BOOL)
EVERFLOW_TYPE(bfloat16, DT_BFLOAT16)
EVERFLOW_TYPE(uint16, DT_UINT16)
EVERFLOW_TYPE(complex128, DT_COMPLEX128)
EVERFLOW_TYPE(ResourceHandle, DT_RESOURCE)
EVERFLOW_TYPE(Variant, DT_VARIANT)
EVERFLOW_TYPE(uint32, DT_UINT32)
EVERFLOW_TYPE(uint64, DT_UINT64)
#undef EVERFLOW_TYPE

class DeviceType {
public:
    DeviceType(const char* type) : type_(type) {}
    explicit DeviceType(const std::string& type) : type_(type) {}
    const char* type() const { return type_.c_str(); }
    const std::string& type_string() const { return type_; }
    bool operator==(const DeviceType& other) const { return type_ == other.type_; }
    bool operator!=(const DeviceType& other) const { return type_ != other.type_; }

private:
    std::string type_;
};

const char* const DEVICE_CPU = "CPU";
const char* const DEVICE_GPU = "GPU";
const char* const DEVICE_SYCL = "SYCL";
const char* const DEVICE_DEFAULT = "DEFAULT";

}  // namespace tensorflow

#endif
