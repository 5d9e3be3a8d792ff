// Attributes of nodes from what C++ has: SetAttrValue(3, &node.mutable_attr()->at("N")).
#ifndef TENSORFLOW_CORE_FRAMEWORK_ATTR_VALUE_UTIL_H_
#define TENSORFLOW_CORE_FRAMEWORK_ATTR_VALUE_UTIL_H_

#include <string>
#include <vector>

#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace tensorflow {

inline void SetAttrValue(const std::string& value, AttrValue* out) { out->set_s(value); }
inline void SetAttrValue(const char* value, AttrValue* out) { out->set_s(value); }
inline void SetAttrValue(StringPiece value, AttrValue* out) { out->set_s(std::string(value)); }
inline void SetAttrValue(int64 value, AttrValue* out) { out->set_i(value); }
inline void SetAttrValue(int32 value, AttrValue* out) { out->set_i(value); }
inline void SetAttrValue(float value, AttrValue* out) { out->set_f(value); }
inline void SetAttrValue(double value, AttrValue* out) { out->set_f(static_cast<float>(value)); }
inline void SetAttrValue(bool value, AttrValue* out) { out->set_b(value); }
inline void SetAttrValue(DataType value, AttrValue* out) { out->set_type(value); }
inline void SetAttrValue(const AttrValue& value, AttrValue* out) { *out = value; }
void SetAttrValue(const TensorShape& value, AttrValue* out);
void SetAttrValue(const PartialTensorShape& value, AttrValue* out);
void SetAttrValue(const Tensor& value, AttrValue* out);

void SetAttrValue(const std::vector<std::string>& values, AttrValue* out);
void SetAttrValue(const std::vector<int64>& values, AttrValue* out);
void SetAttrValue(const std::vector<int32>& values, AttrValue* out);
void SetAttrValue(const std::vector<float>& values, AttrValue* out);
void SetAttrValue(const std::vector<bool>& values, AttrValue* out);
void SetAttrValue(const std::vector<DataType>& values, AttrValue* out);
void SetAttrValue(const std::vector<TensorShape>& values, AttrValue* out);
void SetAttrValue(const std::vector<PartialTensorShape>& values, AttrValue* out);
void SetAttrValue(const std::vector<Tensor>& values, AttrValue* out);

}  // namespace tensorflow

#endif
