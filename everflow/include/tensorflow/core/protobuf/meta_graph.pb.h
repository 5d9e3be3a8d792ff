// The messages of tensorflow/core/protobuf/meta_graph.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_META_GRAPH_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_META_GRAPH_PB_H_

#include "google/protobuf/message.h"
#include "google/protobuf/any.pb.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/protobuf/saved_object_graph.pb.h"
#include "tensorflow/core/protobuf/saver.pb.h"
#include "tensorflow/core/protobuf/struct.pb.h"

namespace tensorflow {

class MetaGraphDef_MetaInfoDef;
class MetaGraphDef;
class CollectionDef_NodeList;
class CollectionDef_BytesList;
class CollectionDef_Int64List;
class CollectionDef_FloatList;
class CollectionDef_AnyList;
class CollectionDef;
class TensorInfo_CooSparse;
class TensorInfo_CompositeTensor;
class TensorInfo;
class SignatureDef;
class AssetFileDef;

class MetaGraphDef_MetaInfoDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(MetaGraphDef_MetaInfoDef, "tensorflow.MetaGraphDef.MetaInfoDef")
    EVERFLOW_TEXT(meta_graph_version)
    EVERFLOW_ONE(::tensorflow::OpList, stripped_op_list)
    EVERFLOW_ONE(::google::protobuf::Any, any_info)
    EVERFLOW_TEXTS(tags)
    EVERFLOW_TEXT(tensorflow_version)
    EVERFLOW_TEXT(tensorflow_git_version)
    EVERFLOW_NUMBER(bool, stripped_default_attrs)
};

class MetaGraphDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(MetaGraphDef, "tensorflow.MetaGraphDef")
    typedef MetaGraphDef_MetaInfoDef MetaInfoDef;
    EVERFLOW_ONE(::tensorflow::MetaGraphDef_MetaInfoDef, meta_info_def)
    EVERFLOW_ONE(::tensorflow::GraphDef, graph_def)
    EVERFLOW_ONE(::tensorflow::SaverDef, saver_def)
    EVERFLOW_MAP(collection_def, ::google::protobuf::Map<std::string, ::tensorflow::CollectionDef>)
    EVERFLOW_MAP(signature_def, ::google::protobuf::Map<std::string, ::tensorflow::SignatureDef>)
    EVERFLOW_SEVERAL(::tensorflow::AssetFileDef, asset_file_def)
    EVERFLOW_ONE(::tensorflow::SavedObjectGraph, object_graph_def)
};

class CollectionDef_NodeList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CollectionDef_NodeList, "tensorflow.CollectionDef.NodeList")
    EVERFLOW_TEXTS(value)
};

class CollectionDef_BytesList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CollectionDef_BytesList, "tensorflow.CollectionDef.BytesList")
    EVERFLOW_TEXTS(value)
};

class CollectionDef_Int64List final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CollectionDef_Int64List, "tensorflow.CollectionDef.Int64List")
    EVERFLOW_NUMBERS(::google::protobuf::int64, value)
};

class CollectionDef_FloatList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CollectionDef_FloatList, "tensorflow.CollectionDef.FloatList")
    EVERFLOW_NUMBERS(float, value)
};

class CollectionDef_AnyList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CollectionDef_AnyList, "tensorflow.CollectionDef.AnyList")
    EVERFLOW_SEVERAL(::google::protobuf::Any, value)
};

class CollectionDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CollectionDef, "tensorflow.CollectionDef")
    typedef CollectionDef_NodeList NodeList;
    typedef CollectionDef_BytesList BytesList;
    typedef CollectionDef_Int64List Int64List;
    typedef CollectionDef_FloatList FloatList;
    typedef CollectionDef_AnyList AnyList;
    enum KindCase { kNodeList = 1, kBytesList = 2, kInt64List = 3, kFloatList = 4, kAnyList = 5, KIND_NOT_SET = 0 };
    EVERFLOW_CHOICE(kind, KindCase)
    EVERFLOW_CHOICE_ONE(kind, kNodeList, ::tensorflow::CollectionDef_NodeList, node_list)
    EVERFLOW_CHOICE_ONE(kind, kBytesList, ::tensorflow::CollectionDef_BytesList, bytes_list)
    EVERFLOW_CHOICE_ONE(kind, kInt64List, ::tensorflow::CollectionDef_Int64List, int64_list)
    EVERFLOW_CHOICE_ONE(kind, kFloatList, ::tensorflow::CollectionDef_FloatList, float_list)
    EVERFLOW_CHOICE_ONE(kind, kAnyList, ::tensorflow::CollectionDef_AnyList, any_list)
};

class TensorInfo_CooSparse final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorInfo_CooSparse, "tensorflow.TensorInfo.CooSparse")
    EVERFLOW_TEXT(values_tensor_name)
    EVERFLOW_TEXT(indices_tensor_name)
    EVERFLOW_TEXT(dense_shape_tensor_name)
};

class TensorInfo_CompositeTensor final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorInfo_CompositeTensor, "tensorflow.TensorInfo.CompositeTensor")
    EVERFLOW_ONE(::tensorflow::TypeSpecProto, type_spec)
    EVERFLOW_SEVERAL(::tensorflow::TensorInfo, components)
};

class TensorInfo final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorInfo, "tensorflow.TensorInfo")
    typedef TensorInfo_CooSparse CooSparse;
    typedef TensorInfo_CompositeTensor CompositeTensor;
    enum EncodingCase { kName = 1, kCooSparse = 4, kCompositeTensor = 5, ENCODING_NOT_SET = 0 };
    EVERFLOW_CHOICE(encoding, EncodingCase)
    EVERFLOW_CHOICE_TEXT(encoding, kName, name)
    EVERFLOW_ENUM(::tensorflow::DataType, dtype)
    EVERFLOW_ONE(::tensorflow::TensorShapeProto, tensor_shape)
    EVERFLOW_CHOICE_ONE(encoding, kCooSparse, ::tensorflow::TensorInfo_CooSparse, coo_sparse)
    EVERFLOW_CHOICE_ONE(encoding, kCompositeTensor, ::tensorflow::TensorInfo_CompositeTensor, composite_tensor)
};

class SignatureDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SignatureDef, "tensorflow.SignatureDef")
    EVERFLOW_MAP(inputs, ::google::protobuf::Map<std::string, ::tensorflow::TensorInfo>)
    EVERFLOW_MAP(outputs, ::google::protobuf::Map<std::string, ::tensorflow::TensorInfo>)
    EVERFLOW_TEXT(method_name)
};

class AssetFileDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(AssetFileDef, "tensorflow.AssetFileDef")
    EVERFLOW_ONE(::tensorflow::TensorInfo, tensor_info)
    EVERFLOW_TEXT(filename)
};

}  // namespace tensorflow

#endif
