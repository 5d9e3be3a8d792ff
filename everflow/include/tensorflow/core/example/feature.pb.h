// The messages of tensorflow/core/example/feature.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_EXAMPLE_FEATURE_PB_H_
#define TENSORFLOW_CORE_EXAMPLE_FEATURE_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class BytesList;
class FloatList;
class Int64List;
class Feature;
class Features;
class FeatureList;
class FeatureLists;

class BytesList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(BytesList, "tensorflow.BytesList")
    EVERFLOW_TEXTS(value)
};

class FloatList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(FloatList, "tensorflow.FloatList")
    EVERFLOW_NUMBERS(float, value)
};

class Int64List final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Int64List, "tensorflow.Int64List")
    EVERFLOW_NUMBERS(::google::protobuf::int64, value)
};

class Feature final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Feature, "tensorflow.Feature")
    enum KindCase { kBytesList = 1, kFloatList = 2, kInt64List = 3, KIND_NOT_SET = 0 };
    EVERFLOW_CHOICE(kind, KindCase)
    EVERFLOW_CHOICE_ONE(kind, kBytesList, ::tensorflow::BytesList, bytes_list)
    EVERFLOW_CHOICE_ONE(kind, kFloatList, ::tensorflow::FloatList, float_list)
    EVERFLOW_CHOICE_ONE(kind, kInt64List, ::tensorflow::Int64List, int64_list)
};

class Features final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Features, "tensorflow.Features")
    EVERFLOW_MAP(feature, ::google::protobuf::Map<std::string, ::tensorflow::Feature>)
};

class FeatureList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(FeatureList, "tensorflow.FeatureList")
    EVERFLOW_SEVERAL(::tensorflow::Feature, feature)
};

class FeatureLists final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(FeatureLists, "tensorflow.FeatureLists")
    EVERFLOW_MAP(feature_list, ::google::protobuf::Map<std::string, ::tensorflow::FeatureList>)
};

}  // namespace tensorflow

#endif
