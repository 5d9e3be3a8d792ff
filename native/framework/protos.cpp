// Shapes, tensors and attributes as messages; messages in files; the words of statuses.
#include <cstring>

#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/platform/env.h"

namespace tensorflow {

std::string error_name(error::Code code) {
    static const char* const NAMES[] = {"OK",          "Cancelled",         "Unknown",          "Invalid argument", "Deadline exceeded", "Not found",
                                        "Already exists", "Permission denied", "Resource exhausted", "Failed precondition", "Aborted",  "Out of range",
                                        "Unimplemented", "Internal",         "Unavailable",      "Data loss",        "Unauthenticated"};
    const size_t number = static_cast<size_t>(code);
    return number < sizeof NAMES / sizeof *NAMES ? NAMES[number] : "Unknown code(" + std::to_string(static_cast<int>(code)) + ")";
}

std::string Status::ToString() const { return ok() ? "OK" : error_name(code()) + ": " + error_message(); }

// -- shapes

namespace {

std::vector<int64> sizes_of(const TensorShapeProto& proto) {
    std::vector<int64> sizes;
    for (const TensorShapeProto::Dim& dim : proto.dim()) sizes.push_back(dim.size());
    return sizes;
}

}  // namespace

TensorShape::TensorShape(const TensorShapeProto& proto) : sizes_(sizes_of(proto)) {}

bool TensorShape::IsValid(const TensorShapeProto& proto) {
    for (const TensorShapeProto::Dim& dim : proto.dim()) {
        if (dim.size() < 0) return false;
    }
    return !proto.unknown_rank();
}

void TensorShape::AsProto(TensorShapeProto* proto) const {
    proto->Clear();
    for (const int64 size : sizes_) proto->add_dim()->set_size(size);
}

PartialTensorShape::PartialTensorShape(const TensorShapeProto& proto) : known_(!proto.unknown_rank()), sizes_(sizes_of(proto)) {}

void PartialTensorShape::AsProto(TensorShapeProto* proto) const {
    proto->Clear();
    proto->set_unknown_rank(!known_);
    for (const int64 size : sizes_) proto->add_dim()->set_size(size);
}

// -- tensors

namespace {

// Does `work` with the field of a TensorProto that holds numbers of a type: work(list, elements), where a complex number is two elements.
template <typename Work>
bool with_field(DataType type, TensorProto* proto, void* data, const Work& work) {
    switch (type) {
        case DT_FLOAT: return work(proto->mutable_float_val(), static_cast<float*>(data), 1);
        case DT_DOUBLE: return work(proto->mutable_double_val(), static_cast<double*>(data), 1);
        case DT_INT32:
        case DT_QINT32: return work(proto->mutable_int_val(), static_cast<int32*>(data), 1);
        case DT_INT16:
        case DT_QINT16: return work(proto->mutable_int_val(), static_cast<int16*>(data), 1);
        case DT_UINT16:
        case DT_QUINT16: return work(proto->mutable_int_val(), static_cast<uint16*>(data), 1);
        case DT_INT8:
        case DT_QINT8: return work(proto->mutable_int_val(), static_cast<int8*>(data), 1);
        case DT_UINT8:
        case DT_QUINT8: return work(proto->mutable_int_val(), static_cast<uint8*>(data), 1);
        case DT_HALF:
        case DT_BFLOAT16: return work(proto->mutable_half_val(), static_cast<uint16*>(data), 1);
        case DT_INT64: return work(proto->mutable_int64_val(), static_cast<int64*>(data), 1);
        case DT_BOOL: return work(proto->mutable_bool_val(), static_cast<bool*>(data), 1);
        case DT_UINT32: return work(proto->mutable_uint32_val(), static_cast<uint32*>(data), 1);
        case DT_UINT64: return work(proto->mutable_uint64_val(), static_cast<uint64*>(data), 1);
        case DT_COMPLEX64: return work(proto->mutable_scomplex_val(), static_cast<float*>(data), 2);
        case DT_COMPLEX128: return work(proto->mutable_dcomplex_val(), static_cast<double*>(data), 2);
        default: return false;
    }
}

struct Reading {
    int64 count;
    template <typename Listed, typename Element>
    bool operator()(protobuf::RepeatedField<Listed>* from, Element* to, int64 parts) const {
        const int64 known = from->size(), all = count * parts;
        if (known > all || known % parts) return false;
        for (int64 i = 0; i < known; ++i) to[i] = static_cast<Element>(from->Get(static_cast<int>(i)));
        // The last one is said once for all that follow.
        for (int64 i = known; i < all && known; ++i) to[i] = to[i - parts];
        return true;
    }
};

struct Writing {
    int64 count;
    template <typename Listed, typename Element>
    bool operator()(protobuf::RepeatedField<Listed>* to, Element* from, int64 parts) const {
        to->Reserve(static_cast<int>(count * parts));
        for (int64 i = 0; i < count * parts; ++i) to->Add(static_cast<Listed>(from[i]));
        return true;
    }
};

}  // namespace

bool Tensor::FromProto(const TensorProto& proto) {
    if (!TensorShape::IsValid(proto.tensor_shape())) return false;
    const TensorShape shape(proto.tensor_shape());
    const DataType type = proto.dtype();
    const int64 count = shape.num_elements();
    if (type == DT_STRING) {
        Tensor made(type, shape);
        std::string* to = static_cast<std::string*>(made.data_);
        const int64 known = proto.string_val_size();
        if (known > count) return false;
        for (int64 i = 0; i < count && known; ++i) to[i] = proto.string_val(static_cast<int>(std::min(i, known - 1)));
        *this = made;
        return true;
    }
    if (!DataTypeSize(type)) return false;
    Tensor made(type, shape);
    if (!proto.tensor_content().empty()) {
        if (proto.tensor_content().size() != made.TotalBytes()) return false;
        std::memcpy(made.data_, proto.tensor_content().data(), made.TotalBytes());
    } else if (!with_field(type, const_cast<TensorProto*>(&proto), made.data_, Reading{count})) {
        return false;
    }
    *this = made;
    return true;
}

void Tensor::AsProtoField(TensorProto* proto) const {
    proto->Clear();
    proto->set_dtype(type_);
    shape_.AsProto(proto->mutable_tensor_shape());
    if (BaseType(type_) == DT_STRING) {
        for (int64 i = 0, n = NumElements(); i < n; ++i) proto->add_string_val(static_cast<const std::string*>(data_)[i]);
    } else {
        with_field(BaseType(type_), proto, data_, Writing{NumElements()});
    }
}

void Tensor::AsProtoTensorContent(TensorProto* proto) const {
    if (!DataTypeSize(type_)) return AsProtoField(proto);
    proto->Clear();
    proto->set_dtype(type_);
    shape_.AsProto(proto->mutable_tensor_shape());
    proto->set_tensor_content(data_, TotalBytes());
}

// -- attributes

void SetAttrValue(const TensorShape& value, AttrValue* out) { value.AsProto(out->mutable_shape()); }
void SetAttrValue(const PartialTensorShape& value, AttrValue* out) { value.AsProto(out->mutable_shape()); }
void SetAttrValue(const Tensor& value, AttrValue* out) { value.AsProtoTensorContent(out->mutable_tensor()); }

#define EACH(values, add)                              \
    AttrValue::ListValue& list = *out->mutable_list(); \
    list.Clear();                                      \
    for (const auto& value : values) add

void SetAttrValue(const std::vector<std::string>& values, AttrValue* out) { EACH(values, list.add_s(value)); }
void SetAttrValue(const std::vector<int64>& values, AttrValue* out) { EACH(values, list.add_i(value)); }
void SetAttrValue(const std::vector<int32>& values, AttrValue* out) { EACH(values, list.add_i(value)); }
void SetAttrValue(const std::vector<float>& values, AttrValue* out) { EACH(values, list.add_f(value)); }
void SetAttrValue(const std::vector<bool>& values, AttrValue* out) { EACH(values, list.add_b(value)); }
void SetAttrValue(const std::vector<DataType>& values, AttrValue* out) { EACH(values, list.add_type(value)); }
void SetAttrValue(const std::vector<TensorShape>& values, AttrValue* out) { EACH(values, value.AsProto(list.add_shape())); }
void SetAttrValue(const std::vector<PartialTensorShape>& values, AttrValue* out) { EACH(values, value.AsProto(list.add_shape())); }
void SetAttrValue(const std::vector<Tensor>& values, AttrValue* out) { EACH(values, value.AsProtoTensorContent(list.add_tensor())); }

// -- files

Status ReadBinaryProto(Env* env, const std::string& name, protobuf::MessageLite* proto) {
    std::string content;
    TF_RETURN_IF_ERROR(ReadFileToString(env, name, &content));
    return proto->ParseFromString(content) ? Status::OK() : errors::DataLoss("Can't parse ", name, " as binary proto");
}

Status WriteBinaryProto(Env* env, const std::string& name, const protobuf::MessageLite& proto) {
    return WriteStringToFile(env, name, proto.SerializeAsString());
}

Status ReadTextProto(Env* env, const std::string& name, protobuf::Message* proto) {
    std::string content;
    TF_RETURN_IF_ERROR(ReadFileToString(env, name, &content));
    return protobuf::TextFormat::ParseFromString(content, proto) ? Status::OK() : errors::DataLoss("Can't parse ", name, " as text proto");
}

Status WriteTextProto(Env* env, const std::string& name, const protobuf::Message& proto) { return WriteStringToFile(env, name, proto.DebugString()); }

Status ReadTextOrBinaryProto(Env* env, const std::string& name, protobuf::Message* proto) {
    static const std::string TEXT = ".pbtxt";
    const bool is_text = name.size() >= TEXT.size() && name.compare(name.size() - TEXT.size(), TEXT.size(), TEXT) == 0;
    return is_text ? ReadTextProto(env, name, proto) : ReadBinaryProto(env, name, proto);
}

}  // namespace tensorflow
