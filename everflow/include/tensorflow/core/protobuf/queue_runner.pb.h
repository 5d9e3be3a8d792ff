// The messages of tensorflow/core/protobuf/queue_runner.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_QUEUE_RUNNER_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_QUEUE_RUNNER_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/lib/core/error_codes.pb.h"

namespace tensorflow {

class QueueRunnerDef;

class QueueRunnerDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(QueueRunnerDef, "tensorflow.QueueRunnerDef")
    EVERFLOW_TEXT(queue_name)
    EVERFLOW_TEXTS(enqueue_op_name)
    EVERFLOW_TEXT(close_op_name)
    EVERFLOW_TEXT(cancel_op_name)
    EVERFLOW_ENUMS(::tensorflow::error::Code, queue_closed_exception_types)
};

}  // namespace tensorflow

#endif
