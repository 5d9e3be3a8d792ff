// The messages of tensorflow/core/framework/types.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TYPES_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_TYPES_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {


enum DataType : int {
    DT_INVALID = 0,
    DT_FLOAT = 1,
    DT_DOUBLE = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 5,
    DT_INT8 = 6,
    DT_STRING = 7,
    DT_COMPLEX64 = 8,
    DT_INT64 = 9,
    DT_BOOL = 10,
    DT_QINT8 = 11,
    DT_QUINT8 = 12,
    DT_QINT32 = 13,
    DT_BFLOAT16 = 14,
    DT_QINT16 = 15,
    DT_QUINT16 = 16,
    DT_UINT16 = 17,
    DT_COMPLEX128 = 18,
    DT_HALF = 19,
    DT_RESOURCE = 20,
    DT_VARIANT = 21,
    DT_UINT32 = 22,
    DT_UINT64 = 23,
    DT_FLOAT_REF = 101,
    DT_DOUBLE_REF = 102,
    DT_INT32_REF = 103,
    DT_UINT8_REF = 104,
    DT_INT16_REF = 105,
    DT_INT8_REF = 106,
    DT_STRING_REF = 107,
    DT_COMPLEX64_REF = 108,
    DT_INT64_REF = 109,
    DT_BOOL_REF = 110,
    DT_QINT8_REF = 111,
    DT_QUINT8_REF = 112,
    DT_QINT32_REF = 113,
    DT_BFLOAT16_REF = 114,
    DT_QINT16_REF = 115,
    DT_QUINT16_REF = 116,
    DT_UINT16_REF = 117,
    DT_COMPLEX128_REF = 118,
    DT_HALF_REF = 119,
    DT_RESOURCE_REF = 120,
    DT_VARIANT_REF = 121,
    DT_UINT32_REF = 122,
    DT_UINT64_REF = 123,
};
const DataType DataType_MIN = static_cast<DataType>(0);
const DataType DataType_MAX = static_cast<DataType>(123);
const ::google::protobuf::EnumName* DataType_names();
inline std::string DataType_Name(int value) { return ::google::protobuf::NameOfEnum(DataType_names(), value); }
inline bool DataType_IsValid(int value) { return !DataType_Name(value).empty(); }
inline bool DataType_Parse(const std::string& name, DataType* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(DataType_names(), name, &number);
    if (known) *value = static_cast<DataType>(number);
    return known;
}

}  // namespace tensorflow

#endif
