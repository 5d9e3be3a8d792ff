// The messages of tensorflow/core/protobuf/cluster.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_CLUSTER_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_CLUSTER_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class JobDef;
class ClusterDef;

class JobDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(JobDef, "tensorflow.JobDef")
    EVERFLOW_TEXT(name)
    EVERFLOW_MAP(tasks, ::google::protobuf::Map<::google::protobuf::int32, std::string>)
};

class ClusterDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ClusterDef, "tensorflow.ClusterDef")
    EVERFLOW_SEVERAL(::tensorflow::JobDef, job)
};

}  // namespace tensorflow

#endif
