// The messages of tensorflow/core/protobuf/saved_model.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_SAVED_MODEL_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_SAVED_MODEL_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"

namespace tensorflow {

class SavedModel;

class SavedModel final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedModel, "tensorflow.SavedModel")
    EVERFLOW_NUMBER(::google::protobuf::int64, saved_model_schema_version)
    EVERFLOW_SEVERAL(::tensorflow::MetaGraphDef, meta_graphs)
};

}  // namespace tensorflow

#endif
