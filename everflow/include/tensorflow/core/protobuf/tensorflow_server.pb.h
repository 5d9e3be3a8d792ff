// The messages of tensorflow/core/protobuf/tensorflow_server.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_TENSORFLOW_SERVER_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_TENSORFLOW_SERVER_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/protobuf/cluster.pb.h"
#include "tensorflow/core/protobuf/config.pb.h"

namespace tensorflow {

class ServerDef;

class ServerDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ServerDef, "tensorflow.ServerDef")
    EVERFLOW_ONE(::tensorflow::ClusterDef, cluster)
    EVERFLOW_TEXT(job_name)
    EVERFLOW_NUMBER(::google::protobuf::int32, task_index)
    EVERFLOW_ONE(::tensorflow::ConfigProto, default_session_config)
    EVERFLOW_TEXT(protocol)
};

}  // namespace tensorflow

#endif
